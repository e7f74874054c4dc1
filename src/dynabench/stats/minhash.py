"""Near-duplicate texts: MinHash signatures of letter groups, and their bands for finding candidates (LSH).

Two texts are near duplicates where the Jaccard similarity of their sets of four-character groups is high: `groups` is
what the platform goes by wherever it says so; `evaluate.texts.near_duplicates` tells why one measurement differs.
Signatures of 32 numbers in 8 bands of 4 find a pair of similarity s with probability 1 - (1 - s^4)^8: 0.985 at 0.8,
0.9998 at 0.9; candidates are then compared exactly.

Sources: Broder, On the resemblance and containment of documents (1997); Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, chapter 3; Dietzfelbinger and others, A reliable randomized algorithm for the closest-pair problem
(1997) for the multiply-shift hashes.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

WIDTH = 4
"""Characters of a group."""
BANDS, ROWS = 8, 4
LONGEST = 20_000
"""Characters of a text that are looked at."""
COMPARED = 50
"""Texts of one bucket that a further one is compared with."""
Hashes = NDArray[np.uint64]

_WORD = re.compile(r"[^\W_]+")
_RANDOM = np.random.PCG64(20_260_101).random_raw(2 * BANDS * ROWS + WIDTH).astype(np.uint64) | np.uint64(1)
_FACTORS, _SHIFTS, _PLACES = np.split(_RANDOM, [BANDS * ROWS, 2 * BANDS * ROWS])
_BANDS = np.arange(1, BANDS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def plain(text: str) -> str:
    """The text's words in small letters with one blank between them; signs make no difference."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text[:LONGEST]).casefold()))


def groups(text: str) -> Hashes:
    """The different groups of `WIDTH` characters of a text as numbers, in order; of a shorter text one group."""
    codes = np.frombuffer(plain(text).ljust(WIDTH).encode("utf-32-le"), "<u4").astype(np.uint64)
    places = np.arange(len(codes) - WIDTH + 1)[:, None] + np.arange(WIDTH)
    with np.errstate(over="ignore"):
        return np.unique(_mixed(codes[places] @ _PLACES))


def signature(found: Hashes) -> NDArray[np.uint32]:
    """The MinHash signature of groups, shape (BANDS * ROWS,)."""
    with np.errstate(over="ignore"):
        drawn = (found[None, :] * _FACTORS[:, None] + _SHIFTS[:, None]) >> np.uint64(32)
    least: NDArray[np.uint32] = drawn.min(1).astype(np.uint32)
    return least


def bands(found: Hashes) -> NDArray[np.int64]:
    """A number for each band of the groups' signature, shape (BANDS,): texts that share one are candidates."""
    rows = signature(found).reshape(BANDS, ROWS).astype(np.uint64)
    with np.errstate(over="ignore"):
        total = _BANDS.copy()
        for place in range(ROWS):
            total = _mixed(total ^ rows[:, place] * _FACTORS[place])
    return total.view(np.int64)


def similarity(first: Hashes, second: Hashes) -> float:
    """Jaccard similarity of two texts' groups, from 0 to 1."""
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)


def near_pairs(texts: Sequence[str], threshold: float) -> Iterator[tuple[int, int]]:
    """Places of texts that are at least so similar, each with an earlier one; all that are alike hang together."""
    known: dict[str, int] = {}
    found: dict[int, Hashes] = {}
    buckets: dict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        first = known.setdefault(plain(text), place)
        if first != place:
            yield first, place
            continue
        mine = found[place] = groups(text)
        keys = bands(mine).tolist()
        for other in sorted({each for key in keys for each in buckets[key][-COMPARED:]}):
            if similarity(mine, found[other]) >= threshold:
                yield other, place
        for key in keys:
            buckets[key].append(place)


class Together:
    """Things that hang together, whatever joins them (union-find)."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def root(self, thing: object) -> object:
        """The one that stands for all that hang together with `thing`."""
        path = []
        while (above := self._above.setdefault(thing, thing)) != thing:
            path.append(thing)
            thing = above
        self._above.update(dict.fromkeys(path, thing))
        return thing

    def join(self, things: Iterable[object]) -> None:
        """Let them hang together."""
        first, *others = things
        for other in others:
            self._above[self.root(other)] = self.root(first)


def _mixed(values: Hashes) -> Hashes:
    """SplitMix64's last steps."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
