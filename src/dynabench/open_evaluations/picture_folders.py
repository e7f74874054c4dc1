"""Folders and zip files with pictures: in folders that are called by their labels, described by `metadata.csv` beside
them, or named in the cells of another table.

Pictures are read when a row is prepared, never all at once.
"""

import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dynabench.intake import reader, sources
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.open_evaluations import picture_metadata
from dynabench.open_evaluations.multiple_choice import UnfitValue
from dynabench.open_evaluations.picture_metadata import ENDINGS

MOST_BYTES = 20 * 1024**2
"""Bytes of one picture."""
HIDDEN = ("__MACOSX/", ".")
DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError)


class StoredPicture(ABC):
    """A picture that is read when its row is prepared."""

    @abstractmethod
    def read(self) -> bytes:
        """Return its bytes; raises `UnfitValue` for one that cannot be read."""


@dataclass(frozen=True)
class ZippedPicture(StoredPicture):
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
    """The pictures of a zip file by the names that a table may give them.

    `tables` says that it has files of rows, `metadata` names those of them that describe the pictures beside them.
    """

    path: Path
    archive: zipfile.ZipFile
    entries: list[zipfile.ZipInfo]
    tables: bool
    metadata: list[str]

    @classmethod
    def open(cls, path: Path, name: str) -> "ZippedPictures | None":
        """Open a zip file with pictures; None for every other file.

        Raises `TooLarge` for one of too many files, and `Invalid` where it is no honest archive with metadata.
        """
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
        metadata = [entry.filename for entry in visible if picture_metadata.is_metadata(entry.filename)]
        if metadata:
            sources.honest_entries(archive)
        return cls(path, archive, sorted(pictures, key=lambda entry: entry.filename), tables, sorted(metadata))

    def folder_names(self) -> list[str]:
        """Return the names of the folders that hold pictures, which are the labels."""
        return sorted({PurePosixPath(entry.filename).parent.name for entry in self.entries})

    def folder_rows(self) -> Iterator[FileRow]:
        """Yield the pictures: `image` is the picture, `label` the folder, `file` the name."""
        for number, entry in enumerate(self.entries, start=1):
            label = PurePosixPath(entry.filename).parent.name
            picture = ZippedPicture(self.archive, entry)
            yield FileRow(number, {"image": picture, "label": label, "file": entry.filename})

    def metadata_rows(self, split: str = "") -> Iterator[FileRow]:
        """Yield the rows of the metadata with their pictures, of a split where there are several; the usual is train.

        Raises `Invalid` for another split, and for metadata that describe no pictures.
        """
        pictures = {entry.filename: ZippedPicture(self.archive, entry) for entry in self.entries}
        by_split = picture_metadata.find_splits([*pictures, *self.metadata])
        chosen = split or next((name for name in ("train", "") if name in by_split), next(iter(by_split)))
        if chosen not in by_split:
            choices = ", ".join(sorted(filter(None, by_split)))
            raise errors.Invalid({"split": _("Choose one of %(value)s.", value=choices)})
        names = set(by_split[chosen])
        with tempfile.TemporaryDirectory(prefix=".unzipped-", dir=self.path.parent) as place:
            tables = ((name, self._table_rows(name, Path(place))) for name in self.metadata if name in names)
            yield from picture_metadata.describe_pictures(tables, pictures, names)

    def _table_rows(self, name: str, place: Path) -> Iterator[FileRow]:
        target = place / f"{self.metadata.index(name)}{PurePosixPath(name).suffix}"
        try:
            sources.unpack_file(self.archive, self.archive.getinfo(name), target, sources.UNPACKED_BYTES)
        except DAMAGED as problem:
            message = _("%(name)s cannot be read: %(problem)s", name=name[-100:], problem=str(problem)[:100])
            raise errors.Invalid({"file": message}) from None
        yield from reader.read_rows(target, PurePosixPath(name).name)

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
