"""The model host as a process."""

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dynabench.errors import Conflict
from dynabench.settings import get_settings

BACKLOG = 512


def serve(url: str, log_level: str = "warning") -> None:
    """Serve all models at `unix:PATH` or `http://HOST:PORT` until told to stop.

    Raises `Conflict` when another host answers there.
    """
    import uvicorn

    from dynabench.models.host.app import create_app

    config = uvicorn.Config(
        create_app(*_parts()),
        log_level=log_level,
        access_log=False,
        lifespan="on",
        backlog=BACKLOG,
        timeout_keep_alive=75,
    )
    bound = bind(url)
    try:
        uvicorn.Server(config).run(sockets=[bound])
    finally:
        bound.close()


def _parts() -> tuple[Any, ...]:
    """What holds and asks the models: this process, or the cluster that the settings name."""
    settings = get_settings()
    if not settings.ray:
        return ()
    from dynabench.models.cluster.connection import connect

    connect(settings)
    from dynabench.models.cluster.engine import ClusterEngine
    from dynabench.models.cluster.repository import Applications
    from dynabench.models.cluster.scale import Scale

    return Applications(scale=Scale.read(settings.ray_replicas, settings.ray_processors)), ClusterEngine


def bind(address: str) -> socket.socket:
    """A socket bound to `unix:PATH` or `http://HOST:PORT`; a socket file that nobody answers on is replaced."""
    if not address.startswith("unix:"):
        parts = urlsplit(address)
        family = socket.AF_INET6 if ":" in (parts.hostname or "") else socket.AF_INET
        bound = socket.socket(family)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((parts.hostname or "127.0.0.1", 80 if parts.port is None else parts.port))
        return bound
    path = Path(address.removeprefix("unix:"))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists():
        if _answered(path):
            raise Conflict(f"Another model host answers on {path}.")
        path.unlink()
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(path))
    path.chmod(0o600)
    return bound


def _answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
