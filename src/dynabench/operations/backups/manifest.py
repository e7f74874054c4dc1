"""The manifest of a backup: a zip file whose last member names all others with their SHA-256."""

import hashlib
import os
import time
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit.errors import Conflict

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


class BackupManifest(BaseModel):
    """The description of a backup. `version` is the database's, `sequences` the last number of each table whose
    numbers PostgreSQL gives, `began` the time of the snapshot, `home` the path of the home folder, `flaws` the
    files that were missing or damaged before the backup.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["dynabench-backup"] = "dynabench-backup"
    edition: Literal[1] = 1
    code: str
    kind: Literal["sqlite", "postgresql"]
    version: str
    began: str
    home: str
    sequences: dict[str, int] = {}
    flaws: list[str] = []
    files: list[BackupFile] = []

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
        raise Conflict(f"This file is no whole backup of Dynabench: {_first_line(error)}") from None
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


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
