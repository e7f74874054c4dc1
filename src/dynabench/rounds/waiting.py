"""Files that were sent on a page and wait until somebody has said which column is what.

They lie under `uploads/<task>/`, named by a random id, so that a file is found only by owners of its task; what nobody
came back to is thrown away after a day.
"""

import re
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

from anyio import open_file

from dynabench import errors
from dynabench.rounds import files
from dynabench.settings import Settings

KEPT = 24 * 3600  # seconds
PIECE = 1024 * 1024


def folder(settings: Settings, *parts: str) -> Path:
    """`uploads` under the home, or a folder of it; only the operator's account can look in."""
    path = settings.folder / "uploads"
    path.mkdir(exist_ok=True, mode=0o700)
    for part in parts:
        path = path / part
        path.mkdir(exist_ok=True, mode=0o700)
    return path


async def keep(settings: Settings, task: str, name: str, upload: Any) -> UUID:
    """Store what was sent (anything with an async `read(size)`) under a new id; `name` tells its kind.

    Raises `Invalid` under `file` for another kind of file.
    """
    files.reader(Path(name))
    place, id = folder(settings, task), uuid.uuid4()
    sweep(place)
    await write(place / f"{id}{Path(name).suffix.lower()}", pieces(upload))
    return id


async def receive(place: Path, name: str, parts: AsyncIterable[bytes]) -> Path:
    """Store what is sent in `place` under a new id and what is plain of its name, once what is old there is gone."""
    sweep(place)
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name.replace("\\", "/").rpartition("/")[2])[-100:]
    return await write(place / f"{uuid.uuid4()}--{plain}", parts)


async def write(path: Path, parts: AsyncIterable[bytes]) -> Path:
    """Write a new file; of what ends halfway nothing stays."""
    try:
        async with await open_file(path, "xb") as file:
            async for part in parts:
                await file.write(part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


async def pieces(upload: Any) -> AsyncIterator[bytes]:
    """What was sent with a form (anything with an async `read(size)`), piece by piece."""
    while piece := await upload.read(PIECE):
        yield piece


def sweep(place: Path, now: float | None = None) -> None:
    """Throw away what has waited for more than a day."""
    for path in place.iterdir():
        if path.is_file() and (now or time.time()) - path.stat().st_mtime > KEPT:
            path.unlink(missing_ok=True)


def find(settings: Settings, task: str, id: UUID) -> Path:
    """The waiting file; `NotFound` where it was thrown away or never was."""
    found = list((settings.folder / "uploads" / task).glob(f"{id}.*"))
    if not found:
        raise errors.NotFound("This file is not here any more. Send it again.")
    return found[0]


def take(settings: Settings, path: Path) -> Path:
    """Move a waiting file to where jobs have theirs: it is no longer swept, its job deletes it."""
    return path.rename(folder(settings) / f"{uuid.uuid4()}{path.suffix}")
