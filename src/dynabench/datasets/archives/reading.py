"""Reading an archive that anybody may have made: nothing is unpacked to disk, and nothing is believed."""

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from dynabench.datasets import rows
from dynabench.datasets.archives import layout
from dynabench.datasets.archives.layout import ArchiveFile, Manifest
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models import archives

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
PIECE = 1024**2
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
P = TypeVar("P", bound=BaseModel)
ReadProgress = Callable[[int], object]
"""Called with how many bytes, unpacked, are read."""


def refusal(message: str) -> errors.Invalid:
    """The refusal of an archive."""
    return errors.Invalid({"file": message}, message)


class Archive:
    """An archive that is open. Raises `Invalid` under `file` for what is none, or was changed."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            archives.check_zip_end(file, layout.MOST_FILES)
            self.zip = zipfile.ZipFile(file)
        except BROKEN as problem:
            raise refusal(_("This is not a task archive: %(value)s.", value=str(problem)[:200])) from None
        self.entries = self._entries()
        self.manifest = self._manifest()
        self.files = {entry.name: entry for entry in self.manifest.files}
        if extra := self.entries.keys() ^ {layout.MANIFEST, *self.files}:
            raise refusal(_("The manifest and the files do not match: %(value)s.", value=repr(sorted(extra)[0][:100])))

    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self.zip.infolist():
            if entry.filename in entries:
                raise refusal(_("Two files have the same name: %(value)s.", value=repr(entry.filename[:100])))
            if entry.flag_bits & 1 or entry.compress_type not in METHODS:
                raise refusal(_("%(value)s uses an unsupported compression.", value=repr(entry.filename[:100])))
            entries[entry.filename] = entry
        return entries

    def _manifest(self) -> Manifest:
        if layout.MANIFEST not in self.entries:
            raise refusal(_("This is not a task archive: it has no manifest.json."))
        try:
            return Manifest.model_validate_json(self._small(layout.MANIFEST, layout.MOST_MANIFEST))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(map(str, first["loc"])) or "it"
            raise refusal(
                _("The manifest cannot be read: %(where)s: %(value)s.", where=where, value=first["msg"][:200])
            ) from None

    def _small(self, name: str, most: int) -> bytes:
        """A small file, whole."""
        try:
            with self.zip.open(self.entries[name]) as file:
                content = file.read(most + 1)
        except BROKEN as problem:
            raise refusal(_("%(name)s cannot be read: %(value)s.", name=name, value=str(problem)[:200])) from None
        if len(content) > most:
            raise refusal(_("%(name)s is too large.", name=name))
        return content

    def config(self, number: int) -> str:
        """The text of a version of the config."""
        name = layout.config_file(number)
        if name not in self.files:
            raise refusal(_("%(name)s is missing.", name=name))
        return self._text(name)

    def newest(self) -> str:
        """The text of the newest config."""
        return self._text(layout.TASK)

    def content(self, name: str, most: int) -> bytes:
        """A file of up to `most` bytes, whole, if it is what the manifest says."""
        content_bytes = self._small(name, most)
        self._compare(self.files[name], len(content_bytes), hashlib.sha256(content_bytes).hexdigest())
        return content_bytes

    def _text(self, name: str) -> str:
        try:
            return self.content(name, layout.MOST_CONFIG).decode()
        except UnicodeDecodeError:
            raise refusal(_("%(name)s is not valid UTF-8.", name=name)) from None

    def rows(self, name: str, progress: ReadProgress = lambda _: None) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a list with their numbers from 1; its hash is compared once all were read."""
        digest, size, number = hashlib.sha256(), 0, 0
        try:
            with self.zip.open(self.entries[name]) as file:
                while line := file.readline(layout.MOST_LINE + 1):
                    number, size = number + 1, size + len(line)
                    if len(line) > layout.MOST_LINE or size > self.files[name].bytes:
                        raise refusal(
                            _(
                                "%(name)s, line %(number)s: the file is longer than the manifest says.",
                                name=name,
                                number=number,
                            )
                        )
                    digest.update(line)
                    yield number, self._object(name, number, line)
                    progress(len(line))
        except BROKEN as problem:
            raise refusal(
                _(
                    "%(name)s cannot be read after line %(number)s: %(value)s.",
                    name=name,
                    number=number,
                    value=str(problem)[:200],
                )
            ) from None
        self._compare(self.files[name], size, digest.hexdigest())

    def _object(self, name: str, number: int, line: bytes) -> dict[str, Any]:
        try:
            values = orjson.loads(line)
        except orjson.JSONDecodeError:
            values = None
        if not isinstance(values, dict):
            raise refusal(_("%(name)s, line %(number)s: not a JSON object.", name=name, number=number))
        try:
            rows.check_storable(values)
        except errors.Invalid as problem:
            raise refusal(f"{name}, line {number}: {problem.detail}") from None
        return values

    def parts(self, name: str, kind: type[P], progress: ReadProgress = lambda _: None) -> Iterator[tuple[int, P]]:
        """The rows of a list as `kind`."""
        for number, values in self.rows(name, progress):
            try:
                yield number, kind.model_validate(values)
            except ValidationError as problem:
                first = problem.errors()[0]
                text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
                raise refusal(
                    _("%(name)s, line %(number)s: %(text)s.", name=name, number=number, text=text[:300])
                ) from None

    def _compare(self, file: ArchiveFile, size: int, digest: str) -> None:
        if (size, digest) != (file.bytes, file.sha256):
            raise refusal(_("%(name)s does not match the manifest: it was changed or is incomplete.", name=file.name))


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive at a path."""
    with path.open("rb") as file:
        yield Archive(file)
