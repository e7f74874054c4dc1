"""Whether the hosts serve the models of a round: each of those that have a model, warm. What is missing is loaded."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from dynabench import errors
from dynabench.language import _, joined
from dynabench.models.client import Host
from dynabench.models.reach import Key, Reach
from dynabench.settings import Settings

RETRY_SECONDS = 3
"""After which a refused opening is worth another try."""
_UNLOADED = "unloaded"


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
        models = joined("; ", (_("%(name)s: %(why)s", name=each.name, why=each.why) for each in awaited))
        return cls(
            _("The round cannot open yet, since its models are not all served. %(models)s. Try again in a moment.",
              models=models),
            retry_after=RETRY_SECONDS,
        )  # fmt: skip


async def awaited(host: Host, targets: Iterable[Key], load: bool = True) -> list[AwaitedModel]:
    """Return what `targets` (names and versions) still wait for; with `load`, hosts that lack one are asked to load it.

    A host that has no folder of a model, or whose operator unloaded it, does not count for that model. Raises
    `Unavailable` when no host can be reached.
    """
    wanted = list(dict.fromkeys(targets))
    if not wanted:
        return []
    reaches = await host.reachable()
    if load:
        missing = [(reach, name) for reach in reaches for name, version in wanted if _why(reach, (name, version))]
        if missing:
            await asyncio.gather(*(reach.load(name, host.timeout) for reach, name in dict.fromkeys(missing)))
            reaches = await host.reachable()
    found = []
    for key in wanted:
        having = [reach for reach in reaches if key in reach.states and reach.states[key].reason != _UNLOADED]
        whys = [(reach.url, why) for reach in having if (why := _why(reach, key))]
        if not having:
            whys = [("", _("no model host has it"))]
        found += [AwaitedModel(*key, where, why) for where, why in whys]
    return found


async def require(host: Host, targets: Iterable[Key]) -> None:
    """Raise `NotServed` unless all hosts that have these models serve them."""
    if missing := await awaited(host, targets):
        raise NotServed.of(missing)


def awaited_by(settings: Settings, targets: Iterable[Key]) -> list[AwaitedModel]:
    """Return what `awaited` does, for jobs and commands; nothing where no host runs, which loads all when it starts."""

    async def ask() -> list[AwaitedModel]:
        host = Host.of(settings)
        try:
            return await awaited(host, targets)
        except errors.Unavailable:
            return []
        finally:
            await host.close()

    return asyncio.run(ask())


def _why(reach: Reach, key: Key) -> str:
    """What the host says of a model that it does not serve; empty where it serves it."""
    state = reach.states.get(key)
    if state is None:
        return _("it is not loaded")
    if state.available:
        return ""
    return _("it is being loaded") if state.state == "LOADING" else state.reason or _("it is out of service")
