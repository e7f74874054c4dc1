"""Making a backup while the platform runs, so that no row in it refers to a file that is not in it.

Files are written before the rows that name them, and deleted after them. Every file is pinned by a hard link before the
snapshot of the database, therefore, and again after it: the second pins hold what is new, the first what was deleted
meanwhile, and both stay as they were until they are copied. A file that came and went between the two is noticed, and
all is done again.
"""

import errno
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from dynabench import __version__
from dynabench.kit.db import now
from dynabench.kit.errors import Conflict, Problem
from dynabench.kit.settings import Settings, sync_folder
from dynabench.operations import key_check
from dynabench.operations.backups import file_check, manifest
from dynabench.operations.backups.database_copy import DatabaseSnapshot, copy_online, take_snapshot
from dynabench.operations.backups.manifest import BackupFile, BackupManifest, FoundFile

TRIES = 5
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
POSTGRES_FULL = "53100"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class MadeBackup:
    """A backup that was made, and what was missing or damaged before it was."""

    path: Path
    manifest: BackupManifest


def backup_path(target: Path) -> Path:
    """The file to write: `target`, or one named after this moment in the folder `target`. Raises `Conflict`."""
    path = target / f"dynabench-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.zip" if target.is_dir() else target
    if path.exists():
        raise Conflict(f"{path} exists; name another file.")
    return path.resolve()


def make_backup(settings: Settings, target: Path, progress: Progress = lambda done, of: None) -> MadeBackup:
    """Write the database, all files and the keys to one file that its owner alone can read.

    `progress` is told how many bytes of how many are copied. Raises `Conflict` where the target exists or lies among
    what is backed up, and `Problem` where the disk is full; nothing stays behind then.
    """
    path = backup_path(target)
    if path.is_relative_to(settings.folder) and not path.is_relative_to(settings.folder / "backups"):
        raise Conflict(f"{path} lies in the home folder: name a place outside of it, or one in its folder `backups`.")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.partial")
    try:
        with manifest.one_backup_at_a_time(settings) as place:
            backup_manifest = _write(settings, unfinished, place, progress)
        os.link(unfinished, path)  # fails where another process has written this name meanwhile
    except FileExistsError:
        raise Conflict(f"{path} exists; name another file.") from None
    except (OSError, sqlite3.Error, DBAPIError) as error:
        raise Problem(f"The backup was not made, and nothing of it stays: {cause_of(error)}") from error
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    sync_folder(path.parent)
    return MadeBackup(path, backup_manifest)


def _write(settings: Settings, unfinished: Path, place: Path, progress: Progress) -> BackupManifest:
    """The manifest of what was written; all is done again while files went or changed between snapshot and pins."""
    seen: set[str] = set()
    for number in range(TRIES):
        work = place / str(number)
        for name in ("earlier", "pins"):
            (work / name).mkdir(mode=0o700, parents=True)
        began = now()
        earlier = manifest.pin_files(settings, work / "earlier")
        snapshot = take_snapshot(settings, work)
        pinned = manifest.pin_files(settings, work / "pins")
        with _session(snapshot) as session:
            engine = f"sqlite:///{snapshot.files[manifest.JOBS]}" if manifest.JOBS in snapshot.files else ""
            flaws = file_check.missing_files(session, settings, partial(_is_pinned, settings, pinned, earlier), engine)
            if not set(flaws) - seen:  # what is missing twice was missing before
                backup_manifest = _manifest(settings, snapshot, began)
                backup_manifest.files += _copy(settings, unfinished, snapshot, pinned, work, progress)
                flaws = _flaws(session, settings, backup_manifest, engine)
                if not set(flaws) - seen:
                    flaws += file_check.check_models(session, settings, _linked_models(settings, pinned, work))
                    backup_manifest.flaws = [*flaws, *file_check.check_lost_keys(session, settings)]
                    _end(unfinished, backup_manifest)
                    return backup_manifest
        seen |= set(flaws)
        shutil.rmtree(work)
    raise Problem(f"Files changed at each of {TRIES} tries, at last: {flaws[0]} Try again when less is going on.")


@contextmanager
def _session(snapshot: DatabaseSnapshot) -> Iterator[Session]:
    engine = create_engine(f"sqlite:///{snapshot.files[manifest.DATABASE]}")
    try:
        with Session(engine) as session:
            yield session
    finally:
        engine.dispose()


def _is_pinned(settings: Settings, pinned: dict[str, FoundFile], earlier: dict[str, FoundFile], path: Path) -> bool:
    """Return whether a file that a row names is pinned; one that was deleted meanwhile joins `pinned`."""
    name = _name(settings, path)
    if name not in pinned and name in earlier:
        pinned[name] = earlier[name]
    return name in pinned


def _name(settings: Settings, path: Path) -> str:
    return f"{manifest.HOME}/{path.relative_to(settings.folder).as_posix()}"


def _manifest(settings: Settings, snapshot: DatabaseSnapshot, began: datetime) -> BackupManifest:
    return BackupManifest(
        code=__version__,
        kind="sqlite" if snapshot.kind == "sqlite" else "postgresql",
        version=snapshot.version,
        began=began.isoformat(),
        home=str(settings.folder),
        sequences=snapshot.sequences,
    )


def _copy(
    settings: Settings,
    target: Path,
    snapshot: DatabaseSnapshot,
    pinned: dict[str, FoundFile],
    work: Path,
    progress: Progress,
) -> list[BackupFile]:
    """Write a new file with everything but the manifest."""
    sources = [FoundFile(name, path) for name, path in snapshot.files.items()]
    for item in pinned.values():
        top = item.name.removeprefix(f"{manifest.HOME}/")
        if "/" not in top and top.endswith(".sqlite"):  # others write to it, and its newest rows lie beside it
            copy_online(settings.folder / top, work / top)
            sources.append(FoundFile(item.name, work / top))
        else:
            sources.append(item)
    total, done = sum(_size(item.path) for item in sources), 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        progress(done, total)

    entries = []
    target.unlink(missing_ok=True)
    target.touch(mode=0o600, exist_ok=False)
    with zipfile.ZipFile(target, "w") as archive:
        for item in sources:
            with suppress(FileNotFoundError):  # where it could not be pinned; whether a row needs it is looked at next
                entries.append(manifest.add_file(archive, item.name, item.path, advance))
        if key_check.has_secret(settings):
            entries.append(manifest.add_bytes(archive, manifest.SECRET, settings.key))
    return entries


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _flaws(session: Session, settings: Settings, backup_manifest: BackupManifest, engine: str) -> list[str]:
    """Files that rows name and that were not copied, or with other content than the rows say."""
    copied, problems = {expected.name: expected.sha256 for expected in backup_manifest.files}, []
    for expected in file_check.expected_files(session, settings, engine):
        digest = copied.get(_name(settings, expected.path))
        if digest is None:
            problems.append(f"{expected.row}: {expected.path} is missing.")
        elif expected.sha256 and digest != expected.sha256:
            problems.append(f"{expected.row}: {expected.path} is damaged: its content is not what the row says.")
    return problems


def _linked_models(settings: Settings, pinned: dict[str, FoundFile], work: Path) -> dict[Path, Path]:
    """Return, for each folder of models, a folder with its pinned files under their own names."""
    home = f"{manifest.HOME}/models"
    names = {settings.folder / "models": home} | {
        folder: root for root, folder in manifest.roots(settings).items() if root != manifest.HOME
    }
    for pinned_file in pinned.values():
        if pinned_file.name.startswith(tuple(f"{name}/" for name in names.values())):
            link = work / "linked" / pinned_file.name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(pinned_file.path.absolute())
    return {folder: work / "linked" / name for folder, name in names.items()}


def _end(target: Path, backup_manifest: BackupManifest) -> None:
    with zipfile.ZipFile(target, "a") as archive:
        manifest.add_manifest(archive, backup_manifest)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def cause_of(error: BaseException) -> str:
    """Return the reason why files or rows could not be written, and the remedy where the disk is full."""
    driver = error.orig if isinstance(error, DBAPIError) else error
    full = isinstance(driver, OSError) and driver.errno in FULL
    full = full or getattr(driver, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if full or getattr(driver, "sqlstate", None) == POSTGRES_FULL:
        return "the disk is full. Free some space, or name a place on another disk."
    return f"{error}."
