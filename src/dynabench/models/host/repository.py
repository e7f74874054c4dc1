"""The models of a host: loaded, served, unloaded, and the folder watched for new ones."""

import asyncio
import importlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dynabench.kit.errors import NotFound, Problem, Unavailable
from dynabench.models import catalog, kinds
from dynabench.models.catalog import Entry
from dynabench.models.host.folder_watch import Watch
from dynabench.models.host.memory import Full, Key, MemoryAccount
from dynabench.models.host.wire import UNLOADED

log = logging.getLogger("dynabench.host")


READY, LOADING, UNAVAILABLE = "READY", "LOADING", "UNAVAILABLE"
ON_DEMAND = "unloaded: loads on demand"
FIRST_CALL = "it answers its first call"
DRAIN_SECONDS = 10.0
"""How long a model that is unloaded waits for the calls that it has."""
START_SECONDS = 5.0
"""After which a start that failed as a whole is tried again."""
ROOM_SECONDS = 1.0
"""How long a model that is to be loaded waits for others to be idle."""


@dataclass(frozen=True)
class Slot:
    """One model version of the host; `since` when (seconds since 1970) it has been in this state."""

    entry: Entry
    state: str
    reason: str = ""
    model: Any = None
    since: float = field(default_factory=time.time)

    @property
    def on_demand(self) -> bool:
        """True if the next call loads the model."""
        return self.state == UNAVAILABLE and self.reason == ON_DEMAND


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
        self._watch = Watch(self, places)
        self.memory = MemoryAccount(memory)
        self.ready = False
        self.on_load: Callable[[Any], Awaitable[None]] | None = None
        self.on_unload: Callable[[Any], Awaitable[None]] | None = None
        self.on_change: Callable[[str], None] = lambda change: None

    async def run(self) -> None:
        """Load everything, then what comes into the folders later, until cancelled."""
        while not self.ready:
            try:
                await self._watch.begin()
                await self.start()
            except Exception:
                log.exception("the models could not be loaded; they are tried again")
                await asyncio.sleep(START_SECONDS)
        await self._watch.run()

    async def start(self) -> None:
        """Load what fits; a model that is broken is listed as such and holds up nothing."""
        entries = await asyncio.to_thread(catalog.find, self._places)
        for entry in entries:
            slot = Slot(entry, LOADING) if entry.card else Slot(entry, UNAVAILABLE, entry.reason)
            self._slots.setdefault(_key(entry), slot)
        for entry in entries:
            if entry.card:
                with suppress(Unavailable):  # it is listed with the reason
                    await self._loaded(_key(entry), evict=False)
        self.ready = True
        try:
            await asyncio.to_thread(self._warm)
        except Exception:
            log.exception("the models' libraries could not be loaded beforehand")

    def _warm(self) -> None:
        """Import and make what models over the encoder will need, so that no call waits for it, nor memory grows."""
        loaded = [slot.entry.card for slot in self.slots() if slot.entry.card and slot.model is not None]
        if any(kinds.kind(card.kind).shared == "encoder" for card in loaded):
            importlib.import_module("captum.attr")
            pool = importlib.import_module("dynabench.models.backends.pool")
            pool.shared_pool().prepare(lambda: bool(self._slots))

    async def load(self, name: str, beside: Collection[str] | None = None) -> None:
        """Load every version of a model that the folders hold now; raises `NotFound`, or `Unavailable` if broken.

        `beside` is for those who are no operators, such as a round that opens: models of these names do not make room
        for it, and what an operator unloaded stays so.
        """
        entries = [entry for entry in await asyncio.to_thread(catalog.find, self._places) if entry.name == name]
        if not entries:
            raise NotFound(f"No folder holds a model {name!r}.")
        for entry in entries:
            slot = self._slots.get(_key(entry))
            if beside is not None and slot is not None and slot.reason == UNLOADED:
                continue
            if entry.card is None:
                self._slots[_key(entry)] = Slot(entry, UNAVAILABLE, entry.reason)
            elif slot is None or slot.state != READY:
                if slot is None or slot.model is None:
                    self._slots[_key(entry)] = Slot(entry, LOADING)
                await self._bring_up(entry, beside=beside or ())
        broken = [slot.reason for slot in self._versions(name) if slot.state != READY]
        if broken:
            raise Unavailable(f"{name}: {'; '.join(broken)}")

    async def unload(self, name: str) -> None:
        """Free a model's memory, after the calls it has; it stays so. Raises `NotFound` when there is none."""
        if not self._versions(name):
            raise NotFound(f"There is no model {name!r}.")
        async with self._changing:
            for key in [key for key in self._slots if key[0] == name]:
                await self._free(key, UNLOADED)

    async def adopt(self, entry: Entry) -> None:
        """Load what a folder holds that came or changed, or that failed before; a broken one is listed with the reason.

        What is served stays as it is, and so does what an operator unloaded.
        """
        self.forget(entry.folder, but=entry.version if entry.card else None)
        slot = self._slots.get(_key(entry))
        if entry.card is None:
            self._slots.setdefault(_key(entry), Slot(entry, UNAVAILABLE, entry.reason))
        elif slot is None or (slot.state == UNAVAILABLE and slot.reason not in (UNLOADED, ON_DEMAND)):
            self._slots[_key(entry)] = Slot(entry, LOADING)
            with suppress(Unavailable):  # it is listed with the reason
                await self._bring_up(entry, evict=False)

    def forget(self, folder: Path, but: str | None = None) -> None:
        """Strike off the list what a folder held before and is not loaded: a broken model, an older version."""
        for key, slot in list(self._slots.items()):
            idle = slot.state == UNAVAILABLE and key not in self._loads
            if slot.entry.folder == folder and idle and key[1] != but:
                del self._slots[key]

    def failed(self) -> dict[Key, Entry]:
        """Models that could not be loaded, and folders that could not be read."""
        return {
            key: slot.entry
            for key, slot in self._slots.items()
            if slot.state == UNAVAILABLE and slot.reason not in (UNLOADED, ON_DEMAND)
        }

    def slots(self) -> list[Slot]:
        """All model versions by name."""
        return list(self._slots.values())

    def slot(self, name: str, version: str | None = None) -> Slot:
        """One model version, loaded or not; raises `NotFound` with what is served."""
        for slot in self._versions(name):
            if version in (None, slot.entry.version):
                return slot
        served = ", ".join(slot.entry.version for slot in self._versions(name))
        missing = f"version {version} of {name}; served: {served}" if served else f"{name}"
        raise NotFound(f"This host does not serve {missing}.")

    @asynccontextmanager
    async def using(self, name: str, version: str | None = None, within: float | None = None) -> AsyncIterator[Any]:
        """A model that stays loaded meanwhile, loaded now if it is one of those that are loaded on demand.

        Raises `NotFound`; `Unavailable` when it cannot be loaded, or not `within` so many seconds.
        """
        key = _key(self.slot(name, version).entry)
        self._users[key] += 1
        try:
            if self._slots[key].on_demand or self._slots[key].state == LOADING:
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
        return self.memory.held(key for key, slot in self._slots.items() if slot.model is not None)

    async def close(self) -> None:
        """Free everything."""
        for task in self._loads.values():
            task.cancel()
        await asyncio.gather(*self._loads.values(), return_exceptions=True)
        for slot in self.slots():
            if slot.model is not None:
                slot.model.close()
        self._slots.clear()

    def _versions(self, name: str) -> list[Slot]:
        return [slot for key, slot in self._slots.items() if key[0] == name]

    async def _bring_up(self, entry: Entry, evict: bool = True, beside: Collection[str] = ()) -> None:
        """Load a model that was asked for; its slot says afterwards how that went."""
        await self._loaded(_key(entry), evict, beside)

    async def _soon(self, key: Key, within: float | None) -> None:
        """Wait until the model is loaded; the load goes on when the caller's time is over."""
        try:
            async with asyncio.timeout(within) as limit:
                await self._loaded(key)
        except TimeoutError:
            if not limit.expired():
                raise
            raise Unavailable(f"{key[0]} is being loaded. Try again in a moment.") from None

    async def _loaded(self, key: Key, evict: bool = True, beside: Collection[str] = ()) -> None:
        """Load a model, or join those who wait for it already."""
        if key not in self._loads:
            self._loads[key] = task = asyncio.create_task(self._load(key, evict, beside))
            task.add_done_callback(lambda done: self._ended(key, done))
        await asyncio.shield(self._loads[key])

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        self._loads.pop(key, None)
        if not task.cancelled():
            task.exception()  # a caller that waited has it; when all have left, none needs it

    async def _load(self, key: Key, evict: bool, beside: Collection[str]) -> None:
        async with self._changing:
            if self._slots[key].model is not None:
                return
            try:
                await self._load_alone(key, evict, beside)
            except Exception as error:
                if isinstance(error, Problem):
                    raise
                log.exception("model %s", key[0])
                slot, reason = self._slots[key], f"{type(error).__name__}: {error}"
                self._slots[key] = replace(slot, state=READY if slot.model else UNAVAILABLE, reason=reason)
                raise Unavailable(f"{key[0]} could not be loaded: {reason}.") from error

    async def _load_alone(self, key: Key, evict: bool, beside: Collection[str]) -> None:
        entry = self._slots[key].entry
        try:
            await self._make_room(key, evict, beside)
        except Full as full:
            self._slots[key] = Slot(entry, UNAVAILABLE, ON_DEMAND if full.for_now else str(full))
            if not evict and full.for_now:
                return
            log.warning("model %s %s", entry.name, full)
            self.on_change("refused")
            raise Unavailable(f"{entry.name} {full}.") from None
        self._slots[key] = Slot(entry, LOADING)
        opened = await asyncio.to_thread(self._opened, entry)
        if opened.model is not None and self.on_load is not None:
            self._slots[key] = replace(opened, state=LOADING, reason=FIRST_CALL)
            await self.on_load(opened.model)
        self._slots[key] = replace(opened, since=time.time())
        self._used[key] = time.monotonic()
        self.on_change("loaded" if self._slots[key].model is not None else "failed")

    async def _make_room(self, key: Key, evict: bool, beside: Collection[str]) -> None:
        """Unload others, but none of the names in `beside`, until the model fits; raises `Full` when that takes those
        in use, or does not help."""
        size = self.memory.expected(key, self._slots[key].entry)
        until = time.monotonic() + ROOM_SECONDS
        while not self.memory.fits(self.held, size):
            loaded = [other for other, slot in self._slots.items() if slot.model is not None]
            if not loaded or not self.memory.fits(self.memory.held(()), size):
                raise Full(self.memory.refusal(size), for_now=False)
            idle = [other for other in loaded if not self._users[other] and other[0] not in beside]
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
        others = [other for other, other_slot in self._slots.items() if other_slot.model is not None]
        await asyncio.to_thread(self.memory.freed, key, closing, others)

    def _opened(self, entry: Entry) -> Slot:
        assert entry.card is not None
        try:
            with self.memory.importing():
                kinds.kind(entry.card.kind).opener()
            with self.memory.loading(_key(entry), entry):
                model: Any = catalog.open_model(entry.folder)
            if model.card.version != entry.version:
                model.close()
                raise Unavailable(f"its folder holds version {model.card.version} now")
        except Problem as problem:
            log.warning("model %s: %s", entry.name, problem.detail)
            return Slot(entry, UNAVAILABLE, problem.detail)
        except BaseException as error:  # a library in Rust panics with one
            log.exception("model %s", entry.name)
            return Slot(entry, UNAVAILABLE, f"{type(error).__name__}: {error}")
        return Slot(entry, READY, model=model)


def _key(entry: Entry) -> Key:
    return entry.name, entry.version
