"""`dynabench web`: the web process alone; several of them can share one model host."""

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.kit.settings import Settings, get_settings

if TYPE_CHECKING:
    import uvicorn

KEEP_ALIVE = 75
"""Seconds that an idle connection stays open: longer than clients and proxies keep one, which is a minute at most.
Whoever closes first must be the one who sends, or a request is lost now and then."""

app = typer.Typer(help="Run the web process alone.")


@app.callback(invoke_without_command=True)
def web(
    fd: Annotated[int, typer.Option(help="A listening socket to accept on, inherited.", hidden=True)] = -1,
    health: Annotated[str, typer.Option(help="A socket file to answer on besides.", hidden=True)] = "",
) -> None:
    """Bring the database to the newest schema, then serve the pages and the API; for answers it needs a model host."""
    from dynabench.kit import connection_limits, heartbeat, malloc

    heartbeat.start()
    connection_limits.allow_open_files()
    malloc.one_arena()
    with malloc.unswept():
        server = _server(get_settings())
    server.run(sockets=_sockets(fd, health) if fd >= 0 else None)


def _server(settings: Settings) -> "uvicorn.Server":
    import uvicorn

    from dynabench.kit import logs
    from dynabench.operations.key_check import check_keys
    from dynabench.operations.migrations import upgrade

    logs.configure(settings.log_format)
    upgrade(settings)
    check_keys(settings)
    return uvicorn.Server(config(settings))


def config(settings: Settings) -> "uvicorn.Config":
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
