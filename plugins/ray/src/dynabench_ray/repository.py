"""The host's models, when they run on Ray: one Serve application for all models that share batches."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ray import serve
from ray.serve.schema import ApplicationStatus, ReplicaState

from dynabench.kit.errors import NotFound, Problem, Unavailable
from dynabench.models import catalog, kinds
from dynabench.models.catalog import Entry
from dynabench.models.host.compute_threads import Threads
from dynabench.models.host.repository import FIRST_CALL, LOADING, READY, UNAVAILABLE, Repository, Slot
from dynabench.models.host.wire import UNLOADED
from dynabench.models.protocol import ModelCard
from dynabench_ray.replica import Key, Replica
from dynabench_ray.scale import Scale

log = logging.getLogger(__name__)

PATIENCE = 120.0
"""Seconds that a start and a load wait for the cluster; it goes on afterwards, and the models say what they await."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at an application that is being deployed."""
SERVE_SECONDS = 300.0
"""Seconds after which a function of Ray Serve is not expected to return."""
CHECK_SECONDS = 15.0
"""Seconds between two looks at whether the cluster still has the applications."""


class Remote:
    """One model of an application: its card, and the handle that calls go through."""

    def __init__(self, card: ModelCard, handle: Any) -> None:
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
        self._deploys: dict[str, asyncio.Task[None]] = {}
        self._calls = Threads(1, "serve")
        self._calling = asyncio.Lock()

    async def run(self) -> None:
        """Deploy everything, then what comes into the folders later and what the cluster lost, until cancelled."""
        looking = asyncio.create_task(self._look_after())
        try:
            await super().run()
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)

    async def start(self) -> None:
        """Deploy everything; a model that is broken is listed as such and holds up nothing."""
        entries = await asyncio.to_thread(catalog.find, self._places)
        for entry in entries:
            self._slots[entry.name, entry.version] = (
                Slot(entry, LOADING) if entry.card else Slot(entry, UNAVAILABLE, entry.reason)
            )
        applications = {_application(entry) for entry in entries if entry.card}
        deploys = [self._deploy(name, [e for e in entries if _application(e) == name]) for name in applications]
        if deploys:
            await asyncio.wait(deploys, timeout=PATIENCE)
        self.ready = True

    async def unload(self, name: str) -> None:
        """Take a model off the cluster; raises `NotFound` when there is none of the name."""
        if not self._versions(name):
            raise NotFound(f"There is no model {name!r}.")
        for slot in self._versions(name):
            key, application = (name, slot.entry.version), _application(slot.entry)
            self._slots[key] = replace(slot, state=UNAVAILABLE, reason=UNLOADED, model=None)
            if self._folders[application].pop(key, None) is None:
                continue
            if self._folders[application]:
                await self._in_turn(self._run, application)
            else:
                await self._in_turn(serve.delete, application)

    async def close(self) -> None:
        """End the applications."""
        for task in self._deploys.values():
            task.cancel()
        await asyncio.gather(*self._deploys.values(), return_exceptions=True)
        for application, folders in self._folders.items():
            if folders:
                await self._in_turn(serve.delete, application)
        self._folders.clear()
        self._calls.close(wait=False)

    async def _bring_up(self, entry: Entry, evict: bool = True, beside: Collection[str] = ()) -> None:
        """Deploy a model; one that nobody asked for, and that a running replica cannot open, is left out, since its
        deployment would replace the replicas of all models of the application."""
        if not evict and (reason := await self._trial(entry)):
            self._slots[entry.name, entry.version] = Slot(entry, UNAVAILABLE, reason)
            return
        await asyncio.wait([self._deploy(_application(entry), [entry])], timeout=PATIENCE)

    async def _trial(self, entry: Entry) -> str:
        """Return the reason why a replica cannot open the model's folder; empty where it can, or no replica runs."""
        application = _application(entry)
        running = [slot for slot in self.slots() if slot.model is not None and _application(slot.entry) == application]
        if not running:
            return ""
        try:
            async with asyncio.timeout(PATIENCE):
                handle = running[0].model.handle.options(method_name="trial")
                return str(await handle.remote(str(entry.folder.resolve())))
        except Exception:
            log.exception("application %s", application)
            return ""

    async def _look_after(self) -> None:
        """Deploy again what the cluster no longer has, as after its restart."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                existing = (await self._in_turn(serve.status)).applications
            except Exception:
                log.exception("Ray does not say what it runs")
                continue
            lost: dict[str, list[Entry]] = defaultdict(list)
            for slot in self.slots():
                application = _application(slot.entry)
                if slot.state == READY and application not in existing and application not in self._deploys:
                    lost[application].append(slot.entry)
            for application, entries in lost.items():
                log.warning("application %s is gone from the cluster and is deployed again", application)
                self._deploy(application, entries)

    async def _load(self, key: Key, evict: bool, beside: Collection[str]) -> None:
        """Wait for the deployment of the model's application."""
        application = _application(self._slots[key].entry)
        if application in self._deploys:
            await asyncio.shield(self._deploys[application])

    def _deploy(self, application: str, entries: list[Entry]) -> asyncio.Task[None]:
        """Add models to an application; its replicas are replaced one by one, so that it answers all the while."""
        before = self._deploys.get(application)
        task = self._deploys[application] = asyncio.create_task(self._deployed(application, entries, before))
        task.add_done_callback(
            lambda done: self._deploys.pop(application) if self._deploys.get(application) is done else None
        )
        return task

    async def _deployed(self, application: str, entries: list[Entry], before: asyncio.Task[None] | None) -> None:
        """Deploy and wait, however long, until the cluster runs it; slots tell meanwhile what is awaited."""
        if before is not None:
            await asyncio.wait([before])
        for entry in entries:
            self._slots[entry.name, entry.version] = Slot(entry, LOADING)
            self._folders[application][entry.name, entry.version] = str(entry.folder.resolve())
        try:
            replaced = application in (await self._in_turn(serve.status)).applications
            handle = await self._in_turn(self._run, application)
            await self._until_running(application, entries, replaced)
            broken: dict[Key, str] = await handle.broken.remote()
        except Exception as error:
            log.exception("application %s", application)
            reason = error.detail if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
            broken, handle = {(e.name, e.version): reason for e in entries}, None
        for entry in entries:
            key = entry.name, entry.version
            if key in broken or entry.card is None:
                self._folders[application].pop(key, None)
                self._slots[key] = Slot(entry, UNAVAILABLE, broken.get(key, entry.reason))
            else:
                remote = Remote(entry.card, handle)
                if self.on_load is not None:
                    self._slots[key] = Slot(entry, LOADING, FIRST_CALL)
                    await self.on_load(remote)
                self._slots[key] = Slot(entry, READY, model=remote)
        if handle is None and not self._folders[application]:
            with suppress(Exception):  # there may be nothing to delete
                await self._in_turn(serve.delete, application)

    async def _until_running(self, application: str, entries: list[Entry], replaced: bool) -> None:
        """Wait until a replica runs, or all of them where older ones are `replaced`.

        Raises `Unavailable` with the cluster's reason when it gives up.
        """
        while True:
            seen = (await self._in_turn(serve.status)).applications.get(application)
            if seen is not None:
                if seen.status == ApplicationStatus.RUNNING:
                    return
                if seen.status in (ApplicationStatus.DEPLOY_FAILED, ApplicationStatus.UNHEALTHY):
                    raise Unavailable(f"Ray could not run it: {_excerpt(seen.message)}")
                deployments = list(seen.deployments.values())
                running = sum(item.replica_states.get(ReplicaState.RUNNING, 0) for item in deployments)
                if running and not replaced:
                    return
                message = next((item.message for item in deployments if item.message), seen.message)
                self._await(entries, f"waits for Ray: {running} of {self._scale.least} replicas run. {message}")
            await asyncio.sleep(LOOK_SECONDS)

    def _await(self, entries: list[Entry], reason: str) -> None:
        """Tell in the models' slots what they wait for."""
        for entry in entries:
            key = entry.name, entry.version
            if self._slots[key].reason != reason:
                self._slots[key] = replace(self._slots[key], reason=_excerpt(reason))

    async def _in_turn(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function of Serve in a thread, and no other one beside it; raises `Unavailable` when it hangs.

        Serve's registry of modules that are pickled by value is not safe for threads: `run` fails beside `status`.
        """
        async with self._calling:
            future = self._calls.submit(function, *args)
            if not await self._calls.wait_for(future, SERVE_SECONDS):
                raise Unavailable(f"Ray Serve has not answered for {SERVE_SECONDS:g} s")
            return future.result()

    def _run(self, application: str) -> Any:
        """Hand the application to the cluster, without waiting until there is room for it."""
        deployment = serve.deployment(Replica).options(name="replica", **self._scale.options())
        bound = deployment.bind(dict(self._folders[application]))
        target = serve.RunTarget(bound, name=application, route_prefix=None)
        return serve.run_many([target], wait_for_applications_running=False)[0]


def _excerpt(message: str) -> str:
    return " ".join(message.split())[:500]


def _application(entry: Entry) -> str:
    """Models that share batches share an application, and so one encoder in each replica's memory."""
    if entry.card is None:
        return ""
    shared = kinds.kind(entry.card.kind).shared
    return f"dynabench-{shared}" if shared else f"dynabench-{entry.name}-{entry.version}"
