"""The encoder that all models over it share: per model an adapter and a head, no copy of the encoder.

Answers are those of fp32. Where the processor is fast at bfloat16 they are computed in that first, and whoever finds an
answer too near to another asks again, exactly (`docs/decisions/serving-precision.md`).
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import torch
from torch import Tensor, nn

from dynabench.kit import malloc
from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.backends import lora, passes, weights
from dynabench.models.backends.body import Body, Places, deltas
from dynabench.models.backends.lora import Deltas
from dynabench.models.backends.pieces import Pieces
from dynabench.models.turns import Turns

Shape = Callable[[int], nn.Module]
"""Makes an untrained head for hidden states of a width; it maps states (B, T, width) and a mask (B, T) to (B, ...)."""

EXACT, AGAIN = "exact", "fp32"
"""What gradients pass through, and what near ties are asked again in."""


@dataclass
class Member:
    """One model: its head, and its adapter in each precision that was needed so far."""

    head: nn.Module
    deltas: dict[str, list[Deltas]]


class Pool:
    """The encoder of this process with every adapter loaded so far.

    One batch is computed at a time: predictions take their turn before explanations, and an explanation gives way
    after each of its passes.
    """

    def __init__(self, precision: str = "") -> None:
        """`precision` is one of `layers.PRECISIONS`, by default what this processor is fastest at."""
        malloc.keep_freed()
        self.precision = precision or runtime.precision()
        self._bodies: dict[str, Body] = {}
        self._members: dict[str, Member] = {}
        self._turns = Turns()
        self._threads = ThreadPoolExecutor(runtime.cores(), thread_name_prefix="encoder")

    @property
    def exact(self) -> bool:
        """Return whether all answers are computed in fp32, so that none has to be computed again."""
        return self.precision in (EXACT, "fp32")

    def add(self, key: str, folder: Path, head: Shape, adapted: bool = True) -> None:
        """Load an adapter and its head, or a head over the encoder as it is; raises `Invalid` when the files do not fit
        the encoder.
        """
        shared = weights.shared()
        with self._turns.hurried():
            if key in self._members:
                return
            try:
                matrices = lora.read(folder / "adapter", shared) if adapted else lora.Lora({}, shared.linear())
                adapter = deltas(matrices, shared.layers)
                loaded = _load_head(folder / "head.safetensors", head(shared.width))
            except Exception as error:
                raise Invalid({"adapter": f"The weights cannot be loaded: {error}"}) from error
            self._members[key] = Member(loaded, {EXACT: adapter})
            self._with(key, self.precision)

    def remove(self, key: str) -> None:
        """Forget an adapter; its calls must have ended."""
        with self._turns.hurried():
            self._members.pop(key, None)

    def logits(self, keys: Sequence[str], batch: Sequence[Pieces], exact: bool = False) -> list[Tensor]:
        """Return the head's logits for each input; `exact` computes them in fp32.

        Logits by piece include the padding. Inputs of one adapter are computed together, by length; several
        passes run side by side, one on each core.
        """
        precision = AGAIN if exact and not self.exact else self.precision
        by_key: dict[str, list[int]] = {}
        for row, key in enumerate(keys):
            by_key.setdefault(key, []).append(row)
        with self._turns.hurried():
            ready = {key: self._with(key, precision) for key in by_key}
            parts = [(key, part) for key, rows in by_key.items() for part in self._parts(rows, batch)]

            def said(key: str, part: list[int]) -> Tensor:
                return _pass(*ready[key], self._members[key].head, [batch[row] for row in part])

            found = list((map if len(parts) == 1 else self._threads.map)(said, *zip(*parts, strict=True)))
        rows = (row for _, part in parts for row in part)
        by_row = dict(zip(rows, (one for logits in found for one in logits), strict=True))
        return [by_row[row] for row in range(len(batch))]

    def prepare(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Compute a pass of each size, so that all code and buffers are made now and the process grows no more.

        The largest come first, on every core, since smaller ones fit into what they leave. Gives way to calls after
        each pass, and ends when it is no longer `wanted`.
        """
        precisions = (self.precision,) if self.exact else (self.precision, AGAIN)
        for key, precision, size in product(self._unlike(), precisions, passes.SIZES):
            with self._turns.patient():
                if not wanted() or key not in self._members:
                    return
                work = (*self._with(key, precision), self._members[key].head, passes.blank(size))
                times = runtime.cores() if size == passes.SIZES[0] else 1
                list(self._threads.map(lambda work: _pass(*work), [work] * times))

    def _unlike(self) -> list[str]:
        """One adapter of each shape: what was made for one serves all others of its shape."""
        shapes = {
            tuple(
                delta and (delta.down.shape, delta.up.shape) for layer in member.deltas[EXACT] for delta in layer
            ): key
            for key, member in list(self._members.items())
        }
        return list(shapes.values())

    def _parts(self, rows: list[int], batch: Sequence[Pieces]) -> Iterator[list[int]]:
        return passes.together(sorted(rows, key=lambda row: len(batch[row])), batch, runtime.cores())

    def states(self, key: str, words: Tensor, types: Tensor, mask: Tensor | None) -> Tensor:
        """Hidden states (B, T, width) in fp32, through which gradients pass.

        `words` are word ids (B, T) or embeddings (B, T, width), `mask` what is added to attention's logits.
        """
        rows, longest = types.shape
        runtime.use_threads(types.numel())
        body, adapter = self._with(key, EXACT)
        first = body.embed(words.flatten(0, 1), torch.arange(longest).repeat(rows), types.flatten())
        return body(first, Places(rows, longest, mask), adapter).view(rows, longest, -1)

    def explainable(self, key: str) -> "Explainable":
        """Return the view of one adapter that attribution methods need."""
        return Explainable(self, key)

    @property
    def turns(self) -> Turns:
        """Held while the encoder computes."""
        return self._turns

    def head(self, key: str) -> nn.Module:
        """The head of an adapter."""
        return self._members[key].head

    def _with(self, key: str, precision: str) -> tuple[Body, list[Deltas]]:
        """The encoder in a precision and an adapter as it fits that; both are made when they are first needed."""
        with torch.inference_mode(False):  # gradients may pass through what a prediction was the first to need
            if precision not in self._bodies:
                self._bodies[precision] = Body(weights.shared(), precision)
            body, member = self._bodies[precision], self._members[key]
            if precision not in member.deltas:
                member.deltas[precision] = body.fit(member.deltas[EXACT])
        return body, member.deltas[precision]


class Explainable:
    """One adapter's logits as a function of embeddings.

    `layer` looks up word embeddings; it is this object's own, so that hooks on it touch no prediction.
    """

    def __init__(self, pool: Pool, key: str) -> None:
        self.pool = pool
        self.key = key
        table = weights.shared()["embeddings.word_embeddings.weight"]
        self.layer = nn.Embedding(table.shape[0], table.shape[1], _weight=table, _freeze=True)

    def logits(self, embeddings: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, labels) of word embeddings (B, T, width); gradients flow, always in fp32."""
        added = torch.where(mask.bool(), 0.0, passes.APART)[:, None, None, :]
        return self._said(embeddings, types, added, mask)

    def gated(self, ids: Tensor, types: Tensor, gates: Tensor) -> Tensor:
        """Logits (B, labels) of pieces `ids` (B, T) that are present as far as `gates` (B, T), from 0 to 1, say."""
        return self._said(ids, types, gates.log()[:, None, None, :], gates)

    def _said(self, words: Tensor, types: Tensor, added: Tensor, mask: Tensor) -> Tensor:
        with self.pool.turns.patient():
            states = self.pool.states(self.key, words, types, added)
        logits: Tensor = self.pool.head(self.key)(states, mask)
        return logits


@torch.inference_mode()
def _pass(body: Body, adapter: list[Deltas], head: nn.Module, batch: Sequence[Pieces]) -> Tensor:
    """Return the head's logits of inputs that are computed together, one row for each."""
    given = passes.of(batch)
    runtime.use_threads(len(given.ids))
    states = body(body.embed(given.ids, given.positions, given.types), given.places, adapter)
    logits: Tensor = head(given.places.grid(states).float(), given.mask)
    return logits


@lru_cache(maxsize=1)
def shared_pool() -> Pool:
    """The pool of this process."""
    return Pool()


def _load_head(path: Path, head: nn.Module) -> nn.Module:
    from safetensors.torch import load

    stored = {name: value.float() for name, value in load(path.read_bytes()).items()}
    if not all(value.isfinite().all() for value in stored.values()):
        raise ValueError("the head has weights that are no finite numbers; the training diverged")
    head.load_state_dict(stored)
    return head.eval().requires_grad_(False)
