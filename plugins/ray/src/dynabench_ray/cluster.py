"""A Ray cluster that models run on, and this process's connection to it."""

import logging
import os
import socket
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from dynabench.kit.distributions import PLATFORM, RAY, install_command
from dynabench.kit.errors import Invalid
from dynabench.kit.settings import Settings

LOCAL = "local"


class RayCluster:
    """Ray, as `dynabench.models.clusters.Cluster` describes it."""

    def application(self, settings: Settings, places: list[Path] | None) -> ASGIApp:
        """Return a host that deploys the models with Ray Serve; the cluster has limits of its own."""
        connect(settings)
        from dynabench.models.host.app import create_app
        from dynabench_ray.engine import ClusterEngine
        from dynabench_ray.repository import Applications
        from dynabench_ray.scale import Scale

        scale = Scale.read(settings.ray_replicas, settings.ray_processors)
        return create_app(Applications(places, scale), ClusterEngine)

    def open_model(self, settings: Settings, folder: Path) -> Any:
        """Return the model in as many actors as the cluster has room for."""
        from dynabench_ray.evaluation import DistributedModel

        return DistributedModel(folder, connect(settings), processors=settings.ray_processors)


def connect(settings: Settings) -> Any:
    """The module `ray`, connected to the cluster that `DYNABENCH_RAY` names; `local` starts one on this machine.

    Raises `Invalid` when Ray is not installed or the cluster does not answer.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to others
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # A busy machine starts Serve's proxy in more than the five seconds after which Ray would kill it.
    os.environ.setdefault("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "60")
    os.environ.setdefault("RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S", "60")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise Invalid({"ray": f"Ray is not installed here: {install_command(PLATFORM, RAY)}."}) from error
    if ray.is_initialized():
        return ray
    if not _answers(settings.ray):
        raise Invalid({"ray": f"Nothing answers at the Ray cluster's address {settings.ray!r}."})
    values: dict[str, Any] = {"logging_level": logging.WARNING, "log_to_driver": False, "namespace": "dynabench"}
    try:
        if settings.ray == LOCAL:
            ray.init(include_dashboard=False, **values)
        else:
            ray.init(address=settings.ray, **values)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise Invalid({"ray": f"The Ray cluster {settings.ray!r} does not answer: {error}"}) from error
    return ray


def _answers(address: str) -> bool:
    """Return True if a server listens at the address; Ray itself would go on trying for minutes."""
    host, colon, port = address.rpartition("/")[2].rpartition(":")
    if not colon or not port.isdecimal():
        return True  # `local`, `auto`: Ray knows where to look
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except (OSError, OverflowError):
        return False
    return True
