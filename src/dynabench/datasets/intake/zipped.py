"""A dataset's folder as a zip file: only its data files are unpacked, under names of ours, and never without limits."""

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from dynabench import errors
from dynabench.datasets.imports import folder
from dynabench.language import _

MOST_ENTRIES = 10_000
MOST = 4 * 1024**3  # bytes unpacked, of all data files
SUSPECT, TIMES = 64 * 1024**2, 200  # beyond so many bytes, no text packs 200 times smaller
PIECE = 1024**2
CARD = 1_000_000  # bytes


@contextmanager
def unpacked(path: Path, split: str = "", first: bool = False) -> Iterator[list[Path]]:
    """The data files of a split (see `folder.choose`), in a folder that is removed afterwards.

    Raises `Invalid` or `TooLarge` for what is no honest archive: paths that lead out of it, links, passwords, bombs.
    """
    place = Path(tempfile.mkdtemp(prefix=".unzipped-", dir=path.parent))
    try:
        yield _unpacked(path, place, split, first)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _unpacked(path: Path, place: Path, split: str, first: bool) -> list[Path]:
    try:
        with zipfile.ZipFile(path) as archive:
            known = {entry.filename: entry for entry in _entries(archive)}
            names = _without_top(list(known))
            card = ""
            if folder.CARD in names:
                with archive.open(names[folder.CARD]) as stream:
                    card = stream.read(CARD).decode("utf-8", errors="replace")
            chosen = folder.choose(list(names), card, "", split)
            left, found = MOST, []
            for number, name in enumerate(chosen[:1] if first else chosen):
                target = place / f"{number:04d}-{PurePosixPath(name).name[-80:]}"
                left -= _one(archive, known[names[name]], target, left)
                found.append(target)
            return found
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
    kept = [name for name in names if not name.startswith("__MACOSX/")]
    tops = {name.partition("/")[0] for name in kept}
    below = len(tops) == 1 and all("/" in name for name in kept)
    return {name.partition("/")[2] if below else name: name for name in kept}


def _one(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Unpack a file; how many bytes it has, whatever the archive says."""
    size = 0
    with archive.open(entry) as stream, target.open("xb") as out:
        while piece := stream.read(PIECE):
            size += len(piece)
            if size > left or (size > SUSPECT and size > TIMES * max(entry.compress_size, 1)):
                raise errors.TooLarge(_("This zip file is too large unpacked. Split it."))
            out.write(piece)
    return size
