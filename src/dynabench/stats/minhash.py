"""Near-duplicate texts: MinHash signatures of character shingles, and their bands for finding candidates (LSH).

Two texts are near duplicates where the Jaccard similarity of their sets of four-character shingles is high:
`shingle_hashes` are those of the whole platform; `evaluate/tokens.py` explains the one
measurement that differs. Signatures of 32 numbers in 8 bands of 4 find a pair of similarity s with
probability 1 - (1 - s^4)^8: 0.985 at 0.8, 0.9998 at 0.9; candidates are then compared exactly.

Sources: Broder, On the resemblance and containment of documents (1997); Leskovec, Rajaraman and Ullman,
Mining of Massive Datasets, chapter 3; Dietzfelbinger and others, A reliable randomized algorithm for the
closest-pair problem (1997) for the multiply-shift hashes.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SHINGLE_WIDTH = 4
"""Characters of a group."""
BANDS, ROWS = 8, 4
MAX_CHARACTERS = 20_000
"""Characters of a text that are looked at."""
MAX_COMPARED = 50
"""Texts of one bucket that a further one is compared with."""
Hashes = NDArray[np.uint64]

_WORD = re.compile(r"[^\W_]+")
_RANDOM = np.random.PCG64(20_260_101).random_raw(2 * BANDS * ROWS + SHINGLE_WIDTH).astype(np.uint64) | np.uint64(1)
_FACTORS, _SHIFTS, _PLACES = np.split(_RANDOM, [BANDS * ROWS, 2 * BANDS * ROWS])
_BANDS = np.arange(1, BANDS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def normalize_text(text: str) -> str:
    """Return the text's words in lower case with one space between them, without punctuation."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).casefold()))


def shingle_hashes(text: str) -> Hashes:
    """Return the different shingles of `SHINGLE_WIDTH` characters as sorted hashes; a shorter text has one."""
    codes = np.frombuffer(normalize_text(text).ljust(SHINGLE_WIDTH).encode("utf-32-le"), "<u4").astype(np.uint64)
    places = np.arange(len(codes) - SHINGLE_WIDTH + 1)[:, None] + np.arange(SHINGLE_WIDTH)
    with np.errstate(over="ignore"):
        return np.unique(_mix(codes[places] @ _PLACES))


def signature(hashes: Hashes) -> NDArray[np.uint32]:
    """Return the MinHash signature of shingle hashes, shape (BANDS * ROWS,)."""
    with np.errstate(over="ignore"):
        drawn = (hashes[None, :] * _FACTORS[:, None] + _SHIFTS[:, None]) >> np.uint64(32)
    least: NDArray[np.uint32] = drawn.min(1).astype(np.uint32)
    return least


def band_keys(hashes: Hashes) -> NDArray[np.int64]:
    """Return a number for each band of the signature, shape (BANDS,): texts that share one are candidates."""
    rows = signature(hashes).reshape(BANDS, ROWS).astype(np.uint64)
    with np.errstate(over="ignore"):
        total = _BANDS.copy()
        for place in range(ROWS):
            total = _mix(total ^ rows[:, place] * _FACTORS[place])
    return total.view(np.int64)


def similarity(first: Hashes, second: Hashes) -> float:
    """Return the Jaccard similarity of the shingles of two texts, from 0 to 1."""
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)


def near_pairs(texts: Sequence[str], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield places of texts at least so similar, each with an earlier one.

    Near-duplicates are linked by such pairs.
    """
    first_place: dict[str, int] = {}
    hashes_of: dict[int, Hashes] = {}
    buckets: dict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        first = first_place.setdefault(normalize_text(text), place)
        if first != place:
            yield first, place
            continue
        mine = hashes_of[place] = shingle_hashes(text)
        keys = band_keys(mine).tolist()
        for other in sorted({candidate for key in keys for candidate in buckets[key][-MAX_COMPARED:]}):
            if similarity(mine, hashes_of[other]) >= threshold:
                yield other, place
        for key in keys:
            buckets[key].append(place)


class UnionFind:
    """Groups of items that were joined, directly or through others (union-find)."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def root(self, item: object) -> object:
        """Return the item that stands for the group of `item`."""
        path = []
        while (above := self._above.setdefault(item, item)) != item:
            path.append(item)
            item = above
        self._above.update(dict.fromkeys(path, item))
        return item

    def join(self, items: Iterable[object]) -> None:
        """Put the items into one group."""
        first, *others = items
        for other in others:
            self._above[self.root(other)] = self.root(first)


def _mix(values: Hashes) -> Hashes:
    """SplitMix64's last steps."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
