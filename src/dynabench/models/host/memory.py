"""The memory of a host: how much there may be, how much there is, giving it back, and which model took how much."""

import ctypes
import gc
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dynabench.kit import process_memory
from dynabench.kit.errors import Invalid
from dynabench.kit.process_memory import family_bytes
from dynabench.models.catalog import Entry

SHARE = 0.75
"""Of the machine's memory, what a host may use unless told otherwise."""
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
UNLIMITED = 2**60
Key = tuple[str, str]
"""Name and version of a model."""
SHARED = 16 * 2**20
"""Bytes by which what is held may differ from the account before the account is put right."""
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def limit(text: str) -> int | None:
    """Bytes of `4GiB`, `512MiB`, `2.5 GB`; None for `none`; a share of the machine's for nothing. Raises `Invalid`."""
    if text.strip().lower() == "none":
        return None
    if not text.strip():
        machine = _machine()
        return int(machine * SHARE) if machine else None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2].upper() not in UNITS or not float(match[1]):
        raise Invalid({"memory": f"{text!r} is no amount of memory; write 4GiB, 512MiB or none."})
    return int(float(match[1]) * UNITS[match[2].upper()])


def format_bytes(size: float) -> str:
    """Bytes for people."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB" if size >= 2**20 else "under 1 MiB"


def used() -> int:
    """Bytes that this process and those it started hold in memory; 0 where the system does not say."""
    return family_bytes() or 0


def used_after_release() -> int:
    """Bytes held once what is free has been returned to the system."""
    give_back()
    return used()


def give_back() -> None:
    """Return what is free to the system."""
    gc.collect()
    if LIBC is not None and hasattr(LIBC, "malloc_trim"):
        LIBC.malloc_trim(0)


class Full(Exception):
    """A model does not fit; `for_now` says whether it will when others are idle."""

    def __init__(self, message: str, for_now: bool) -> None:
        super().__init__(message)
        self.for_now = for_now


class MemoryAccount:
    """The account of the memory that is taken of `limit` bytes (None: no limit).

    A model's size is the growth of the process (with those it started) when the model was loaded. The
    largest growth of all times counts, since freed memory is used again, and at least the size of the
    model's folder, since mapped files count once they are read. Memory that a freed model does not give back
    is shared with others, as an encoder is, and counts as the host's from then on.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.sizes: dict[Key, int] = {}
        self._own = used_after_release()

    def held(self, loaded: Iterable[Key]) -> int:
        """Bytes of the host itself and of these models."""
        return self._own + sum(self.sizes.get(key, 0) for key in loaded)

    def expected(self, key: Key, entry: Entry) -> int:
        """Bytes that a model will take: as many as the last time, at first those of its folder."""
        return self.sizes.get(key, entry.card.size_bytes if entry.card else 0)

    def fits(self, held: int, size: int) -> bool:
        """Return whether `size` more bytes may be taken when `held` bytes are taken."""
        return self.limit is None or held + size <= self.limit

    def refusal(self, size: int) -> str:
        """Why a model of this size can never be loaded."""
        return (
            f"needs about {format_bytes(size)}; this host may use {format_bytes(self.limit or 0)} "
            f"and takes {format_bytes(self._own)} itself. "
            "Raise DYNABENCH_HOST_MEMORY (or --memory), or take a smaller model"
        )

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Count the growth of the process within the block as the host's own.

        Imported objects stay as long as the process does, so later garbage collections leave them out: looking
        through all of them takes a quarter of a second, and that is done several times for each model that is
        loaded.
        """
        before = used_after_release()
        with process_memory.without_collection():
            yield
        self._own += max(0, used_after_release() - before)

    @contextmanager
    def loading(self, key: Key, entry: Entry) -> Iterator[None]:
        """Count the growth of the process within the block as the size of this model."""
        before = used_after_release()
        yield
        self.sizes[key] = max(used_after_release() - before, self.expected(key, entry))

    def freed(self, key: Key, closing: list[Any], others: Sequence[Key]) -> None:
        """Close the model, the last reference to which is in the list, and see what that gives back.

        `others` are loaded still. What is held beside them is the host's own, and no more than that: what several
        shared is gone with the last of them.
        """
        before = used()
        gc.unfreeze()  # a model that was loaded before something was imported
        closing.pop().close()
        now = used_after_release()
        remaining = self.sizes.get(key, 0) - max(0, before - now)
        if remaining > SHARED:
            self._own += remaining
            self.sizes[key] -= remaining
        beside = max(0, now - sum(self.sizes.get(other, 0) for other in others))
        if now and self._own - beside > SHARED:
            self._own = beside


def _machine() -> int:
    """Bytes of this machine, or of this container where that is less; 0 where the system does not say."""
    sizes = []
    with suppress(OSError, ValueError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(name).read_text()))
        except (OSError, ValueError):
            continue
    return min((size for size in sizes if 0 < size < UNLIMITED), default=0)
