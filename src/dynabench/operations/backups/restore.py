"""Restoring a backup into an empty place: all of it, or nothing.

Everything is first written to a folder in the home, where it is compared with the manifest. Only then the files are
renamed to their places and the database's transaction is committed.
"""

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import MetaData, inspect, make_url
from sqlalchemy.exc import DBAPIError

from dynabench.kit.db import Database
from dynabench.kit.disk import erase_paths
from dynabench.kit.errors import Conflict, Problem
from dynabench.kit.settings import Settings, sync_folder
from dynabench.operations import migrations
from dynabench.operations.backups import database_copy, manifest
from dynabench.operations.backups.backup import cause_of
from dynabench.operations.backups.manifest import DATABASE, JOBS, SECRET, BackupManifest
from dynabench.operations.key_check import RESTORING

HARMLESS = {"run", "lost+found", RESTORING}
"""Names that an empty home folder may hold."""
MARGIN = timedelta(minutes=1)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RestoredBackup:
    """The restored manifest, and the folders of models that the setting `DYNABENCH_MODELS` must name."""

    manifest: BackupManifest
    models: list[Path]


def restore_backup(settings: Settings, source: Path, progress: Progress = lambda done, of: None) -> RestoredBackup:
    """Restore a backup into the empty home folder and the empty database of these settings.

    `progress` is told how many bytes of how many are written. Raises `Conflict` for a damaged backup, a place that is
    not empty or another secret than the backup's, `Problem` for a full disk; everything is as before then.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            backup_manifest = manifest.read_manifest(archive)
            _check_backup(settings, archive, backup_manifest)
            _check_place(settings, backup_manifest)
            return _restore(settings, archive, backup_manifest, progress)
    except zipfile.BadZipFile:
        raise Conflict(f"{source} is damaged, or no backup of Dynabench.") from None
    except (OSError, sqlite3.Error, DBAPIError) as error:
        raise Problem(f"The backup was not restored, and nothing of it stays: {cause_of(error)}") from error


def _check_backup(settings: Settings, archive: zipfile.ZipFile, backup_manifest: BackupManifest) -> None:
    if backup_manifest.version > migrations.newest():
        raise Conflict(
            f"The backup was made by Dynabench {backup_manifest.code} and its database is at version "
            f"{backup_manifest.version}; this code knows {migrations.newest()}. Install a newer Dynabench."
        )
    if settings.secret and SECRET in archive.namelist() and archive.read(SECRET) != settings.secret.encode():
        raise Conflict(
            "DYNABENCH_SECRET is another secret than the backup's: pseudonyms would change beside records and releases "
            "that name the old ones. Unset it, and the backup's secret is restored; or set it to the old one."
        )


def _check_place(settings: Settings, backup_manifest: BackupManifest) -> None:
    if present_names := sorted(entry.name for entry in settings.folder.iterdir() if entry.name not in HARMLESS):
        raise Conflict(
            f"{settings.folder} is not empty (it holds {', '.join(present_names[:3])}). A backup is "
            "restored into an empty folder: set DYNABENCH_HOME to another one, or move what is there away."
        )
    database = Database(settings.url) if not settings.url.startswith("sqlite") else None
    if database is None:
        if _sqlite_file(settings).exists():
            raise Conflict(f"{_sqlite_file(settings)} exists. Set DYNABENCH_DATABASE_URL to another file, or move it.")
    else:
        try:
            _check_empty(database)
        finally:
            database.close()
    free = shutil.disk_usage(settings.folder).free
    if free < backup_manifest.bytes:
        raise Problem(
            f"The backup needs {backup_manifest.bytes / 1e6:,.0f} MB in {settings.folder}; {free / 1e6:,.0f} are free."
        )


def _check_empty(database: Database) -> None:
    """Tables without rows may be there: those of a restore that was interrupted."""
    with database.engine.connect() as connection:
        tables = migrations.metadata().sorted_tables
        state = MetaData()
        if inspect(connection).has_table("workflow_status", schema=database_copy.ENGINE):
            state.reflect(connection, schema=database_copy.ENGINE, only=["workflow_status"])
        if not database_copy.is_empty(connection, [*tables, *state.sorted_tables]):
            where = database.engine.url.render_as_string(hide_password=True)
            raise Conflict(f"The database {where} is not empty. A backup is restored into an empty one.")


def _sqlite_file(settings: Settings) -> Path:
    return Path(str(make_url(settings.url).database)).resolve()


def _restore(
    settings: Settings, archive: zipfile.ZipFile, backup_manifest: BackupManifest, progress: Progress
) -> RestoredBackup:
    stage = settings.folder / RESTORING
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(mode=0o700)
    try:
        files = _extract(archive, backup_manifest, stage, progress)
        _prepare(settings, files, backup_manifest)
        moved: list[Path] = []
        try:
            with _loaded(settings, files, backup_manifest):
                _place(settings, stage, moved)
        except BaseException:
            erase_paths(moved)
            raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    sync_folder(settings.folder)
    models = {entry.place.parts[0] for entry in backup_manifest.files if entry.name.startswith(f"{manifest.MODELS}-")}
    return RestoredBackup(backup_manifest, [settings.folder / entry for entry in sorted(models)])


def _extract(
    archive: zipfile.ZipFile, backup_manifest: BackupManifest, stage: Path, progress: Progress
) -> dict[str, Path]:
    """Write all files below `stage`; where those of the database are."""
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        progress(done, backup_manifest.bytes)

    for entry in backup_manifest.files:
        manifest.extract_file(archive, entry, stage / entry.place, advance)
    return {name: stage / name for name in (DATABASE, JOBS) if (stage / name).exists()}


def _prepare(settings: Settings, files: dict[str, Path], backup_manifest: BackupManifest) -> None:
    """Bring the copied database to the version of the code, and what it says of jobs to this place."""
    if backup_manifest.version != migrations.newest():
        database = Database(f"sqlite:///{files[DATABASE]}")
        try:
            migrations.run(database, "head")
        finally:
            database.close()
    with closing(sqlite3.connect(files[DATABASE], isolation_level=None)) as main:
        main.execute("PRAGMA journal_mode=DELETE")
        # Jobs that wait name files by their whole paths: those below the old home are below the new one now.
        paths = [f"{json.dumps(home_path)[1:-1]}/" for home_path in (backup_manifest.home, str(settings.folder))]
        main.execute("UPDATE jobs SET payload = replace(payload, ?, ?)", paths)
        if JOBS in files:
            main.execute("ATTACH ? AS engine", (str(files[JOBS]),))
            main.execute("UPDATE engine.workflow_status SET inputs = replace(inputs, ?, ?)", paths)
            main.execute("UPDATE engine.operation_outputs SET output = replace(output, ?, ?)", paths)
            # Sent to the engine after its state was copied: it is sent again, under the same number.
            since = datetime.fromisoformat(backup_manifest.began).astimezone(UTC) - MARGIN
            main.execute(
                "UPDATE jobs SET sent_at = NULL WHERE sent_at >= ? "
                "AND id NOT IN (SELECT workflow_uuid FROM engine.workflow_status)",
                (since.strftime("%Y-%m-%d %H:%M:%S.%f"),),
            )


@contextmanager
def _loaded(settings: Settings, files: dict[str, Path], backup_manifest: BackupManifest) -> Iterator[None]:
    """Bring the database to its place: in a transaction that ends well when the block does."""
    if settings.url.startswith("sqlite"):
        with _loaded_sqlite(settings, files):
            yield
        return
    migrations.upgrade(settings)
    if JOBS in files:
        database_copy.migrate_jobs(settings.url)
    database = Database(settings.url)
    try:
        with database.engine.begin() as connection:
            database_copy.load_postgres(connection, files, backup_manifest.sequences)
            yield
    finally:
        database.close()


@contextmanager
def _loaded_sqlite(settings: Settings, files: dict[str, Path]) -> Iterator[None]:
    target = _sqlite_file(settings)
    places = {target: files[DATABASE]} | ({settings.folder / "jobs.sqlite": files[JOBS]} if JOBS in files else {})
    waiting = {place: place.with_name(f".{place.name}.restoring") for place in places}
    try:
        for place, copied in places.items():
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.move(copied, waiting[place])
        yield
        for place in reversed(places):
            waiting[place].rename(place)
        sync_folder(target.parent)
    finally:
        for waiting_file in waiting.values():
            waiting_file.unlink(missing_ok=True)


def _place(settings: Settings, stage: Path, moved: list[Path]) -> None:
    """Rename what is restored to its places, each of which is added to `moved`."""
    home = stage / manifest.HOME
    entries = [*home.iterdir()] if home.is_dir() else []
    entries += [entry for entry in stage.iterdir() if entry.name.startswith(f"{manifest.MODELS}-")]
    for entry in entries:
        if entry.is_dir() and entry.name != "models":  # models are read by processes that may read nothing else
            entry.chmod(0o700)
        target = settings.folder / entry.name
        entry.rename(target)
        moved.append(target)
