"""`dynabench web`, `dynabench host` and `dynabench worker`: the three kinds of process, each alone."""

import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.kit.settings import Settings, get_settings

if TYPE_CHECKING:
    import uvicorn


KEEP_ALIVE = 75
"""Seconds that an idle connection stays open: longer than clients and proxies keep one, which is a minute at most.
The side that closes first must be the one that sends, or a request is lost now and then."""

SWITCH_SECONDS = 0.0005
"""Seconds for which a thread that computes may keep the interpreter while the event loop waits for it. With the usual
5 ms each step of a request takes as long meanwhile, and one OpenAPI document or board delays every page by seconds."""

web_app = typer.Typer(help="Run only the web process.")


@web_app.callback(invoke_without_command=True)
def web(
    fd: Annotated[int, typer.Option(help="File descriptor of an inherited listening socket.", hidden=True)] = -1,
    health: Annotated[str, typer.Option(help="An additional socket file to listen on.", hidden=True)] = "",
) -> None:
    """Upgrade the database, then serve the pages and the API; answers need a model host."""
    from dynabench.kit import connection_limits, heartbeat, process_memory

    heartbeat.start()
    connection_limits.allow_open_files()
    process_memory.share_one_heap()
    sys.setswitchinterval(SWITCH_SECONDS)
    with process_memory.without_collection():
        server = _server(get_settings())
    server.run(sockets=_sockets(fd, health) if fd >= 0 else None)


def _server(settings: Settings) -> "uvicorn.Server":
    from dynabench.kit import logs
    from dynabench.operations.key_check import check_keys
    from dynabench.operations.migrations import upgrade
    from dynabench.site.live.feed import WebServer

    logs.configure(settings.log_format)
    upgrade(settings)
    check_keys(settings)
    return WebServer(server_config(settings))


def server_config(settings: Settings) -> "uvicorn.Config":
    """Return the uvicorn configuration that serves the application."""
    import uvicorn

    from dynabench.kit.connection_limits import Connection
    from dynabench.site.app import create_app

    return uvicorn.Config(
        create_app(settings),
        http=Connection,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=KEEP_ALIVE,
    )


def _sockets(fd: int, health: str) -> list[socket.socket]:
    own = socket.socket(socket.AF_UNIX)
    Path(health).unlink(missing_ok=True)
    own.bind(health)
    Path(health).chmod(0o600)
    return [socket.socket(fileno=fd), own]


host_app = typer.Typer(help="Run only the model host.")


@host_app.command()
def host(
    url: Annotated[str, typer.Option(help="Address to listen on: unix:PATH or http://HOST:PORT.")] = "",
    workers: Annotated[
        int,
        typer.Option(
            help="Number of processes; the second listens at PATH-1 or PORT+1, and so on.",
            min=0,
            max=64,
            show_default="DYNABENCH_HOST_WORKERS, 1",
        ),
    ] = 0,
    memory: Annotated[
        str,
        typer.Option(help="Memory limit of all processes together: 4GiB, none.", show_default="3/4 of the machine's"),
    ] = "",
    models: Annotated[list[Path], typer.Option(help="Folder of models, instead of the default ones; repeatable.")] = [],  # noqa: B006 - Typer reads it
    without_token: Annotated[
        bool, typer.Option("--without-token", help="Answer other machines without DYNABENCH_HOST_TOKEN.")
    ] = False,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    """Serve all models with the Open Inference Protocol v2 until stopped."""
    from dynabench.models.host.serve import serve, serve_processes

    settings = get_settings()
    url = url or settings.own_host_address
    count = 1 if settings.ray else workers or settings.host_workers
    limit, token = memory or settings.host_memory, settings.host_token
    if count == 1:
        serve(url, log_level, places=models or None, memory_limit=limit, token=token, without_token=without_token)
        return
    options = ["--log-level", log_level, *(["--without-token"] if without_token else [])]
    options += [part for place in models for part in ("--models", str(place))]
    serve_processes(url, count, memory_limit=limit, token=token, without_token=without_token, options=options)


worker_app = typer.Typer(help="Run background jobs, such as imports and evaluations.")


@worker_app.callback(invoke_without_command=True)
def worker() -> None:
    """Run background jobs until stopped; interrupted jobs are resumed."""
    from dynabench.kit import heartbeat, logs, process_memory
    from dynabench.kit.jobs import work
    from dynabench.operations.key_check import check_keys

    heartbeat.start()
    process_memory.share_one_heap()
    logs.configure(get_settings().log_format)
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    check_keys(get_settings())
    _outdated()
    work(get_settings(), stop)
    sys.stderr.flush()
    os._exit(0)  # jobs under way are resumed by the next worker; waiting for their threads could take hours


def _outdated() -> None:
    """Have scores made anew whose metric has changed since the worker ran last."""
    from dynabench.benchmark.evaluations import service
    from dynabench.kit.db import Database

    database = Database(get_settings().url)
    database.write(service.queue_outdated_metrics)
    database.close()
