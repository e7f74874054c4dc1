"""Files that were sent on a page and wait until somebody has said which column is what.

They lie under `uploads/<task>/`, named by a random id, so that a file is found only by owners of its task; what nobody
came back to is thrown away after a day.
"""

import os
import re
import shutil
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

from anyio import open_file

from dynabench.intake import reader
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

KEPT = 24 * 3600  # seconds
PIECE = 1024 * 1024
UNPACKED = (".hub-", ".unzipped-")
"""How folders below `uploads` begin that hold what was downloaded or unpacked; no task is called so."""


def folder(settings: Settings, *parts: str) -> Path:
    """`uploads` under the home, or a folder of it; only the operator's account can look in."""
    path = settings.folder / "uploads"
    path.mkdir(exist_ok=True, mode=0o700)
    for part in parts:
        path = path / part
        path.mkdir(exist_ok=True, mode=0o700)
    return path


async def keep(settings: Settings, task: str, name: str, upload: Any, zipped: tuple[str, ...] = ()) -> UUID:
    """Store what was sent (anything with an async `read(size)`) under a new id; `name` tells its kind.

    Raises `Invalid` under `file` for another kind of file; endings in `zipped` are taken besides.
    """
    ending = Path(name).suffix.lower() if name.lower().endswith(zipped) else reader.ending_of_file(name)
    place, id = folder(settings, task), uuid.uuid4()
    sweep(place)
    await write(place / f"{id}{ending}", pieces(upload))
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
    """Yield the data sent with a form (anything with an async `read(size)`), piece by piece."""
    while piece := await upload.read(PIECE):
        yield piece


def sweep(place: Path, now: float | None = None) -> None:
    """Throw away what has waited for more than a day."""
    for path in old(place, now):
        remove(path)


def old(place: Path, now: float | None = None) -> list[Path]:
    """Files in a folder, and folders that something was unpacked to, that are more than a day old."""
    ours = [path for path in place.iterdir() if path.is_file() or path.name.startswith(UNPACKED)]
    return [path for path in ours if (now or time.time()) - path.stat().st_mtime > KEPT]


def remove(path: Path) -> None:
    """Throw away a file, or a folder with all that is in it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def find(settings: Settings, task: str, id: UUID) -> Path:
    """The waiting file; `NotFound` where it was thrown away or never was."""
    found = list((settings.folder / "uploads" / task).glob(f"{id}.*"))
    if not found:
        raise errors.NotFound(_("This file is not here any more. Send it again."))
    return found[0]


def take(settings: Settings, path: Path) -> Path:
    """Move a waiting file to where jobs have theirs: its job deletes it. Its age counts from now on, so that it is not
    taken for one that no row names before the row is there."""
    os.utime(path)
    return path.rename(folder(settings) / path.name)
