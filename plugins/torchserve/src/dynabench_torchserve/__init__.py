"""Models that a TorchServe serves, as a plug-in of the platform."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dynabench.kit.hooks import hookimpl

if TYPE_CHECKING:
    from dynabench.models.endpoint_protocols import Ask, EndpointProtocol
    from dynabench.models.kinds import Kind

NAME = "torchserve"
"""The kind of model and the extra of the platform."""


@hookimpl
def dynabench_model_kinds() -> "Iterable[Kind]":
    """Return the kind of model that asks a TorchServe."""
    from dynabench.models.kinds import REMOVALS, Kind

    backend = "dynabench_torchserve.backend"
    return [Kind(NAME, f"{backend}:TorchServeModel", REMOVALS, f"{backend}:Options", inside=False, extra=NAME)]


@hookimpl
def dynabench_endpoint_protocols() -> "Iterable[EndpointProtocol]":
    """Return TorchServe's inference API."""
    from dynabench.models.endpoint_protocols import EndpointProtocol

    return [EndpointProtocol(NAME, "TorchServe", list_models=list_models)]


def list_models(ask: "Ask", model: str) -> list[str] | None:
    """Return the one model, if it is named: the inference API says that it is well, not which models it has."""
    answer: Any = ask("/ping")
    return [model] * bool(model) if isinstance(answer, dict) and "status" in answer else None
