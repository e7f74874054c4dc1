"""Serve the model host: processes, sockets and access."""

import hmac
import ipaddress
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dynabench.kit import heartbeat
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.settings import get_settings, process_addresses
from dynabench.kit.supervisor import Watched, watch
from dynabench.models.host import memory

OPEN = frozenset({"/metrics", "/v2/health/live", "/v2/health/ready"})
"""What anybody may read: figures and health."""


class Guard:
    """Demands `Authorization: Bearer TOKEN` for everything but figures and health."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._authorization = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, or answer 401."""
        if scope["type"] == "http" and scope["path"] not in OPEN:
            sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(sent, self._authorization):
                message = "This host demands its token: send Authorization: Bearer with DYNABENCH_HOST_TOKEN."
                refusal = JSONResponse({"error": message}, 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def check(url: str, token: str, without_token: bool) -> None:
    """Raise `Invalid` for an address that others can reach where no token is set, unless that is wanted."""
    if url.startswith("unix:") or token or without_token or _loopback(urlsplit(url).hostname or ""):
        return
    message = (
        f"{url} can be reached from other machines, and those who reach it could ask every model. "
        "Set DYNABENCH_HOST_TOKEN here and where `dynabench serve` runs, or add --without-token on a network of yours."
    )
    raise Invalid({"url": message})


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")


BACKLOG = 512


def serve(
    url: str,
    log_level: str = "warning",
    *,
    places: Sequence[Path] | None = None,
    memory_limit: str = "",
    token: str = "",
    without_token: bool = False,
) -> None:
    """Serve all models at `unix:PATH` or `http://HOST:PORT` in this process, until it is ended.

    They are looked for in the folders `places`, by default in those of the settings; `memory_limit` is read by
    `memory.limit`. Raises `Conflict` when another host answers there, `Invalid` for what cannot be served.
    """
    import uvicorn

    heartbeat.start()
    check(url, token, without_token)
    limit = memory.limit(memory_limit)
    bound = bind(url)
    try:
        app = application(places, limit)
        if token and not url.startswith("unix:"):
            app = Guard(app, token)
        config = uvicorn.Config(
            app,
            log_level=log_level,
            access_log=False,
            proxy_headers=False,
            lifespan="on",
            backlog=BACKLOG,
            timeout_keep_alive=75,
        )
        uvicorn.Server(config).run(sockets=[bound])
    finally:
        bound.close()


def serve_processes(
    url: str,
    workers: int,
    *,
    memory_limit: str = "",
    token: str = "",
    without_token: bool = False,
    options: Sequence[str] = (),
) -> None:
    """Run the processes of a host at `url` and the addresses after it until this one is ended, and start those again
    that end or hang. Raises as `serve` does."""
    heartbeat.start()
    check(url, token, without_token)
    processes = host_processes(url, workers, memory_limit, options)
    for address in process_addresses(url, workers):
        bind(address).close()
    watch(processes)


def host_processes(url: str, workers: int, memory_limit: str = "", options: Sequence[str] = ()) -> list[Watched]:
    """The processes of a host at `url` and the addresses after it, to be watched: each is a host of its own, with the
    same part of the memory and of the processors. Raises `Invalid` for a limit that cannot be read."""
    from dynabench.models import runtime

    if workers == 1:
        names, share, env = ["host"], memory_limit, {}
    else:
        limit = memory.limit(memory_limit)
        names = [f"host {number}" for number in range(workers)]
        share = "none" if limit is None else f"{limit // workers}B"
        env = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or str(max(1, runtime.cores() // workers))}
    command = [sys.executable, "-m", "dynabench", "host", "--workers", "1", *(["--memory", share] if share else [])]
    addresses = process_addresses(url, workers)
    return [
        Watched(name, [*command, "--url", address, *options], env=env)
        for name, address in zip(names, addresses, strict=True)
    ]


def application(places: Sequence[Path] | None, limit: int | None) -> ASGIApp:
    """A host that computes in this process, with `limit` bytes of memory, or on the cluster that the settings name."""
    from dynabench.models.clusters import chosen_cluster
    from dynabench.models.host.app import create_app
    from dynabench.models.host.repository import Repository

    settings, folders = get_settings(), list(places) if places else None
    if cluster := chosen_cluster(settings):
        return cluster.application(settings, folders)
    return create_app(Repository(folders, limit))


def bind(address: str) -> socket.socket:
    """A socket bound to `unix:PATH` or `http://HOST:PORT`; a socket file that nobody answers on is replaced."""
    if not address.startswith("unix:"):
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.hostname:
            raise Invalid({"url": f"{address!r} is neither unix:PATH nor http://HOST:PORT; TLS is a proxy's part."})
        family = socket.AF_INET6 if ":" in (parts.hostname or "") else socket.AF_INET
        try:
            port = 80 if parts.port is None else parts.port
        except ValueError as error:
            raise Invalid({"url": f"{address!r}: {error}."}) from error
        bound = socket.socket(family)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((parts.hostname, port))
        except OSError as error:
            bound.close()
            raise Conflict(f"Nothing can listen on {address}: {error.strerror}.") from error
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
