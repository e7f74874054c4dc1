"""From inputs to forward passes: which inputs are computed together, and where their pieces stand.

oneDNN compiles each linear layer anew for each number of pieces, which takes a millisecond and up to 4 MB that it
keeps. So a pass has one of a few sizes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from dynabench.models.backends.body import Places
from dynabench.models.backends.pieces import CLS, PAD, Pieces

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
    places: Places
    mask: Tensor


def size(pieces: int) -> int:
    """The size of a pass for so many pieces: at most a quarter more from 32 on."""
    step = 8 if pieces <= 64 else 16 if pieces <= 256 else 64
    return -(-pieces // step) * step


SIZES = tuple(sorted({size(pieces) for pieces in range(1, WIDEST + 1)}, reverse=True))
"""The sizes that are prepared, largest first."""


def together(order: Sequence[int], batch: Sequence[Pieces], threads: int = 1) -> Iterator[list[int]]:
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


def of(batch: Sequence[Pieces]) -> Pass:
    """The pass that computes these inputs."""
    lengths = [len(pieces) for pieces in batch]
    total = size(sum(lengths))
    ids, types, positions = (
        torch.tensor([*chain.from_iterable(parts), *[PAD] * (total - sum(lengths))])
        for parts in (
            (pieces.ids for pieces in batch),
            (pieces.types for pieces in batch),
            (range(length) for length in lengths),
        )
    )
    longest = total if len(batch) == 1 else max(lengths)
    there = torch.arange(longest) < torch.tensor(lengths).unsqueeze(1)
    return Pass(ids, positions, types, _places(there, total), there.long())


def blank(pieces: int) -> list[Pieces]:
    """Inputs of so many pieces together that say nothing."""
    lengths = [min(ROW, pieces - start) for start in range(0, pieces, ROW)]
    return [Pieces((CLS,) * length, (0,) * length, (), ()) for length in lengths]


def _places(there: Tensor, total: int) -> Places:
    """Return the places of pieces, given the places (rows, longest) that hold a piece."""
    rows, longest = there.shape
    full = bool(there.all())
    mask = None if full else torch.where(there, 0.0, APART)[:, None, None, :]
    if rows == 1 or (full and total == rows * longest):
        return Places(rows, longest, mask)
    held = there.flatten().nonzero().squeeze(1)
    spread = torch.zeros(rows * longest, dtype=torch.long)
    spread[held] = torch.arange(len(held))
    gather = torch.cat([held, held.new_zeros(total - len(held))])
    return Places(rows, longest, mask, spread, gather)
