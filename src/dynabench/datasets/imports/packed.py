"""Compressed files, unpacked as they are read: a small one may hold a great deal of nothing."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dynabench import errors
from dynabench.language import _

MOST = 8 * 1024**3  # bytes unpacked
SUSPECT, TIMES = 64 * 1024**2, 200  # beyond so many bytes, no text packs 200 times smaller


class _Limited(gzip.GzipFile):
    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed)
        self.packed, self.seen = packed, 0

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.read(len(buffer))
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise errors.Invalid({"file": _("This gzip file is damaged or cut off. Send it again.")}) from None
        buffer[: len(data)] = data
        self.seen += len(data)
        if self.seen > MOST or (self.seen > SUSPECT and self.seen > TIMES * self.packed.tell()):
            raise errors.TooLarge(_("This file is too large unpacked. Split it."))
        return len(data)


class Unpacked(io.BufferedReader):
    """A gzip file as the bytes in it; `raw_file` is the file itself. Raises `Invalid` or `TooLarge` when read."""

    def __init__(self, packed: BinaryIO) -> None:
        self.raw_file = packed
        super().__init__(_Limited(packed))


@contextmanager
def opened(path: Path, name: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where its name ends in .gz."""
    with path.open("rb") as stream:
        yield Unpacked(stream) if name.lower().endswith(".gz") else stream
