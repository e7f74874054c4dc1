"""The models of a host: found, loaded, ready, broken."""

import asyncio
import importlib
import logging
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dynabench.errors import NotFound, Problem, Unavailable
from dynabench.models import catalog
from dynabench.models.catalog import Entry

log = logging.getLogger("dynabench.host")

READY, LOADING, UNAVAILABLE = "READY", "LOADING", "UNAVAILABLE"


@dataclass(frozen=True)
class Slot:
    """One model version of the host."""

    entry: Entry
    state: str
    reason: str = ""
    model: Any = None


class Repository:
    """Model versions by name; the first version of a name is what a request without a version gets."""

    def __init__(self, places: list[Path] | None = None) -> None:
        self._places = places
        self._slots: dict[tuple[str, str], Slot] = {}
        self._loading = threading.Lock()
        self.ready = False

    async def start(self) -> None:
        """Load everything; a model that is broken is listed as such and holds up nothing."""
        for entry in await asyncio.to_thread(catalog.find, self._places):
            await self._load(entry)
        self.ready = True
        await asyncio.to_thread(self._warm)

    def _warm(self) -> None:
        """Import what only explanations on demand need, so that the first of them need not wait for it."""
        if any(slot.entry.card and slot.entry.card.kind != "ngram" for slot in self.slots()):
            importlib.import_module("captum.attr")

    async def load(self, name: str) -> None:
        """Load every version of a model that the folders hold now; raises `NotFound`, or `Unavailable` if broken."""
        entries = [entry for entry in await asyncio.to_thread(catalog.find, self._places) if entry.name == name]
        if not entries:
            raise NotFound(f"No folder holds a model {name!r}.")
        for entry in entries:
            await self._load(entry)
        broken = [slot.reason for slot in self._of(name) if slot.state != READY]
        if broken:
            raise Unavailable(f"{name}: {'; '.join(broken)}")

    def unload(self, name: str) -> None:
        """Free a model's memory; raises `NotFound` when there is none of the name."""
        if not self._of(name):
            raise NotFound(f"There is no model {name!r}.")
        for key, slot in list(self._slots.items()):
            if key[0] == name and slot.model is not None:
                self._slots[key] = replace(slot, state=UNAVAILABLE, reason="unloaded", model=None)
                slot.model.close()

    def slots(self) -> list[Slot]:
        """All model versions by name."""
        return list(self._slots.values())

    def slot(self, name: str, version: str | None = None) -> Slot:
        """One model version, loaded or not; raises `NotFound` with what is served."""
        for slot in self._of(name):
            if version in (None, slot.entry.version):
                return slot
        served = ", ".join(slot.entry.version for slot in self._of(name))
        known = f"version {version} of {name}; served: {served}" if served else f"{name}"
        raise NotFound(f"This host does not serve {known}.")

    def model(self, name: str, version: str | None = None) -> Any:
        """A model that is ready; raises `NotFound` or `Unavailable`."""
        slot = self.slot(name, version)
        if slot.model is None:
            raise Unavailable(f"{name} cannot answer: {slot.reason or slot.state.lower()}.")
        return slot.model

    def close(self) -> None:
        """Free everything."""
        for name in {key[0] for key in self._slots}:
            self.unload(name)

    def _of(self, name: str) -> list[Slot]:
        return [slot for key, slot in self._slots.items() if key[0] == name]

    async def _load(self, entry: Entry) -> None:
        key = (entry.name, entry.version)
        if key in self._slots and self._slots[key].state == READY:
            return
        self._slots[key] = Slot(entry, LOADING)
        if entry.card is None:
            self._slots[key] = Slot(entry, UNAVAILABLE, entry.reason)
        else:
            self._slots[key] = await asyncio.to_thread(self._opened, entry)

    def _opened(self, entry: Entry) -> Slot:
        try:
            with self._loading:
                model = catalog.open_model(entry.folder)
        except Problem as problem:
            log.warning("model %s: %s", entry.name, problem.detail)
            return Slot(entry, UNAVAILABLE, problem.detail)
        except Exception as error:
            log.exception("model %s", entry.name)
            return Slot(entry, UNAVAILABLE, f"{type(error).__name__}: {error}")
        return Slot(entry, READY, model=model)
