"""Files that people upload: stored until they say how to read them, and the rows that an import refuses."""

import json
import os
import re
import shutil
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from anyio import open_file
from sqlalchemy import insert
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from dynabench.intake import reader
from dynabench.intake.rows import BadRow
from dynabench.kit import errors
from dynabench.kit.api import csv_response
from dynabench.kit.db import Database
from dynabench.kit.forms import field_errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE, unstorable
from dynabench.rounds import queries
from dynabench.rounds.tables import RefusedRow

KEPT_SECONDS = 24 * 3600  # seconds
PIECE = 1024 * 1024
UNPACKED = (".hub-", ".unzipped-")
"""How folders below `uploads` begin that hold what was downloaded or unpacked; no task is called so."""


def uploads_folder(settings: Settings, *parts: str) -> Path:
    """`uploads` under the home, or a folder of it; only the operator's account can look in."""
    path = settings.folder / "uploads"
    path.mkdir(exist_ok=True, mode=0o700)
    for part in parts:
        path = path / part
        path.mkdir(exist_ok=True, mode=0o700)
    return path


async def store_upload(settings: Settings, task: str, name: str, upload: Any, zipped: tuple[str, ...] = ()) -> UUID:
    """Store what was sent (anything with an async `read(size)`) under a new id; `name` tells its kind.

    Raises `Invalid` under `file` for another kind of file; endings in `zipped` are taken besides.
    """
    ending = Path(name).suffix.lower() if name.lower().endswith(zipped) else reader.ending_of_file(name)
    place, id = uploads_folder(settings, task), uuid.uuid4()
    sweep_folder(place)
    await write_stream(place / f"{id}{ending}", read_pieces(upload))
    return id


async def store_stream(place: Path, name: str, parts: AsyncIterable[bytes]) -> Path:
    """Store what is sent in `place` under a new id and what is plain of its name, once what is old there is gone."""
    sweep_folder(place)
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name.replace("\\", "/").rpartition("/")[2])[-100:]
    return await write_stream(place / f"{uuid.uuid4()}--{plain}", parts)


async def write_stream(path: Path, parts: AsyncIterable[bytes]) -> Path:
    """Write a new file; of what ends halfway nothing stays."""
    try:
        async with await open_file(path, "xb") as file:
            async for part in parts:
                await file.write(part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


async def read_pieces(upload: Any) -> AsyncIterator[bytes]:
    """Yield the data sent with a form (anything with an async `read(size)`), piece by piece."""
    while piece := await upload.read(PIECE):
        yield piece


async def store_form_file(
    settings: Settings, task: str, form: FormData, kind: Callable[[str], object] = reader.kind_of_file
) -> Path:
    """Store the `file` of a form, whose name tells its kind. Raise `Invalid` where there is none or of another kind."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise errors.Invalid({"file": _("Choose a file first.")})
    return await store_named_upload(settings, task, file.filename[-200:], read_pieces(file), kind)


def upload_errors(problem: errors.Problem) -> dict[str, str]:
    """Return what is wrong with a file that a form sent, to be shown beside its field `file`."""
    fields = field_errors(problem, "file")
    return {"file": fields.get("name") or fields.get("file") or "; ".join(fields.values())}


def sweep_folder(place: Path, now: float | None = None) -> None:
    """Throw away what has waited for more than a day."""
    for path in expired_files(place, now):
        remove_path(path)


def expired_files(place: Path, now: float | None = None) -> list[Path]:
    """Files in a folder, and folders that something was unpacked to, that are more than a day old."""
    ours = [path for path in place.iterdir() if path.is_file() or path.name.startswith(UNPACKED)]
    return [path for path in ours if (now or time.time()) - path.stat().st_mtime > KEPT_SECONDS]


def remove_path(path: Path) -> None:
    """Throw away a file, or a folder with all that is in it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def find_upload(settings: Settings, task: str, id: UUID) -> Path:
    """The waiting file; `NotFound` where it was thrown away or never was."""
    paths = list((settings.folder / "uploads" / task).glob(f"{id}.*"))
    if not paths:
        raise errors.NotFound(_("This file is no longer here. Upload it again."))
    return paths[0]


def claim_upload(settings: Settings, path: Path) -> Path:
    """Move a waiting file to where jobs have theirs: its job deletes it. Its age counts from now on, so that it is not
    taken for one that no row names before the row is there."""
    os.utime(path)
    return path.rename(uploads_folder(settings) / path.name)


ROWS_AT_ONCE = 1_000


def store_bad_rows(session: Session, job_id: str, rows: Iterable[BadRow]) -> None:
    """Keep the rows that an import left out, as the file had them."""
    refused = [
        {
            "job_id": job_id,
            "row": row.number,
            "message": UNSTORABLE.sub("\ufffd", row.message),
            "values": _storable_values(row.values),
        }
        for row in rows
    ]
    if refused:
        session.execute(insert(RefusedRow), refused)


def _storable_values(values: Mapping[str, Any]) -> dict[str, Any] | None:
    # Files of JSON may hold what the database cannot: NaN, NUL or half a surrogate pair.
    plain = dict(values)
    try:
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return None if any(unstorable(plain)) else plain or None


def refused_file(db: Database, job: str, name: str) -> Response:
    """A CSV file called `name`: each row as its file had it, with its number and the reason; read as it is sent."""
    columns = list(dict.fromkeys(column for row in _refused_rows(db, job) for column in row.values or {}))
    return csv_response(name, [*columns, "row", "reason"], _cells(db, job, columns))


def _cells(db: Database, job: str, columns: Sequence[str]) -> Iterator[list[object]]:
    for row in _refused_rows(db, job):
        values = row.values or {}
        yield [*(values.get(name, "") for name in columns), row.row, row.message]


def _refused_rows(db: Database, job: str) -> Iterator[RefusedRow]:
    def some(session: Session, after: int) -> Sequence[RefusedRow]:
        return session.scalars(queries.refused_rows(job, after, ROWS_AT_ONCE)).all()

    after = 0
    while rows := db.read(some, after):
        yield from rows
        after = rows[-1].row


DATA_FOLDER = "data"
claim_named_upload = claim_upload


def original_name(path: Path) -> str:
    """Return the name that the file had when it was sent."""
    return path.name.partition("--")[2]


async def store_named_upload(
    settings: Settings,
    task: str,
    name: str,
    parts: AsyncIterable[bytes],
    kind: Callable[[str], object] = reader.kind_of_file,
) -> Path:
    """Store what is sent under a new id. Raises `Invalid` under `name` for a file that `kind` does not take."""
    try:
        kind(name)
    except errors.Invalid as problem:
        raise errors.Invalid({"name": problem.fields["file"]}) from None
    return await store_stream(uploads_folder(settings, task, DATA_FOLDER), name, parts)


def find_named_upload(settings: Settings, task: str, file: str) -> Path:
    """The waiting file with this id; `Invalid` where it was thrown away or never was."""
    try:
        paths = list((settings.folder / "uploads" / task / DATA_FOLDER).glob(f"{UUID(file)}--*"))
    except ValueError:
        paths = []
    if not paths:
        raise errors.Invalid({"file": _("This file is no longer here. Upload it again.")})
    return paths[0]
