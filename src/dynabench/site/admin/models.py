"""Models on each host, for administrators."""

from contextlib import suppress
from dataclasses import dataclass

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.models.host_connection import ModelState

LOAD_SECONDS = 5.0
"""How long a page waits for a host that loads a model; it goes on there."""


@dataclass(frozen=True)
class ModelOnHost:
    """A model version on one host (`place` is its number, from 1), and whether an open round asks it."""

    place: int
    address: str
    state: ModelState
    used: bool


@dataclass(frozen=True)
class HostRow:
    """A host by its number and address, and whether it answers."""

    place: int
    address: str
    present: bool


async def list_models(host: Host, used: set[tuple[str, str]]) -> tuple[list[HostRow], list[ModelOnHost]]:
    """Return the hosts, and all models on each; none where no host answers."""
    with suppress(errors.Unavailable):
        await host.states()
    hosts = [
        HostRow(place, connection.url, connection.present) for place, connection in enumerate(host.connections, start=1)
    ]
    models = [
        ModelOnHost(row.place, row.address, state, (state.name, state.version) in used)
        for row in hosts
        if row.present
        for state in host.connections[row.place - 1].states.values()
    ]
    return hosts, sorted(models, key=lambda model: (model.state.name, model.state.version, model.place))


async def load_again(host: Host, place: int, name: str) -> None:
    """Have a host load a model again; raises `NotFound` where there is no such host or model."""
    await host.states()
    connections = host.connections
    if not 0 < place <= len(connections) or all(
        model_name != name for model_name, _version in connections[place - 1].states
    ):
        raise errors.NotFound(_("There is no such model on this host."))
    await connections[place - 1].load(name, LOAD_SECONDS)
