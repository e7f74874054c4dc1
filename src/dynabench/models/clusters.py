"""Clusters that models run on in place of this machine: plug-ins bring them.

A plug-in adds clusters by the hook `dynabench_clusters` (`dynabench.kit.hooks`). The setting that is called as the
cluster says which one is used, and where it is.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from starlette.types import ASGIApp

from dynabench.kit import plugins
from dynabench.kit.distributions import PLATFORM, RAY, install_command
from dynabench.kit.errors import Invalid
from dynabench.kit.settings import Settings
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput


class ClusterModel(Protocol):
    """A model that several processes of a cluster hold; it is asked from an evaluation."""

    card: ModelCard

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Return one output per input, in order; the inputs are shared out among the processes."""

    def predict_single(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Return the outputs of one process, whose memory is measured."""

    def reset_peak(self) -> None:
        """Measure the memory of that process anew."""

    def peak_bytes(self) -> int:
        """Return the bytes of the most memory that it held since `reset_peak`."""

    def close(self) -> None:
        """End the processes."""


class Cluster(Protocol):
    """A cluster, as a plug-in brings it. Both methods raise `Invalid` with its name where it does not answer."""

    def application(self, settings: Settings, places: list[Path] | None) -> ASGIApp:
        """Return a model host that asks models on the cluster, found in `places` or where the settings say."""

    def open_model(self, settings: Settings, folder: Path) -> Any:
        """Return a `ClusterModel` of a folder, which every machine has at the same path."""


def clusters() -> Mapping[str, str]:
    """Return the clusters of all plug-ins, as `module:Class` by name."""
    return plugins.gather("dynabench_clusters", plugins.references)


def chosen_cluster(settings: Settings) -> Cluster | None:
    """Return the cluster that the settings name, None for this machine. Raises `Invalid` without its plug-in."""
    if not settings.ray:
        return None
    if RAY not in clusters():
        raise Invalid({RAY: f"Models run on Ray by a plug-in that is not installed: {install_command(PLATFORM, RAY)}."})
    cluster: Cluster = plugins.load_reference(clusters()[RAY])()
    return cluster
