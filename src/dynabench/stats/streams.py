"""Counts and samples of streams in bounded memory.

Sources: Misra and Gries, Finding repeated elements, Science of Computer Programming 2 (1982) (counts of frequent
items); Vitter, Random sampling with a reservoir, ACM TOMS 11 (1985), algorithm R; Bar-Yossef and others, Counting
distinct elements in a data stream (2002) (the k smallest hashes).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
SMALLEST = 4_096
"""Hashes that the number of different items is estimated from: a standard error of 1.6%."""


class FrequentItems:
    """Counts of the frequent ones of any number of items, at most twice `limit` of them in memory.

    `undercount` is the most that any count may be too low, 0 as long as all fitted: then all counts are exact.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.undercount, self.total = limit, 0, 0
        self.counts: Counter[str] = Counter()
        self.hashes: NDArray[np.uint64] | None = None

    def add(self, items: Mapping[str, int]) -> None:
        """Count items, each as often as `items` says."""
        self.total += sum(items.values())
        if self.hashes is not None:
            self._note([item for item in items if item not in self.counts])
        self.counts.update(items)
        if len(self.counts) > 2 * self.limit:
            self._forget()

    @property
    def different(self) -> int:
        """Return the number of different items: exact as long as all fitted, an estimate from then on."""
        if self.hashes is None:
            return len(self.counts)
        if len(self.hashes) < SMALLEST:
            return len(self.hashes)
        return max(round((SMALLEST - 1) / (float(self.hashes[-1]) / 2**64)), len(self.counts))

    def _forget(self) -> None:
        if self.hashes is None:
            self._note(list(self.counts))
        values = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        bound = int(np.partition(values, len(values) - self.limit)[len(values) - self.limit])
        self.undercount += bound
        self.counts = Counter({item: count for item, count in self.counts.items() if count > bound})

    def _note(self, items: list[str]) -> None:
        fresh = np.array([stable_hash(item) for item in items], np.uint64)
        before = np.zeros(0, np.uint64) if self.hashes is None else self.hashes
        self.hashes = np.unique(np.concatenate([before, fresh]))[:SMALLEST]


class Reservoir(Generic[Item]):
    """A random sample of `size` items of a stream, each as probable as every other; the same for the same seed."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seen = size, 0
        self.items: list[tuple[int, Item]] = []
        self._random = np.random.default_rng(seed)

    def add(self, batch: Iterable[Item]) -> None:
        """Offer items to the sample."""
        for item in batch:
            if len(self.items) < self.size:
                self.items.append((self.seen, item))
            elif (place := int(self._random.random() * (self.seen + 1))) < self.size:
                self.items[place] = (self.seen, item)
            self.seen += 1

    def sample(self) -> list[tuple[int, Item]]:
        """Return the sampled items with their places in the stream, in its order."""
        return sorted(self.items, key=lambda pair: pair[0])


class HashList:
    """64-bit hashes of the texts of a stream, eight bytes each, and codes of their labels."""

    def __init__(self) -> None:
        self._hashes: list[NDArray[np.uint64]] = []
        self._codes: list[NDArray[np.int32]] = []

    def add(self, hashes: list[int], codes: list[int]) -> None:
        """Take the hashes of some texts, and codes of their labels (-1 for none)."""
        self._hashes.append(np.array(hashes, np.uint64))
        self._codes.append(np.array(codes, np.int32))

    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Return all hashes and codes, shape (n,)."""
        if len(self._hashes) != 1:
            self._hashes = [np.concatenate(self._hashes) if self._hashes else np.zeros(0, np.uint64)]
            self._codes = [np.concatenate(self._codes) if self._codes else np.zeros(0, np.int32)]
        return self._hashes[0], self._codes[0]


def stable_hash(text: str) -> int:
    """Return 64 bits of a text's BLAKE2 hash: the same on every machine and in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
