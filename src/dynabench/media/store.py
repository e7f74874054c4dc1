"""Files named after their content, in a folder below the home.

A file lies at `media/ab/abcdef...`, is written once and never changed. What models are given of one is a `data:`
address: `unfolded` makes it, at the doors through which inputs leave for models.
"""

import base64
import hashlib
import os
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynabench.errors import NotFound
from dynabench.language import _
from dynabench.media.sniffing import type_of
from dynabench.settings import Settings

DIGEST = re.compile(r"[0-9a-f]{64}")


class Store:
    """The files of one deployment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, settings: Settings) -> "Store":
        """The store below the home folder."""
        return cls(settings.folder / "media")

    def path(self, digest: str) -> Path:
        """Where the file with this SHA-256 lies."""
        if not DIGEST.fullmatch(digest):
            raise NotFound(_("There is no such file."))
        return self.folder / digest[:2] / digest

    def put(self, content: bytes) -> str:
        """Store bytes, durably; their SHA-256. The same bytes are stored once."""
        digest = hashlib.sha256(content).hexdigest()
        path = self.path(digest)
        if path.exists():
            os.utime(path)  # young again, so that no sweep takes it before a row names it
            return digest
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = path.with_name(f".{digest[:16]}-{uuid.uuid4().hex}")
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        return digest

    def read(self, digest: str) -> bytes:
        """The bytes; `NotFound` where they are not here any more."""
        try:
            return self.path(digest).read_bytes()
        except FileNotFoundError:
            raise NotFound(_("This file is not here any more.")) from None

    def remove(self, digest: str, before: float) -> None:
        """Throw the file away, unless it was stored again since the moment `before` (seconds of the epoch)."""
        path = self.path(digest)
        if path.exists() and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)

    def address(self, digest: str) -> str:
        """The file as models take it: `data:image/png;base64,...`."""
        content = self.read(digest)
        return f"data:{type_of(content)};base64,{base64.b64encode(content).decode()}"

    def unfolded(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs of a model with a `data:` address in place of each reference `{"media": ...}`, also within groups."""
        return {name: self._unfolded(value) for name, value in inputs.items()}

    def _unfolded(self, value: Any) -> Any:
        if refers(value):
            return self.address(value["media"])
        if isinstance(value, Mapping):
            return {name: self._unfolded(part) for name, part in value.items()}
        return [self._unfolded(part) for part in value] if isinstance(value, list) else value


def refers(value: object) -> bool:
    """Whether a value refers to a stored file. Texts never do, whatever stands in them."""
    return isinstance(value, Mapping) and isinstance(value.get("media"), str)


def refer(inputs: Mapping[str, Any]) -> bool:
    """Whether any of a model's inputs does, or a part of one."""
    return bool(digests(inputs))


def digests(values: object) -> set[str]:
    """The SHA-256 of all files that values, however nested, refer to."""
    if isinstance(values, Mapping):
        own = {str(values["media"])} if refers(values) and DIGEST.fullmatch(str(values["media"])) else set()
        return own.union(*(digests(value) for value in values.values()))
    if isinstance(values, list | tuple):
        return set().union(*(digests(value) for value in values))
    return set()
