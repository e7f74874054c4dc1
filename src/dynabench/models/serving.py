"""The check that the hosts serve a round's models: each host that has a model must have it warm.

Models that are missing are loaded.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from dynabench.kit import errors
from dynabench.kit.language import _, joined
from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.models.host.wire import UNLOADED
from dynabench.models.host_connection import HostConnection, Key

RETRY_SECONDS = 3
"""After which a refused opening is worth another try."""


@dataclass(frozen=True)
class AwaitedModel:
    """A model version that is not served yet: where (a host's address, empty for all of them), and why."""

    name: str
    version: str
    where: str
    why: str


class NotServed(errors.Unavailable):
    """A round's models are not all served yet; the hosts are loading them."""

    @classmethod
    def of(cls, awaited: Sequence[AwaitedModel]) -> Self:
        """The refusal, which names each model and what it waits for."""
        models = joined("; ", (_("%(name)s: %(why)s", name=model.name, why=model.why) for model in awaited))
        return cls(
            _("The round cannot open yet, because not all its models are served. %(models)s. Try "
              "again in a moment.",
              models=models),
            retry_after=RETRY_SECONDS,
        )  # fmt: skip


async def awaited(host: Host, targets: Iterable[Key], load: bool = True) -> list[AwaitedModel]:
    """Return what `targets` (names and versions) still wait for; with `load`, hosts that lack one are asked to load it.

    A model is served by a host that has it loaded. Where not all models of the round fit into
    the host's memory, those count as well that were loaded there and made room for the others.

    A host that has no folder of a model, or whose operator unloaded it, does not count for that model. Nor does a host
    that does not answer: nobody is sent there, and one that is gone for good must not keep rounds from opening. Raises
    `Unavailable` when no host can be reached.
    """
    keys = list(dict.fromkeys(targets))
    if not keys:
        return []
    connections = await host.reachable()
    if load:
        names = {name for name, _version in keys}
        loads = {(connection, key[0]): beside for connection in connections for key in keys
                 if (beside := _to_load(connection, key, names)) is not None}  # fmt: skip
        if loads:
            await asyncio.gather(
                *(connection.load(name, host.timeout, beside) for (connection, name), beside in loads.items())
            )
            connections = await host.reachable()
    awaited_models = []
    for key in keys:
        having = [
            connection
            for connection in connections
            if key in connection.states and connection.states[key].reason != UNLOADED
        ]
        whys = [(connection.url, why) for connection in having if (why := _why(connection, key))]
        if not having:
            whys = [("", _("no model host has it"))]
        awaited_models += [AwaitedModel(*key, where, why) for where, why in whys]
    return awaited_models


async def require(host: Host, targets: Iterable[Key]) -> None:
    """Raise `NotServed` unless all hosts that have these models serve them."""
    if missing := await awaited(host, targets):
        raise NotServed.of(missing)


def opening_refusal(settings: Settings, targets: Iterable[Key]) -> errors.Unavailable | None:
    """Return why a round cannot open yet, for jobs and commands: `NotServed`, or another `Unavailable` when no host
    answers; None once it can."""

    async def ask() -> errors.Unavailable | None:
        host = Host.of(settings)
        try:
            missing = await awaited(host, targets)
            return NotServed.of(missing) if missing else None
        except errors.Unavailable as problem:
            return problem
        finally:
            await host.close()

    return asyncio.run(ask())


def _to_load(connection: HostConnection, key: Key, names: Collection[str]) -> Collection[str] | None:
    """The models beside which the host is to load one, None where it is not to load it.

    One that was never loaded may take the place of any other, so that each has been loaded once. After that those of
    one round do not drive each other out.
    """
    state = connection.states.get(key)
    if state is not None and (state.reason == UNLOADED or (state.state == "READY" and not state.cold)):
        return None
    return () if state is None or state.cold else names


def _why(connection: HostConnection, key: Key) -> str:
    """Return the reason why the host does not serve a model; empty where it serves the model."""
    state = connection.states.get(key)
    if state is None:
        return _("it is not loaded")
    if state.available:
        return _("it is being loaded") if state.cold else ""
    return _("it is being loaded") if state.state == "LOADING" else state.reason or _("it is not available")
