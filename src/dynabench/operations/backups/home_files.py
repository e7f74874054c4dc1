"""The files of a platform that belong into a backup: all in the home folder and in folders of models but caches."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from dynabench.kit.errors import Conflict
from dynabench.kit.settings import Settings

CACHES = {"cache", "hub", "responses.sqlite"}
"""What is computed or fetched again when it is missing."""
LEFT_OUT = CACHES | {"run", "backups", "secret", "jobs.sqlite", "dynabench.sqlite"}
"""Names at the top of the home folder that a backup leaves out, or takes by other means than copying."""
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a file
PINS = ".backup-"
HOME, MODELS = "home", "models"


@dataclass(frozen=True)
class FoundFile:
    """A file to copy: its name in the backup, and where it can be read."""

    name: str
    path: Path


def roots(settings: Settings) -> dict[str, Path]:
    """The folders that are copied, by their names in a backup."""
    named = [Path(path_text).expanduser() for path_text in settings.models.split(":") if path_text]
    return {HOME: settings.folder} | {f"{MODELS}-{number}": path_text for number, path_text in enumerate(named, 1)}


@contextmanager
def one_backup_at_a_time(settings: Settings) -> Iterator[Path]:
    """Give a folder in the home to work in, deleted afterwards; raises `Conflict` while another backup is made."""
    lock = settings.folder / "run" / "backup.lock"
    lock.parent.mkdir(mode=0o700, exist_ok=True)
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict("Another backup of this platform is being made. Wait until it has ended.") from None
        for leftover in settings.folder.glob(f"{PINS}*"):  # by one that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        place = settings.folder / f"{PINS}{os.getpid()}"
        place.mkdir(mode=0o700)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def pin_files(settings: Settings, place: Path) -> dict[str, FoundFile]:
    """Find all files, and keep them from being deleted or replaced by hard links below `place`.

    Where no link can be made, such as in a folder on another disk, the file itself is what will be read.
    """
    pinned: dict[str, FoundFile] = {}
    for root, folder in roots(settings).items():
        for path in _walk(folder, settings if root == HOME else None):
            name = f"{root}/{path.relative_to(folder).as_posix()}"
            link = place / str(len(pinned))
            try:
                os.link(path.resolve(), link)
            except FileNotFoundError:
                continue
            except OSError:
                link = path
            pinned[name] = FoundFile(name, link)
    return pinned


def _walk(folder: Path, home_of: Settings | None) -> Iterator[Path]:
    """All files below a folder, also behind symbolic links; of the home without what is left out."""
    visited: set[str] = set()
    database = database_files(home_of) if home_of else set()
    for at, folders, names in os.walk(folder, followlinks=True):
        place = Path(at)
        real = os.path.realpath(at)
        if real in visited:  # links in a circle
            folders.clear()
            continue
        visited.add(real)
        top = home_of is not None and place == folder
        folders[:] = sorted(
            folder_name
            for folder_name in folders
            if not (top and (folder_name in LEFT_OUT or folder_name.startswith(".")))
        )
        for name in sorted(names):
            path = place / name
            if path.is_file() and not (home_of and (path.resolve() in database or _is_left_out(path, folder))):
                yield path


def database_files(settings: Settings) -> set[Path]:
    """The file of a SQLite database and those that SQLite keeps beside it; none for another kind of database."""
    if not settings.url.startswith("sqlite"):
        return set()
    main = Path(str(make_url(settings.url).database)).resolve()
    return {main, *(main.with_name(main.name + suffix) for suffix in BESIDE)}


def _is_left_out(path: Path, home: Path) -> bool:
    parts = path.relative_to(home).parts
    if len(parts) == 1 and (parts[0] in LEFT_OUT or parts[0].endswith(BESIDE)):
        return True
    return parts[0] != "models" and parts[-1].startswith(".")  # files that are being written
