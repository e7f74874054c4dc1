"""Zip files with pictures: in folders that are called by their labels, or named in the cells of a table beside them.

Pictures are read when a row is prepared, never all at once.
"""

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dynabench.intake import reader, sources
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.open_evaluations.multiple_choice import UnfitValue

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
MOST_BYTES = 20 * 1024**2
"""Bytes of one picture."""
HIDDEN = ("__MACOSX/", ".")
DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError)


@dataclass(frozen=True)
class ZippedPicture:
    """A picture in an open zip file."""

    archive: zipfile.ZipFile
    entry: zipfile.ZipInfo

    def read(self) -> bytes:
        """Return its bytes; raises `UnfitValue` for a damaged one, or one that unfolds to too much."""
        try:
            with self.archive.open(self.entry) as stream:
                content = stream.read(MOST_BYTES + 1)
        except DAMAGED as problem:
            message = _("%(name)s cannot be read: %(problem)s", name=self.entry.filename[-100:],
                        problem=str(problem)[:100])  # fmt: skip
            raise UnfitValue(message) from None
        if len(content) > MOST_BYTES:
            raise UnfitValue(_("%(name)s is larger than 20 MiB.", name=self.entry.filename[-100:]))
        return content


@dataclass(frozen=True)
class ZippedPictures:
    """The pictures of a zip file by the names that a table may give them; `tables` says that it has files of rows."""

    archive: zipfile.ZipFile
    entries: list[zipfile.ZipInfo]
    tables: bool

    @classmethod
    def open(cls, path: Path, name: str) -> "ZippedPictures | None":
        """Open a zip file with pictures; None for every other file. Raises `TooLarge` for one of too many files."""
        if not name.lower().endswith(sources.ZIP):
            return None
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError):
            return None
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > sources.MOST_ENTRIES:
            raise errors.TooLarge(_("This zip file has more than %(most)s files.", most=f"{sources.MOST_ENTRIES:,}"))
        visible = [entry for entry in entries if not entry.filename.startswith(HIDDEN)]
        pictures = [entry for entry in visible if entry.filename.lower().endswith(ENDINGS)]
        if not pictures:
            return None
        tables = any(entry.filename.lower().endswith(reader.KINDS) for entry in visible)
        return cls(archive, sorted(pictures, key=lambda entry: entry.filename), tables)

    def folder_names(self) -> list[str]:
        """Return the names of the folders that hold pictures, which are the labels."""
        return sorted({PurePosixPath(entry.filename).parent.name for entry in self.entries})

    def folder_rows(self) -> Iterator[FileRow]:
        """Yield the pictures: `image` is the picture, `label` the folder, `file` the name."""
        for number, entry in enumerate(self.entries, start=1):
            label = PurePosixPath(entry.filename).parent.name
            picture = ZippedPicture(self.archive, entry)
            yield FileRow(number, {"image": picture, "label": label, "file": entry.filename})

    def fill(self, rows: Iterable[FileRow]) -> Iterator[FileRow]:
        """Yield the rows of a table with the pictures in place of the cells that name them."""
        by_name = self._by_name()
        for row in rows:
            yield row if row.values is None else row._replace(values=_filled(row.values, self.archive, by_name))

    def _by_name(self) -> Mapping[str, zipfile.ZipInfo]:
        """The pictures by their paths, from the top or from any folder on the way, where only one is meant."""
        by_name: dict[str, zipfile.ZipInfo | None] = {}
        for entry in self.entries:
            parts = PurePosixPath(entry.filename).parts
            for start in range(len(parts)):
                name = "/".join(parts[start:])
                by_name[name] = None if name in by_name and start else entry
        return {name: entry for name, entry in by_name.items() if entry is not None}


def _filled(
    values: Mapping[str, Any], archive: zipfile.ZipFile, by_name: Mapping[str, zipfile.ZipInfo]
) -> dict[str, Any]:
    return {
        name: ZippedPicture(archive, by_name[value.removeprefix("./")])
        if isinstance(value, str) and value.removeprefix("./") in by_name
        else value
        for name, value in values.items()
    }
