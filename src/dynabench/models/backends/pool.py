"""The encoder that all adapters share: per model a LoRA adapter and a head, mixed freely within a batch."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dynabench.errors import Invalid
from dynabench.models import encoder, runtime
from dynabench.models.backends.network import pad
from dynabench.models.backends.pieces import Pieces
from dynabench.models.turns import Turns

Shape = Callable[[int], nn.Module]
"""Makes an untrained head for hidden states of a width; it maps states (B, T, width) and a mask (B, T) to (B, ...)."""

BATCH = 32
"""Inputs of one forward pass at most."""
APART = 12
"""Inputs of one adapter from which a pass of their own is faster than a pass mixed with other adapters' inputs."""


class Pool:
    """The encoder of this process with every adapter loaded so far.

    peft switches adapters by hooks on the shared layers, so one forward pass runs at a time: predictions take their
    turn before explanations, and an explanation gives way after each of its passes.
    """

    def __init__(self, precision: str = "fp32") -> None:
        self.precision = precision
        self._body: Any = None
        self._heads: dict[str, nn.Module] = {}
        self._users: Counter[str] = Counter()
        self._turns = Turns()

    def add(self, key: str, folder: Path, head: Shape) -> None:
        """Load an adapter and its head; raises `Invalid` when the files do not fit the encoder."""
        with self._turns.hurried():
            if self._users[key]:
                self._users[key] += 1
                return
            try:
                self._load_adapter(key, folder / "adapter")
                self._heads[key] = _load_head(folder / "head.safetensors", head(self._body.config.hidden_size))
                self._users[key] = 1
            except Exception as error:
                self._forget(key)
                raise Invalid({"adapter": f"The weights cannot be loaded: {error}"}) from error

    def remove(self, key: str) -> None:
        """Forget an adapter when the last of its users says so; their calls must have ended."""
        with self._turns.hurried():
            self._users[key] -= 1
            if self._users[key] > 0:
                return
            self._heads.pop(key, None)
            self._forget(key)

    def logits(self, keys: Sequence[str], batch: Sequence[Pieces]) -> list[Tensor]:
        """What each input's head says, computed in batches of like length; parts by piece include the padding."""
        found: dict[int, Tensor] = {}
        order = sorted(range(len(batch)), key=lambda index: len(batch[index]))
        for start in range(0, len(order), BATCH):
            for part in _parts(order[start : start + BATCH], keys):
                rows = self._forward([keys[i] for i in part], [batch[i] for i in part])
                found.update(zip(part, rows, strict=True))
        return [found[index] for index in range(len(batch))]

    @torch.inference_mode()
    def _forward(self, keys: list[str], batch: list[Pieces]) -> list[Tensor]:
        ids, types, mask = pad(batch)
        with self._turns.hurried(), self._cast():
            states = self.states(keys, types, mask, ids=ids)
        rows: dict[int, Tensor] = {}
        for key in dict.fromkeys(keys):
            mine = [index for index, other in enumerate(keys) if other == key]
            logits = self._heads[key](states[mine].float(), mask[mine])
            rows.update(zip(mine, logits, strict=True))
        return [rows[index] for index in range(len(keys))]

    def states(self, keys: Sequence[str], types: Tensor, mask: Tensor, **given: Tensor | None) -> Tensor:
        """Hidden states (B, T, width); give `ids` (B, T) or `embeddings` (B, T, width)."""
        runtime.use_threads(types.numel())
        states: Tensor = self._body(
            input_ids=given.get("ids"),
            inputs_embeds=given.get("embeddings"),
            token_type_ids=types,
            attention_mask=mask,
            adapter_names=list(keys),
        ).last_hidden_state
        return states

    def explainable(self, key: str) -> "Explainable":
        """What attribution methods need of one adapter."""
        return Explainable(self, key)

    @property
    def turns(self) -> Turns:
        """Held while the encoder computes."""
        return self._turns

    @property
    def embeddings(self) -> torch.nn.Embedding:
        """The word embeddings."""
        layer: torch.nn.Embedding = self._body.get_base_model().embeddings.word_embeddings
        return layer

    def head(self, key: str) -> nn.Module:
        """The head of an adapter."""
        return self._heads[key]

    def _cast(self) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", torch.bfloat16) if self.precision == "bf16" else nullcontext()

    def _load_adapter(self, key: str, folder: Path) -> None:
        from peft import PeftModel

        if self._body is None:
            body = PeftModel.from_pretrained(encoder.load(), str(folder), adapter_name=key)
        else:
            body = self._body
            body.load_adapter(str(folder), adapter_name=key)
        _check_complete(body, key, folder)
        self._body = body.eval().requires_grad_(False)

    def _forget(self, key: str) -> None:
        if self._body is None or key not in self._body.peft_config:
            return
        others = [name for name in self._body.peft_config if name != key]
        if others:
            self._body.set_adapter(others[0], inference_mode=True)  # deleting the active one would warn
            self._body.delete_adapter(key)
        else:
            self._body = None


class Explainable:
    """One adapter's logits as a function of embeddings.

    `layer` looks up word embeddings; it is this object's own, so that hooks on it touch no prediction.
    """

    def __init__(self, pool: Pool, key: str) -> None:
        self.pool = pool
        self.key = key
        weight = pool.embeddings.weight
        self.layer = torch.nn.Embedding(weight.shape[0], weight.shape[1], _weight=weight, _freeze=True)

    def logits(self, embeddings: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, labels) of word embeddings (B, T, width); gradients flow, always in fp32."""
        with self.pool.turns.patient():
            states = self.pool.states([self.key] * len(types), types, mask, embeddings=embeddings)
        logits: Tensor = self.pool.head(self.key)(states, mask)
        return logits

    def gated(self, ids: Tensor, types: Tensor, gates: Tensor) -> Tensor:
        """Logits (B, labels) of pieces `ids` (B, T) that are present as far as `gates` (B, T), from 0 to 1, say."""
        length = ids.shape[1]
        mask = gates.log()[:, None, None, :].expand(-1, 1, length, length)
        with self.pool.turns.patient():
            states = self.pool.states([self.key] * len(types), types, mask, ids=ids)
        logits: Tensor = self.pool.head(self.key)(states, gates)
        return logits


@lru_cache(maxsize=1)
def shared_pool() -> Pool:
    """The pool of this process."""
    runtime.quiet()
    return Pool()


def _parts(order: Sequence[int], keys: Sequence[str]) -> list[list[int]]:
    """Rows that are computed together: adapters with many rows alone, the others mixed; measured, see `APART`."""
    rows_of: dict[str, list[int]] = {}
    for index in order:
        rows_of.setdefault(keys[index], []).append(index)
    alone = [rows for rows in rows_of.values() if len(rows) >= APART]
    mixed = [index for index in order if len(rows_of[keys[index]]) < APART]
    return [*alone, mixed] if mixed else alone


def _load_head(path: Path, head: nn.Module) -> nn.Module:
    from safetensors.torch import load_file

    head.load_state_dict({name: value.float() for name, value in load_file(path).items()})
    return head.eval().requires_grad_(False)


def _check_complete(body: Any, key: str, folder: Path) -> None:
    """peft leaves what a file lacks at its random start without a word; a model must not answer from that."""
    from safetensors import safe_open

    with safe_open(folder / "adapter_model.safetensors", "pt") as file:
        stored = set(file.keys())
    wanted = {name.replace(f".{key}.", ".") for name, _ in body.named_parameters() if f".{key}." in name}
    if stored != wanted:
        raise ValueError(f"{len(wanted - stored)} weights are missing, {len(stored - wanted)} are unknown")
