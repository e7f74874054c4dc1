"""The account of a host's memory: what it holds itself, and what each model took when it was loaded."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dynabench import heap
from dynabench.models.catalog import Entry
from dynabench.models.host import memory

Key = tuple[str, str]
"""Name and version of a model."""
SHARED = 16 * 2**20
"""Bytes by which what is held may differ from the account before the account is put right."""


class Full(Exception):
    """A model does not fit; `for_now` says whether it will when others are idle."""

    def __init__(self, told: str, for_now: bool) -> None:
        super().__init__(told)
        self.for_now = for_now


class Room:
    """What is taken of `limit` bytes (None: no limit).

    A model's size is what the process (with those it started) grew by when the model was loaded: the most of all
    times, since freed memory is used again, and at least its folder's size, since mapped files count once they are
    read. What a freed model does not give back is shared with others, as an encoder is, and from then on the host's.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.sizes: dict[Key, int] = {}
        self._own = memory.kept()

    def held(self, loaded: Iterable[Key]) -> int:
        """Bytes of the host itself and of these models."""
        return self._own + sum(self.sizes.get(key, 0) for key in loaded)

    def expected(self, key: Key, entry: Entry) -> int:
        """Bytes that a model will take: as many as the last time, at first those of its folder."""
        return self.sizes.get(key, entry.card.size_bytes if entry.card else 0)

    def fits(self, held: int, size: int) -> bool:
        """Whether so much more may be taken."""
        return self.limit is None or held + size <= self.limit

    def refusal(self, size: int) -> str:
        """Why a model of this size can never be loaded."""
        told = memory.told
        return (
            f"needs about {told(size)}; this host may use {told(self.limit or 0)} and takes {told(self._own)} itself. "
            "Raise DYNABENCH_HOST_MEMORY (or --memory), or take a smaller model"
        )

    @contextmanager
    def importing(self) -> Iterator[None]:
        """What the process grows by meanwhile is the host's own.

        What was imported stays as long as the process, so that later collections leave it out: looking through all of
        it takes a quarter of a second, and that is done several times for each model that is loaded.
        """
        before = memory.kept()
        with heap.unswept():
            yield
        self._own += max(0, memory.kept() - before)

    @contextmanager
    def loading(self, key: Key, entry: Entry) -> Iterator[None]:
        """What the process grows by meanwhile is this model's."""
        before = memory.kept()
        yield
        self.sizes[key] = max(memory.kept() - before, self.expected(key, entry))

    def freed(self, key: Key, closing: list[Any], others: Sequence[Key]) -> None:
        """Close the model, the last reference to which is in the list, and see what that gives back.

        `others` are loaded still. What is held beside them is the host's own, and no more than that: what several
        shared is gone with the last of them.
        """
        before = memory.used()
        gc.unfreeze()  # a model that was loaded before something was imported
        closing.pop().close()
        now = memory.kept()
        kept = self.sizes.get(key, 0) - max(0, before - now)
        if kept > SHARED:
            self._own += kept
            self.sizes[key] -= kept
        beside = max(0, now - sum(self.sizes.get(other, 0) for other in others))
        if now and self._own - beside > SHARED:
            self._own = beside
