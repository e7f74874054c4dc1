"""Watch the folders of models for changes."""

import asyncio
import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dynabench.models import catalog, spec

if TYPE_CHECKING:
    from dynabench.models.host.repository import Repository

log = logging.getLogger("dynabench.host")

LOOK_SECONDS = 1.0
"""Between two looks at the folders, which read no file."""
RETRY_SECONDS, LONGEST_RETRY = 15.0, 600.0
"""After which a model that could not be loaded is tried again, each time after twice as long."""
Marks = dict[Path, tuple[tuple[str, int, int], ...]]
"""What a model's folder holds: name, size and time of change of each file."""


def folder_marks(places: Iterable[Path] | None) -> Marks:
    """Return the marks of every model folder in `places`, by default those of the settings."""
    marks = Marks()
    for place in catalog.folders() if places is None else places:
        for folder in catalog.subfolders(place):
            try:
                marks[folder] = tuple(_files(folder))
            except OSError:
                continue  # it is being written or removed right now
    return marks


def _files(folder: Path) -> list[tuple[str, int, int]]:
    states = []
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not spec.hidden(Path(name)))
        for path in sorted(Path(place, name) for name in names):
            state = path.stat()
            states.append((str(path), state.st_size, state.st_mtime_ns))
    return states


class Watch:
    """Has a repository load what its folders hold, and try again what could not be loaded."""

    def __init__(self, repository: "Repository", places: list[Path] | None) -> None:
        self._repository = repository
        self._places = places
        self._marks: Marks = {}
        self._retries: dict[tuple[str, str], tuple[float, float]] = {}

    async def begin(self) -> None:
        """Note what there is before the repository reads it, so that nothing comes in between unseen."""
        self._marks = await asyncio.to_thread(folder_marks, self._places)

    async def run(self) -> None:
        """Look every `LOOK_SECONDS`, until cancelled. A folder counts once it has not changed between two looks."""
        before = self._marks
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                now = await asyncio.to_thread(folder_marks, self._places)
                changed = {folder for folder in now if now[folder] != self._marks.get(folder)}
                settled = {folder for folder in changed if now[folder] == before.get(folder)}
                before = now
                for gone in self._marks.keys() - now.keys():
                    del self._marks[gone]
                    self._repository.forget(gone)
                if settled:
                    await self._adopt(settled)
                    self._marks |= {folder: now[folder] for folder in settled}
                await self._retry()
            except Exception:
                log.exception("the folders of models could not be looked through")

    async def _adopt(self, folders: set[Path]) -> None:
        entries = await asyncio.to_thread(catalog.find, self._places)
        for entry in entries:
            if entry.folder in folders:
                try:
                    await self._repository.adopt(entry)
                except Exception:
                    log.exception("the model in %s", entry.folder)

    async def _retry(self) -> None:
        """Load again what was refused or failed: memory may have become free, an address may answer by now.

        A folder that could not be read is looked into first, which is quick where it is as it was.
        """
        broken = self._repository.failed()
        self._retries = {key: due for key, due in self._retries.items() if key in broken}
        sound = set()
        for key, entry in broken.items():
            at, pause = self._retries.setdefault(key, (time.monotonic() + RETRY_SECONDS, RETRY_SECONDS))
            if time.monotonic() < at:
                continue
            pause = min(2 * pause, LONGEST_RETRY)
            self._retries[key] = time.monotonic() + pause, pause
            if entry.card is not None or (await asyncio.to_thread(catalog.read_entry, entry.folder)).card is not None:
                sound.add(entry.folder)
        if sound:
            await self._adopt(sound)
