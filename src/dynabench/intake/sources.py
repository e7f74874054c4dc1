"""The files of rows in a source: a file itself, a dataset's folder, or such a folder as a zip file.

Only the data files of a zip file are unpacked, under names of ours, and never without limits.
"""

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from dynabench.intake import folders, reader
from dynabench.kit import errors
from dynabench.kit.language import _

ZIP = ".zip"
MOST_ENTRIES = 10_000
UNPACKED_BYTES = 4 * 1024**3
"""Of all data files."""
PIECE = 1024**2
CARD_BYTES = 1_000_000
RowFiles = list[tuple[Path, str]]
"""Paths of files with the names that tell their kinds."""


def kind_of_source(name: str) -> str:
    """Return the kind of a file from its name: one of `reader.KINDS` or `.zip`. Raises `Invalid` under `file`."""
    return ZIP if name.lower().endswith(ZIP) else reader.kind_of_file(name)


@contextmanager
def open_source(path: Path, name: str, split: str = "", first: bool = False) -> Iterator[RowFiles]:
    """Give the files of rows in a file: itself, or those of a split of a zipped folder (see `folders.choose`).

    What is unpacked lies in a folder that is removed afterwards; `first` unpacks only one file. Raises `Invalid` or
    `TooLarge` for what is no honest archive: paths that lead out of it, links, passwords, bombs.
    """
    if kind_of_source(name) != ZIP:
        yield [(path, name)]
        return
    place = Path(tempfile.mkdtemp(prefix=".unzipped-", dir=path.parent))
    try:
        yield [(file, file.name) for file in _unpack(path, place, split, first)]
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def open_path(path: Path) -> Iterator[RowFiles]:
    """Give the files of rows of a folder, or those in a file."""
    if path.is_dir():
        yield [(file, file.name) for file in folders.local(path)]
        return
    with open_source(path, path.name) as files:
        yield files


def _unpack(path: Path, place: Path, split: str, first: bool) -> list[Path]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in _entries(archive)}
            names = _without_top(list(entries))
            card = ""
            if folders.CARD in names:
                with archive.open(names[folders.CARD]) as stream:
                    card = stream.read(CARD_BYTES).decode("utf-8", errors="replace")
            chosen = folders.choose(list(names), card, "", split)
            room, files = UNPACKED_BYTES, []
            for number, name in enumerate(chosen[:1] if first else chosen):
                target = place / f"{number:04d}-{PurePosixPath(name).name[-80:]}"
                room -= _unpack_file(archive, entries[names[name]], target, room)
                files.append(target)
            return files
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as problem:
        raise errors.Invalid({"file": f"This zip file cannot be read: {str(problem)[:100]}"}) from None


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_ENTRIES:
        raise errors.TooLarge(
            _("This zip file has more than %(most_entries)s files.", most_entries=f"{MOST_ENTRIES:,}")
        )
    seen: set[str] = set()
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or ":" in path.parts[0]:
            raise errors.Invalid(
                {"file": _("A path leads out of the zip file: %(value)s.", value=repr(entry.filename[:80]))}
            )
        if entry.external_attr >> 16 & 0o170000 == 0o120000:
            raise errors.Invalid({"file": _("The zip file holds a link: %(value)s.", value=repr(entry.filename[:80]))})
        if entry.flag_bits & 1:
            raise errors.Invalid({"file": _("The zip file is locked with a password.")})
        if entry.filename in seen:
            raise errors.Invalid(
                {"file": _("Two files of the zip file have one name: %(value)s.", value=repr(entry.filename[:80]))}
            )
        seen.add(entry.filename)
    return entries


def _without_top(names: list[str]) -> dict[str, str]:
    """Paths below the one folder that everything lies in, if it does; without what file managers add."""
    data_names = [name for name in names if not name.startswith("__MACOSX/")]
    tops = {name.partition("/")[0] for name in data_names}
    below = len(tops) == 1 and all("/" in name for name in data_names)
    return {name.partition("/")[2] if below else name: name for name in data_names}


def _unpack_file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, room: int) -> int:
    """Unpack a file; how many bytes it has, whatever the archive says."""
    size = 0
    with archive.open(entry) as stream, target.open("xb") as out:
        while piece := stream.read(PIECE):
            size += len(piece)
            if size > room or (
                size > reader.SUSPECT_BYTES and size > reader.SUSPECT_RATIO * max(entry.compress_size, 1)
            ):
                raise errors.TooLarge(_("This zip file is too large unpacked. Split it."))
            out.write(piece)
    return size
