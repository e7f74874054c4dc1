"""Files named after their content, in a folder below the home folder.

A file lies at `media/ab/abcdef...`, is written once and never changed. Models get a `data:` address of it:
`with_data_addresses` makes it where inputs leave for models.
"""

import base64
import hashlib
import os
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynabench.kit.errors import NotFound
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media.file_formats import media_type_of

DIGEST = re.compile(r"[0-9a-f]{64}")


class ContentFolder:
    """A folder of files named after the SHA-256 of their content: one lies at `ab/abcdef...`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return the path of a file. Raises `NotFound` for a text that is no digest."""
        if not DIGEST.fullmatch(digest):
            raise NotFound(_("There is no such file."))
        return self.folder / digest[:2] / digest

    def remove(self, digest: str, before: float) -> None:
        """Delete a file, unless it came again since the moment `before` (seconds of the epoch)."""
        path = self.path(digest)
        if path.exists() and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


class MediaStore(ContentFolder):
    """The files of one deployment."""

    @classmethod
    def of(cls, settings: Settings) -> "MediaStore":
        """The store below the home folder."""
        return cls(settings.folder / "media")

    def put(self, content: bytes) -> str:
        """Store content durably and return its SHA-256. The same content is stored once."""
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
        """Return the content. Raises NotFound where the file does not exist any more."""
        try:
            return self.path(digest).read_bytes()
        except FileNotFoundError:
            raise NotFound(_("This file no longer exists.")) from None

    def address(self, digest: str) -> str:
        """Return the file as models take it: `data:image/png;base64,...`."""
        content = self.read(digest)
        return f"data:{media_type_of(content)};base64,{base64.b64encode(content).decode()}"

    def unfolded(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return a model's inputs with a `data:` address for each reference `{"media": ...}`, also within groups."""
        return {name: self._unfolded(value) for name, value in inputs.items()}

    def _unfolded(self, value: Any) -> Any:
        if is_reference(value):
            return self.address(value["media"])
        if isinstance(value, Mapping):
            return {name: self._unfolded(part) for name, part in value.items()}
        return [self._unfolded(part) for part in value] if isinstance(value, list) else value


def is_reference(value: object) -> bool:
    """Return whether a value refers to a stored file; a text never does."""
    return isinstance(value, Mapping) and isinstance(value.get("media"), str)


def has_references(inputs: Mapping[str, Any]) -> bool:
    """Return whether a model's inputs, or parts of them, refer to stored files."""
    return bool(media_digests(inputs))


def media_digests(values: object) -> set[str]:
    """Return the SHA-256 of all files that values, however nested, refer to."""
    if isinstance(values, Mapping):
        own = {str(values["media"])} if is_reference(values) and DIGEST.fullmatch(str(values["media"])) else set()
        return own.union(*(media_digests(value) for value in values.values()))
    if isinstance(values, list | tuple):
        return set().union(*(media_digests(value) for value in values))
    return set()
