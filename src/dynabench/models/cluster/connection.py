"""This process's connection to a Ray cluster."""

import logging
import os
import socket
from typing import Any

from dynabench.distributions import PLATFORM, install_command
from dynabench.errors import Invalid
from dynabench.settings import Settings

LOCAL = "local"


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
        raise Invalid({"ray": f"Ray is not installed here: {install_command(PLATFORM, 'ray')}."}) from error
    if ray.is_initialized():
        return ray
    if not _answers(settings.ray):
        raise Invalid({"ray": f"Nothing answers at the Ray cluster's address {settings.ray!r}."})
    given: dict[str, Any] = {"logging_level": logging.WARNING, "log_to_driver": False, "namespace": "dynabench"}
    try:
        if settings.ray == LOCAL:
            ray.init(include_dashboard=False, **given)
        else:
            ray.init(address=settings.ray, **given)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise Invalid({"ray": f"The Ray cluster {settings.ray!r} does not answer: {error}"}) from error
    return ray


def _answers(address: str) -> bool:
    """Whether something listens there; Ray itself would go on trying for minutes."""
    host, colon, port = address.rpartition("/")[2].rpartition(":")
    if not colon or not port.isdecimal():
        return True  # `local`, `auto`: Ray knows where to look
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except (OSError, OverflowError):
        return False
    return True
