"""The host's models, when they run on Ray: one Serve application for all models that share batches."""

import asyncio
import logging
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from ray import serve

from dynabench.errors import NotFound
from dynabench.models import catalog, kinds
from dynabench.models.catalog import Entry
from dynabench.models.cluster.replica import Key, Replica
from dynabench.models.cluster.scale import Scale
from dynabench.models.host.repository import LOADING, READY, UNAVAILABLE, Repository, Slot
from dynabench.models.protocol import Card

log = logging.getLogger(__name__)


class Remote:
    """One model of an application: its card, and the handle that calls go through."""

    def __init__(self, card: Card, handle: Any) -> None:
        self.card = card
        self.key: Key = (card.name, card.version)
        self.handle = handle

    def close(self) -> None:
        """Actors end with their application."""


class Applications(Repository):
    """Deploys the models of the given places on the cluster that this process is connected to."""

    def __init__(self, places: list[Path] | None = None, scale: Scale | None = None) -> None:
        super().__init__(places)
        self._scale = scale or Scale()
        self._folders: dict[str, dict[Key, str]] = defaultdict(dict)

    async def start(self) -> None:
        """Deploy everything; a model that is broken is listed as such and holds up nothing."""
        entries = await asyncio.to_thread(catalog.find, self._places)
        for application in {_application(entry) for entry in entries if entry.card}:
            await self._deploy(application, [entry for entry in entries if _application(entry) == application])
        for entry in entries:
            if entry.card is None:
                self._slots[entry.name, entry.version] = Slot(entry, UNAVAILABLE, entry.reason)
        self.ready = True

    async def unload(self, name: str) -> None:
        """Take a model off the cluster; raises `NotFound` when there is none of the name."""
        if not self._of(name):
            raise NotFound(f"There is no model {name!r}.")
        for slot in self._of(name):
            key, application = (name, slot.entry.version), _application(slot.entry)
            if self._folders[application].pop(key, None) is None:
                continue
            self._slots[key] = replace(slot, state=UNAVAILABLE, reason="unloaded", model=None)
            if self._folders[application]:
                await asyncio.to_thread(self._run, application)
            else:
                await asyncio.to_thread(serve.delete, application)

    async def close(self) -> None:
        """End the applications."""
        for application, folders in self._folders.items():
            if folders:
                await asyncio.to_thread(serve.delete, application)
        self._folders.clear()

    async def _bring_up(self, entry: Entry, evict: bool = True) -> None:
        await self._deploy(_application(entry), [entry])

    async def _deploy(self, application: str, entries: list[Entry]) -> None:
        """Add models to an application; its replicas are replaced one by one, so that it answers all the while."""
        for entry in entries:
            self._slots.setdefault((entry.name, entry.version), Slot(entry, LOADING))
            self._folders[application][entry.name, entry.version] = str(entry.folder.resolve())
        try:
            handle = await asyncio.to_thread(self._run, application)
            broken: dict[Key, str] = await handle.broken.remote()
        except Exception as error:
            log.exception("application %s", application)
            broken, handle = {(e.name, e.version): f"{type(error).__name__}: {error}" for e in entries}, None
        for entry in entries:
            key = entry.name, entry.version
            if key in broken or entry.card is None:
                self._folders[application].pop(key)
                self._slots[key] = Slot(entry, UNAVAILABLE, broken.get(key, entry.reason))
            else:
                self._slots[key] = Slot(entry, READY, model=Remote(entry.card, handle))

    def _run(self, application: str) -> Any:
        deployment = serve.deployment(Replica).options(name="replica", **self._scale.options())
        bound = deployment.bind(dict(self._folders[application]))
        return serve.run(bound, name=application, route_prefix=None)


def _application(entry: Entry) -> str:
    """Models that share batches share an application, and so one encoder in each replica's memory."""
    if entry.card is None:
        return ""
    shared = kinds.kind(entry.card.kind).shared
    return f"dynabench-{shared}" if shared else f"dynabench-{entry.name}-{entry.version}"
