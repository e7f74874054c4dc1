"""The manifest of a backup: a zip file whose last member names all others with their SHA-256."""

import fcntl
import hashlib
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import make_url

from dynabench.kit.errors import Conflict
from dynabench.kit.schemas import StrictModel
from dynabench.kit.settings import Settings

NAME = "manifest.json"
PIECE = 1024**2
DATABASE, JOBS, SECRET = "database/main.sqlite", "database/jobs.sqlite", "home/secret"
STORED = (".parquet", ".png", ".jpg", ".jpeg", ".webp", ".zip", ".safetensors", ".gguf", ".webm", ".gz")

Advance = Callable[[int], None]


class BackupFile(BaseModel):
    """A member of the backup, with the mode and the moment of its last change that it is restored with."""

    name: str
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    mode: int = 0o600
    changed: int = 0

    @property
    def place(self) -> PurePosixPath:
        """The name as a path below the folder that is restored into; raises `Conflict` for one that leads elsewhere."""
        path = PurePosixPath(self.name)
        if path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
            raise Conflict(f"The backup names a file {self.name!r}, which no backup made by Dynabench does.")
        return path


class BackupManifest(StrictModel):
    """The description of a backup. `version` is the database's, `sequences` the last number of each table whose
    numbers PostgreSQL gives, `began` the time of the snapshot, `home` the path of the home folder, `flaws` the
    files that were missing or damaged before the backup.
    """

    format: Literal["dynabench-backup"] = "dynabench-backup"
    edition: Literal[1] = 1
    code: str
    kind: Literal["sqlite", "postgresql"]
    version: str
    began: str
    home: str
    sequences: dict[str, int] = Field({})
    flaws: list[str] = Field([])
    files: list[BackupFile] = Field([])

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(entry.bytes for entry in self.files)


def add_file(archive: zipfile.ZipFile, name: str, path: Path, advance: Advance) -> BackupFile:
    """Copy a file into the backup; what the manifest says of it."""
    with path.open("rb") as source:
        state = path.stat()
        return _add(archive, name, source, advance, mode=state.st_mode & 0o777, changed=state.st_mtime_ns)


def add_bytes(archive: zipfile.ZipFile, name: str, content: bytes) -> BackupFile:
    """Write a small file into the backup; what the manifest says of it."""
    return _add(archive, name, BytesIO(content), lambda size: None, mode=0o600, changed=time.time_ns())


def _add(archive: zipfile.ZipFile, name: str, source: IO[bytes], advance: Advance, **how: Any) -> BackupFile:
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_STORED if name.lower().endswith(STORED) else zipfile.ZIP_DEFLATED
    digest, size = hashlib.sha256(), 0
    with archive.open(member, "w", force_zip64=True) as target:
        while piece := source.read(PIECE):
            target.write(piece)
            digest.update(piece)
            size += len(piece)
            advance(len(piece))
    return BackupFile(name=name, bytes=size, sha256=digest.hexdigest(), **how)


def add_manifest(archive: zipfile.ZipFile, manifest: BackupManifest) -> None:
    """Write the last member."""
    archive.writestr(NAME, manifest.model_dump_json(indent=1), compress_type=zipfile.ZIP_DEFLATED)


def read_manifest(archive: zipfile.ZipFile) -> BackupManifest:
    """Return the manifest of a backup; raises `Conflict` where the file is no complete backup."""
    try:
        backup_manifest = BackupManifest.model_validate_json(archive.read(NAME))
    except (KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        first_line = (str(error).splitlines() or [""])[0]
        raise Conflict(f"This file is no whole backup of Dynabench: {first_line}") from None
    named = sorted([NAME, *(entry.name for entry in backup_manifest.files)])
    if named != sorted(archive.namelist()):
        raise Conflict("The backup is damaged: it does not hold the files that its manifest names.")
    return backup_manifest


def extract_file(archive: zipfile.ZipFile, file: BackupFile, target: Path, advance: Advance) -> None:
    """Write a member to `target` and compare its SHA-256; raises `Conflict` where it is another."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    try:
        with archive.open(file.name) as source, target.open("xb") as copy:
            target.chmod(0o600)
            while piece := source.read(PIECE):
                copy.write(piece)
                digest.update(piece)
                advance(len(piece))
            copy.flush()
            os.fsync(copy.fileno())
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise Conflict(f"The backup is damaged: {file.name} cannot be read ({error}).") from None
    if digest.hexdigest() != file.sha256:
        raise Conflict(f"The backup is damaged: {file.name} is not the file that was backed up.")
    target.chmod(file.mode)
    os.utime(target, ns=(file.changed, file.changed))


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
