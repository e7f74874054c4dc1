"""Zip files of pictures in folders: a row for each picture, with the name of its folder as its label."""

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from dynabench.intake import reader, sources
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
MOST_BYTES = 20 * 1024**2
"""Bytes of one picture."""


def holds_pictures(path: Path, name: str) -> bool:
    """Return whether a file is a zip of pictures without any file of rows."""
    if not name.lower().endswith(sources.ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = [entry.filename.lower() for entry in archive.infolist() if not entry.is_dir()]
    except zipfile.BadZipFile:
        return False
    pictures = any(entry.endswith(ENDINGS) for entry in names)
    return pictures and not any(entry.endswith(tuple(reader.KINDS)) for entry in names)


def read_pictures(path: Path) -> Iterator[FileRow]:
    """Yield the pictures by their names: `image` has the bytes, `label` the folder, `file` the name.

    Raises `Invalid` for a zip file that cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = sorted(_pictures(archive), key=lambda entry: entry.filename)
            for number, entry in enumerate(entries, start=1):
                yield _row(archive, entry, number)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as problem:
        message = _("This zip file cannot be read: %(problem)s", problem=str(problem)[:100])
        raise errors.Invalid({"file": message}) from None


def folder_names(path: Path) -> list[str]:
    """Return the names of the folders that hold pictures, which are the labels."""
    with zipfile.ZipFile(path) as archive:
        return sorted({PurePosixPath(entry.filename).parent.name for entry in _pictures(archive)})


def _pictures(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > sources.MOST_ENTRIES:
        raise errors.TooLarge(_("This zip file has more than %(most)s files.", most=f"{sources.MOST_ENTRIES:,}"))
    hidden = ("__MACOSX/", ".")
    return [
        entry for entry in entries if entry.filename.lower().endswith(ENDINGS) and not entry.filename.startswith(hidden)
    ]


def _row(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, number: int) -> FileRow:
    if entry.file_size > MOST_BYTES:
        return FileRow(number, None, _("%(name)s is larger than 20 MiB.", name=entry.filename[-100:]))
    with archive.open(entry) as stream:
        content = stream.read(MOST_BYTES + 1)
    place = PurePosixPath(entry.filename)
    return FileRow(number, {"image": content, "label": place.parent.name, "file": entry.filename})
