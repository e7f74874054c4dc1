"""Adapters merged into encoders of their own: for evaluating many inputs, where serving shares one encoder.

Classifiers answer in bfloat16 where the processor computes in it, three to five times as fast; whatever is nearly tied
there is asked again in fp32. So answers are those of fp32; probabilities differ by up to 0.02.
"""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from dynabench.models import runtime
from dynabench.models.backends.network import Head, pad
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.pool import Pool, Shape

if TYPE_CHECKING:
    from dynabench.models.backends.encoded import Encoded

BATCH = 32
TIED = 0.3
"""Log-odds between the two likeliest labels below which bf16 might swap them."""


class Merged(Pool):
    """A pool for evaluation: each model has an encoder of its own, with its adapter merged into the weights."""

    def __init__(self, quick: bool | None = None) -> None:
        """`quick` computes classifiers in bfloat16; by default where this processor is fast at it."""
        super().__init__()
        self._quick = runtime.fast_bf16() if quick is None else quick
        self._whole: dict[str, tuple[Any, nn.Module]] = {}
        self._short: dict[str, Any] = {}

    def add(self, key: str, folder: Path, head: Shape) -> None:
        """Load an adapter and merge it; raises `Invalid` when the files do not fit the encoder."""
        try:
            super().add(key, folder, head)
            body = self._body.merge_and_unload().eval().requires_grad_(False)
            self._whole[key] = body, self._heads[key]
            if self._quick and isinstance(self._heads[key], Head):
                self._short[key] = copy.deepcopy(body).to(torch.bfloat16)
        finally:
            self._body = None

    def whole(self, model: "Encoded") -> tuple[Any, nn.Module]:
        """The encoder with the adapter of one of this pool's models merged into it, and the model's head."""
        return self._whole[model.key]

    def remove(self, key: str) -> None:
        """Forget a model."""
        for kept in (self._heads, self._whole, self._short):
            kept.pop(key, None)

    def logits(self, keys: Sequence[str], batch: Sequence[Pieces]) -> list[Tensor]:
        """What each input's head says, computed in batches of like length."""
        found: dict[int, Tensor] = {}
        for key in dict.fromkeys(keys):
            rows = [row for row, other in enumerate(keys) if other == key]
            said = self._run(self._short.get(key) or self._whole[key][0], key, rows, batch)
            if key in self._short:
                again = [row for row in rows if _tied(said[row])]
                said |= self._run(self._whole[key][0], key, again, batch)
            found |= said
        return [found[row] for row in range(len(batch))]

    @torch.inference_mode()
    def _run(self, body: Any, key: str, rows: Sequence[int], batch: Sequence[Pieces]) -> dict[int, Tensor]:
        found: dict[int, Tensor] = {}
        order = sorted(rows, key=lambda row: len(batch[row]))
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            ids, types, mask = pad([batch[row] for row in part])
            runtime.use_threads(ids.numel())
            states = body(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
            found.update(zip(part, self._whole[key][1](states.float(), mask), strict=True))
        return found


def _tied(logits: Tensor) -> bool:
    """Whether the two likeliest labels are too near for bf16."""
    if len(logits) < 2:
        return False
    first, second = logits.topk(2).values
    return bool(first - second < TIED)
