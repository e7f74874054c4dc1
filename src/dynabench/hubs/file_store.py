"""Large files by the SHA-256 of their content, and the pointers that stand for them in git.

A file lies at `repositories/files/ab/abcdef...`. A file that is being received lies in
`repositories/incoming` and takes its place in one step. (The home folder's `hub` is the cache of downloads.)
"""

import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.kit.settings import Settings, sync_folder
from dynabench.media.store import DIGEST, ContentFolder

POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n")
PIECE = 1024 * 1024


class LargeFile(NamedTuple):
    """A large file as its pointer names it."""

    digest: str
    size: int


def pointer_text(file: LargeFile) -> bytes:
    """Return the pointer that stands for a large file in git."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{file.digest}\nsize {file.size}\n".encode()


def read_pointer(content: bytes) -> LargeFile | None:
    """Return the large file that a text points to; None for a text that is no pointer."""
    match = POINTER.fullmatch(content)
    return LargeFile(match[1].decode(), int(match[2])) if match else None


class Incoming:
    """A file while it is received; it counts once `HubFileStore.keep` has taken it."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self._hash = path, 0, hashlib.sha256()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = path.open("wb")

    def add(self, part: bytes) -> None:
        """Write a part."""
        self._file.write(part)
        self._hash.update(part)
        self.size += len(part)

    def close(self) -> LargeFile:
        """Bring the file to the disk; returns its real digest and size."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return LargeFile(self._hash.hexdigest(), self.size)

    def discard(self) -> None:
        """Delete what has come."""
        self._file.close()
        self.path.unlink(missing_ok=True)


class HubFileStore(ContentFolder):
    """The large files of one deployment."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "files")
        self.incoming = folder / "incoming"

    @classmethod
    def of(cls, settings: Settings) -> "HubFileStore":
        """The store below the home folder."""
        return cls(settings.folder / "repositories")

    def receive(self) -> Incoming:
        """Begin a file."""
        return Incoming(self.incoming / uuid.uuid4().hex)

    def receive_part(self, upload: str, number: int) -> Incoming:
        """Begin a part of a file that comes in several parts."""
        return Incoming(self._parts(upload) / f".{number}-{uuid.uuid4().hex}")

    def keep_part(self, upload: str, number: int, part: Incoming) -> None:
        """Put a part in its place, over one that was sent before."""
        part.path.replace(self._parts(upload) / str(number))

    def _parts(self, upload: str) -> Path:
        return self.incoming / f"parts-{upload}"

    def join_parts(self, upload: str, count: int) -> Incoming:
        """Return one file of all parts. Raises `Invalid` where one is missing."""
        joined = self.receive()
        try:
            for number in range(1, count + 1):
                for piece in _pieces(self._parts(upload) / str(number)):
                    joined.add(piece)
        except FileNotFoundError:
            joined.discard()
            raise Invalid({"parts": _("A part of this file is missing. Send the file again.")}) from None
        return joined

    def drop_parts(self, upload: str) -> None:
        """Delete the parts of a file."""
        shutil.rmtree(self._parts(upload), ignore_errors=True)

    def keep(self, file: Incoming, expected: LargeFile) -> None:
        """Put a received file in its place. Raises `Invalid` where it is not the one that was announced."""
        real = file.close()
        if real != expected:
            file.discard()
            message = _("The content is not what was announced: its size or its SHA-256 differs. Nothing was saved.")
            raise Invalid({"oid": message})
        path = self.path(real.digest)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.path.replace(path)  # over the same content, which becomes young again
        sync_folder(path.parent)
        sync_folder(self.folder)

    def touch(self, digest: str) -> bool:
        """Make a stored file young again, so that no sweep takes it; false where it is not stored."""
        try:
            os.utime(self.path(digest))
        except FileNotFoundError:
            return False
        return True

    def remove_stale(self, before: float) -> None:
        """Delete what was begun and not ended before a moment."""
        for path in self.incoming.iterdir() if self.incoming.is_dir() else ():
            if path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def stored(self, before: float) -> Iterator[str]:
        """Yield the digests of files that are older than a moment."""
        for folder in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            for path in sorted(folder.iterdir()):
                if DIGEST.fullmatch(path.name) and path.stat().st_mtime < before:
                    yield path.name


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def day_ago() -> float:
    """Return the moment 24 hours ago, in seconds of the epoch."""
    return time.time() - 24 * 3600.0
