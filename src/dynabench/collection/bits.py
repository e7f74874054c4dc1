"""Sets of numbers below 2**16, packed: a sorted array while they are few, else one bit for each (as Roaring does).

Source: Chambi, Lemire, Kaser and Godin, Better bitmap performance with Roaring bitmaps, Software: Practice and
Experience 46 (2016) 709-719.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

SIZE = 2**16
BYTES = SIZE // 8  # of a set that is packed as bits; an array is always shorter

Mask = NDArray[np.bool_]


def mask(packed: bytes) -> Mask:
    """The set as a truth value for each number; shape (2**16,)."""
    if len(packed) == BYTES:
        return np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little").view(np.bool_)
    result = np.zeros(SIZE, np.bool_)
    result[np.frombuffer(packed, "<u2")] = True
    return result


def packed(members: Mask) -> bytes:
    """The set of the numbers whose truth value is set; `members` has shape (2**16,)."""
    numbers = np.flatnonzero(members)
    if 2 * numbers.size < BYTES:
        return numbers.astype("<u2").tobytes()
    return np.packbits(members, bitorder="little").tobytes()


def changed(before: bytes, added: Iterable[int], removed: Iterable[int]) -> bytes:
    """The set with some numbers more and some fewer; no number may be in both."""
    if len(before) == BYTES:
        members = mask(before)
        members[list(removed)] = False
        members[list(added)] = True
        return packed(members)
    numbers = sorted((set(np.frombuffer(before, "<u2").tolist()) - set(removed)) | set(added))
    if 2 * len(numbers) < BYTES:
        return np.array(numbers, "<u2").tobytes()
    members = np.zeros(SIZE, np.bool_)
    members[numbers] = True
    return packed(members)
