"""The models of a host: found, loaded, ready, broken; loaded on demand where not all of them fit."""

import asyncio
import importlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dynabench.errors import NotFound, Problem, Unavailable
from dynabench.models import catalog, kinds
from dynabench.models.catalog import Entry
from dynabench.models.host.room import Full, Key, Room

log = logging.getLogger("dynabench.host")

READY, LOADING, UNAVAILABLE = "READY", "LOADING", "UNAVAILABLE"
ON_DEMAND = "unloaded: loads on demand"
DRAIN_SECONDS = 10.0
"""How long a model that is unloaded waits for the calls that it has."""
ROOM_SECONDS = 1.0
"""How long a model that is to be loaded waits for others to be idle."""
RETRY_SECONDS = (5, 10, 30, 60, 120, 300)
"""Seconds before a model that could not be loaded is tried again, by how often that has failed."""


@dataclass(frozen=True)
class Slot:
    """One model version of the host; `since` when (seconds since 1970) it has been in this state.

    A model that could not be loaded has `failures`, and is tried again at `retry_at` (seconds of the monotonic clock):
    a full disk, a sandbox on a busy machine or a lost network pass.
    """

    entry: Entry
    state: str
    reason: str = ""
    model: Any = None
    since: float = field(default_factory=time.time)
    failures: int = 0
    retry_at: float = 0.0

    @classmethod
    def failed(cls, entry: Entry, reason: str, failures: int) -> "Slot":
        """Return the state of a model that could not be loaded `failures` times in a row."""
        wait = RETRY_SECONDS[min(failures, len(RETRY_SECONDS)) - 1]
        return cls(entry, UNAVAILABLE, reason, failures=failures, retry_at=time.monotonic() + wait)

    @property
    def on_demand(self) -> bool:
        """Whether the next call loads it."""
        return self.state == UNAVAILABLE and self.reason == ON_DEMAND

    @property
    def retry_due(self) -> bool:
        """Whether loading it failed, and its time to be tried again has come."""
        return self.failures > 0 and self.model is None and time.monotonic() >= self.retry_at


class Repository:
    """Model versions by name; the first version of a name is what a request without a version gets.

    With a limit of `memory` in bytes, the model used longest ago that nobody waits for makes room for the next.
    """

    def __init__(self, places: list[Path] | None = None, memory: int | None = None) -> None:
        self._places = places
        self._slots: dict[Key, Slot] = {}
        self._users: Counter[Key] = Counter()
        self._used: dict[Key, float] = {}
        self._changing = asyncio.Lock()
        self._loads: dict[Key, asyncio.Task[None]] = {}
        self._retrying: asyncio.Task[None] | None = None
        self.room = Room(memory)
        self.ready = False
        self.on_unload: Callable[[Any], Awaitable[None]] | None = None
        self.on_change: Callable[[str], None] = lambda change: None

    async def start(self) -> None:
        """Load what fits; a model that is broken is listed as such and holds up nothing."""
        entries = await asyncio.to_thread(catalog.find, self._places)
        for entry in entries:
            self._slots[_key(entry)] = Slot(entry, LOADING) if entry.card else Slot(entry, UNAVAILABLE, entry.reason)
        for entry in entries:
            if entry.card:
                with suppress(Unavailable):  # it is listed with the reason
                    await self._loaded(_key(entry), evict=False)
        self.ready = True
        self._retrying = asyncio.create_task(self._retry())
        await asyncio.to_thread(self._warm)

    def _warm(self) -> None:
        """Import and make what models over the encoder will need, so that no call waits for it, nor memory grows."""
        loaded = [slot.entry.card for slot in self.slots() if slot.entry.card and slot.model is not None]
        if any(kinds.kind(card.kind).shared == "encoder" for card in loaded):
            importlib.import_module("captum.attr")
            pool = importlib.import_module("dynabench.models.backends.pool")
            pool.shared_pool().prepare(lambda: bool(self._slots))

    async def load(self, name: str) -> None:
        """Load every version of a model that the folders hold now; raises `NotFound`, or `Unavailable` if broken."""
        entries = [entry for entry in await asyncio.to_thread(catalog.find, self._places) if entry.name == name]
        if not entries:
            raise NotFound(f"No folder holds a model {name!r}.")
        for entry in entries:
            if entry.card is None:
                self._slots[_key(entry)] = Slot(entry, UNAVAILABLE, entry.reason)
            elif _key(entry) not in self._slots or self._slots[_key(entry)].model is None:
                self._slots[_key(entry)] = Slot(entry, LOADING)
                await self._bring_up(entry)
        broken = [slot.reason for slot in self._of(name) if slot.state != READY]
        if broken:
            raise Unavailable(f"{name}: {'; '.join(broken)}")

    async def unload(self, name: str) -> None:
        """Free a model's memory, after the calls it has; it stays so. Raises `NotFound` when there is none."""
        if not self._of(name):
            raise NotFound(f"There is no model {name!r}.")
        async with self._changing:
            for key in [key for key in self._slots if key[0] == name]:
                await self._free(key, "unloaded")

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

    @asynccontextmanager
    async def using(self, name: str, version: str | None = None, within: float | None = None) -> AsyncIterator[Any]:
        """A model that stays loaded meanwhile, loaded now if it is one of those that are loaded on demand.

        Raises `NotFound`; `Unavailable` when it cannot be loaded, or not `within` so many seconds.
        """
        key = _key(self.slot(name, version).entry)
        self._users[key] += 1
        try:
            if self._slots[key].on_demand or self._slots[key].state == LOADING or self._slots[key].retry_due:
                await self._soon(key, within)
            slot = self._slots[key]
            if slot.model is None:
                raise Unavailable(f"{name} cannot answer: {slot.reason or slot.state.lower()}.")
            yield slot.model
        finally:
            self._users[key] -= 1
            self._used[key] = time.monotonic()

    @property
    def held(self) -> int:
        """Bytes that models and host take."""
        return self.room.held(key for key, slot in self._slots.items() if slot.model is not None)

    async def close(self) -> None:
        """Free everything."""
        tasks = [*self._loads.values(), *([self._retrying] if self._retrying else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for slot in self.slots():
            if slot.model is not None:
                slot.model.close()
        self._slots.clear()

    def _of(self, name: str) -> list[Slot]:
        return [slot for key, slot in self._slots.items() if key[0] == name]

    async def _bring_up(self, entry: Entry) -> None:
        """Load a model that was asked for; its slot says afterwards how that went."""
        await self._loaded(_key(entry))

    async def _soon(self, key: Key, within: float | None) -> None:
        """Wait until the model is loaded; the load goes on when the caller's time is over."""
        try:
            async with asyncio.timeout(within) as limit:
                await self._loaded(key)
        except TimeoutError:
            if not limit.expired():
                raise
            raise Unavailable(f"{key[0]} is being loaded. Try again in a moment.") from None

    async def _loaded(self, key: Key, evict: bool = True) -> None:
        """Load a model, or join those who wait for it already."""
        if key not in self._loads:
            self._loads[key] = task = asyncio.create_task(self._load(key, evict))
            task.add_done_callback(lambda done: self._ended(key, done))
        await asyncio.shield(self._loads[key])

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        self._loads.pop(key, None)
        if not task.cancelled():
            task.exception()  # whoever waited has it; when all have left, nobody needs it

    async def _retry(self) -> None:
        """Load again, for as long as the host runs, what could not be loaded."""
        while True:
            await asyncio.sleep(1.0)
            for key in [key for key, slot in self._slots.items() if slot.retry_due]:
                with suppress(Problem):  # its slot says so
                    await self._loaded(key, evict=False)

    async def _load(self, key: Key, evict: bool) -> None:
        async with self._changing:
            entry, failures = self._slots[key].entry, self._slots[key].failures
            if self._slots[key].model is not None:
                return
            try:
                await self._make_room(key, evict)
            except Full as full:
                self._slots[key] = Slot(entry, UNAVAILABLE, ON_DEMAND if full.for_now else str(full))
                if not evict and full.for_now:
                    return
                log.warning("model %s %s", entry.name, full)
                self.on_change("refused")
                raise Unavailable(f"{entry.name} {full}.") from None
            self._slots[key] = Slot(entry, LOADING, failures=failures)
            self._slots[key] = await asyncio.to_thread(self._opened, entry, failures)
            self._used[key] = time.monotonic()
            self.on_change("loaded" if self._slots[key].model is not None else "failed")

    async def _make_room(self, key: Key, evict: bool) -> None:
        """Unload others until the model fits; raises `Full` when that takes those in use, or does not help."""
        size = self.room.expected(key, self._slots[key].entry)
        until = time.monotonic() + ROOM_SECONDS
        while not self.room.fits(self.held, size):
            loaded = [other for other, slot in self._slots.items() if slot.model is not None]
            if not loaded or not self.room.fits(self.room.held(()), size):
                raise Full(self.room.refusal(size), for_now=False)
            idle = [other for other in loaded if not self._users[other]]
            if idle and evict:
                await self._free(min(idle, key=lambda other: self._used.get(other, 0.0)), ON_DEMAND)
            elif not evict or time.monotonic() >= until:
                raise Full("finds the memory full of models that are being asked: try again in a moment", for_now=True)
            else:
                await asyncio.sleep(0.02)

    async def _free(self, key: Key, reason: str) -> None:
        slot = self._slots[key]
        self._slots[key] = replace(slot, state=UNAVAILABLE, reason=reason, model=None, since=time.time())
        if slot.model is None:
            return
        until = time.monotonic() + DRAIN_SECONDS
        while reason != ON_DEMAND and self._users[key] and time.monotonic() < until:
            await asyncio.sleep(0.01)
        if self.on_unload:
            await self.on_unload(slot.model)
        self.on_change("unloaded")
        closing = [slot.model]
        del slot  # so that the list has the last reference
        others = [other for other, each in self._slots.items() if each.model is not None]
        await asyncio.to_thread(self.room.freed, key, closing, others)

    def _opened(self, entry: Entry, failures: int) -> Slot:
        assert entry.card is not None
        try:
            with self.room.importing():
                kinds.kind(entry.card.kind).opener()
            with self.room.loading(_key(entry), entry):
                model = catalog.open_model(entry.folder)
            if model.card.version != entry.version:
                model.close()
                raise Unavailable(f"its folder holds version {model.card.version} now; load {entry.name} to serve it")
        except Problem as problem:
            log.warning("model %s: %s", entry.name, problem.detail)
            return Slot.failed(entry, problem.detail, failures + 1)
        except Exception as error:
            log.exception("model %s", entry.name)
            return Slot.failed(entry, f"{type(error).__name__}: {error}", failures + 1)
        return Slot(entry, READY, model=model)


def _key(entry: Entry) -> Key:
    return entry.name, entry.version
