"""The encoder that all models over it share: forward passes in turns."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from pathlib import Path

import torch
from torch import Tensor, nn

from dynabench.kit import process_memory
from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.backends import lora
from dynabench.models.backends.body import Body, PiecePlaces, deltas
from dynabench.models.backends.lora import Deltas
from dynabench.models.backends.pieces import CLS, PAD, Pieces


class PoolTurns:
    """One holder at a time; a patient one waits while anybody in a hurry does. Not reentrant."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held = False
        self._hurried = 0

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Hold the lock as soon as its holder leaves."""
        with self._changed:
            self._hurried += 1
            self._changed.wait_for(lambda: not self._held)
            self._hurried -= 1
            self._held = True
        yield from self._hold()

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Hold the lock once it is free and nobody in a hurry wants it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._held and not self._hurried)
            self._held = True
        yield from self._hold()

    def _hold(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._held = False
                self._changed.notify_all()


MOST = 256
"""Pieces of a pass, unless one input alone has more; larger passes are no faster for each piece."""
LEAST = 48
"""Pieces below which a pass is not worth a thread of its own: reading the weights costs as much."""
ROW = 64
"""Pieces of an input that is only there to fill a pass."""
WIDEST = 320
"""Pieces up to which every size of a pass is prepared: only an input that has more by itself goes beyond."""
APART = -1e9
"""Added to attention's logits of what is not there."""


@dataclass(frozen=True)
class Pass:
    """Inputs computed together: word ids, positions and segments of all their pieces (N,), and where these stand.

    `mask` (rows, longest) is 1 on pieces and 0 on padding.
    """

    ids: Tensor
    positions: Tensor
    types: Tensor
    places: PiecePlaces
    mask: Tensor


def padded_size(pieces: int) -> int:
    """The size of a pass for so many pieces: at most a quarter more from 32 on."""
    step = 8 if pieces <= 64 else 16 if pieces <= 256 else 64
    return -(-pieces // step) * step


SIZES = tuple(sorted({padded_size(pieces) for pieces in range(1, WIDEST + 1)}, reverse=True))
"""The sizes that are prepared, largest first."""


def group_passes(order: Sequence[int], batch: Sequence[Pieces], threads: int = 1) -> Iterator[list[int]]:
    """Inputs of a batch in passes of about equal size, as many for each thread; `order` has them by length."""
    total = sum(len(batch[index]) for index in order)
    fair = total / count(total, threads)
    part: list[int] = []
    pieces = 0
    for index in order:
        if part and (pieces + len(batch[index]) > MOST or pieces >= fair):
            yield part
            part, pieces = [], 0
        part.append(index)
        pieces += len(batch[index])
    if part:
        yield part


def count(pieces: int, threads: int) -> int:
    """Into how many passes so many pieces go: no pass too large, every thread with as many, none too small to pay."""
    needed = max(1, -(-pieces // MOST))
    even = -(-needed // threads) * threads
    return max(needed, min(even, pieces // LEAST))


def merge_pieces(batch: Sequence[Pieces]) -> Pass:
    """The pass that computes these inputs."""
    lengths = [len(pieces) for pieces in batch]
    total = padded_size(sum(lengths))
    ids, types, positions = (
        torch.tensor([*chain.from_iterable(parts), *[PAD] * (total - sum(lengths))])
        for parts in (
            (pieces.ids for pieces in batch),
            (pieces.types for pieces in batch),
            (range(length) for length in lengths),
        )
    )
    longest = total if len(batch) == 1 else max(lengths)
    occupied = torch.arange(longest) < torch.tensor(lengths).unsqueeze(1)
    return Pass(ids, positions, types, _places(occupied, total), occupied.long())


def blank(pieces: int) -> list[Pieces]:
    """Inputs of so many pieces together that say nothing."""
    lengths = [min(ROW, pieces - start) for start in range(0, pieces, ROW)]
    return [Pieces((CLS,) * length, (0,) * length, (), ()) for length in lengths]


def _places(occupied: Tensor, total: int) -> PiecePlaces:
    """Return the places of pieces, given the places (rows, longest) that hold a piece."""
    rows, longest = occupied.shape
    full = bool(occupied.all())
    mask = None if full else torch.where(occupied, 0.0, APART)[:, None, None, :]
    if rows == 1 or (full and total == rows * longest):
        return PiecePlaces(rows, longest, mask)
    held = occupied.flatten().nonzero().squeeze(1)
    spread = torch.zeros(rows * longest, dtype=torch.long)
    spread[held] = torch.arange(len(held))
    gather = torch.cat([held, held.new_zeros(total - len(held))])
    return PiecePlaces(rows, longest, mask, spread, gather)


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
        process_memory.keep_freed_memory()
        self.precision = precision or runtime.precision()
        self._bodies: dict[str, Body] = {}
        self._members: dict[str, Member] = {}
        self._turns = PoolTurns()
        self._threads = ThreadPoolExecutor(runtime.cores(), thread_name_prefix="encoder")

    @property
    def exact(self) -> bool:
        """Return whether all answers are computed in fp32, so that none has to be computed again."""
        return self.precision in (EXACT, "fp32")

    def add(self, key: str, folder: Path, head: Shape, adapted: bool = True) -> None:
        """Load an adapter and its head, or a head over the encoder as it is; raises `Invalid` when the files do not fit
        the encoder.
        """
        shared = lora.shared_weights()
        with self._turns.hurried():
            if key in self._members:
                return
            try:
                matrices = lora.read_lora(folder / "adapter", shared) if adapted else lora.Lora({}, shared.linear())
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
            parts = [
                (key, part)
                for key, rows in by_key.items()
                for part in group_passes(sorted(rows, key=lambda row: len(batch[row])), batch, runtime.cores())
            ]

            def compute_part(key: str, part: list[int]) -> Tensor:
                return _pass(*ready[key], self._members[key].head, [batch[row] for row in part])

            part_logits = list((map if len(parts) == 1 else self._threads.map)(compute_part, *zip(*parts, strict=True)))
        rows = (row for _, part in parts for row in part)
        by_row = dict(zip(rows, (row_logits for logits in part_logits for row_logits in logits), strict=True))
        return [by_row[row] for row in range(len(batch))]

    def prepare(self, is_needed: Callable[[], bool] = lambda: True) -> None:
        """Compute a pass of each size, so that all code and buffers are made now and the process grows no more.

        The largest come first, on every core, since smaller ones fit into what they leave. Gives way to calls after
        each pass, and ends when it is no longer needed.
        """
        precisions = (self.precision,) if self.exact else (self.precision, AGAIN)
        for key, precision, size in product(self._unlike(), precisions, SIZES):
            with self._turns.patient():
                if not is_needed() or key not in self._members:
                    return
                work = (*self._with(key, precision), self._members[key].head, blank(size))
                times = runtime.cores() if size == SIZES[0] else 1
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

    def states(self, key: str, words: Tensor, types: Tensor, mask: Tensor | None) -> Tensor:
        """Hidden states (B, T, width) in fp32, through which gradients pass.

        `words` are word ids (B, T) or embeddings (B, T, width), `mask` what is added to attention's logits.
        """
        rows, longest = types.shape
        runtime.use_threads(types.numel())
        body, adapter = self._with(key, EXACT)
        first = body.embed(words.flatten(0, 1), torch.arange(longest).repeat(rows), types.flatten())
        return body(first, PiecePlaces(rows, longest, mask), adapter).view(rows, longest, -1)

    def explainable(self, key: str) -> "Explainable":
        """Return the view of one adapter that attribution methods need."""
        return Explainable(self, key)

    @property
    def turns(self) -> PoolTurns:
        """Held while the encoder computes."""
        return self._turns

    def head(self, key: str) -> nn.Module:
        """The head of an adapter."""
        return self._members[key].head

    def _with(self, key: str, precision: str) -> tuple[Body, list[Deltas]]:
        """The encoder in a precision and an adapter as it fits that; both are made when they are first needed."""
        with torch.inference_mode(False):  # gradients may pass through what a prediction was the first to need
            if precision not in self._bodies:
                self._bodies[precision] = Body(lora.shared_weights(), precision)
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
        table = lora.shared_weights()["embeddings.word_embeddings.weight"]
        self.layer = nn.Embedding(table.shape[0], table.shape[1], _weight=table, _freeze=True)

    def logits(self, embeddings: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, labels) of word embeddings (B, T, width); gradients flow, always in fp32."""
        added = torch.where(mask.bool(), 0.0, APART)[:, None, None, :]
        return self._compute_logits(embeddings, types, added, mask)

    def gated(self, ids: Tensor, types: Tensor, gates: Tensor) -> Tensor:
        """Logits (B, labels) of pieces `ids` (B, T) that are present as far as `gates` (B, T), from 0 to 1, say."""
        return self._compute_logits(ids, types, gates.log()[:, None, None, :], gates)

    def _compute_logits(self, words: Tensor, types: Tensor, added: Tensor, mask: Tensor) -> Tensor:
        with self.pool.turns.patient():
            states = self.pool.states(self.key, words, types, added)
        logits: Tensor = self.pool.head(self.key)(states, mask)
        return logits


@torch.inference_mode()
def _pass(body: Body, adapter: list[Deltas], head: nn.Module, batch: Sequence[Pieces]) -> Tensor:
    """Return the head's logits of inputs that are computed together, one row for each."""
    merged = merge_pieces(batch)
    runtime.use_threads(len(merged.ids))
    states = body(body.embed(merged.ids, merged.positions, merged.types), merged.places, adapter)
    logits: Tensor = head(merged.places.grid(states).float(), merged.mask)
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
