"""`dynabench serve`: the web process, the model host and the worker, started and watched."""

import os
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dynabench.kit.settings import Settings, get_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from dynabench.kit.supervisor import Watched

app = typer.Typer(help="Run the whole platform on this machine.")
WORKER_PATIENCE = 60.0
"""Seconds after which the worker starts at the latest. It waits until people are served: what it has to do at a start,
such as evaluating the demo's models, takes all processors, and the models of the first visitors are being loaded."""
WORKER_NICENESS = 5
"""By which jobs yield to people who wait for a page or a model."""
PREPARE_AGAIN, LONGEST_PREPARE_AGAIN = 1.0, 60.0
"""Seconds between two tries to set the demo up, which double."""


@app.callback(invoke_without_command=True)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = "",
    port: Annotated[int, typer.Option(help="Port to listen on.", show_default="8000")] = 0,
    web_workers: Annotated[
        int, typer.Option(help="Web processes that share the port, the database and the model hosts.", min=1, max=64)
    ] = 1,
    demo: Annotated[bool, typer.Option("--demo", help="Create the demo tasks and open a round of each.")] = False,
) -> None:
    """Run the web process, the model host and the worker until stopped; restart processes that die."""
    os.environ |= {"OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive")}
    if host:
        os.environ["DYNABENCH_HOST"] = host
    if port:
        os.environ["DYNABENCH_PORT"] = str(port)
    if demo:
        os.environ["DYNABENCH_DEMO"] = "true"
    from dynabench.kit.supervisor import Watched, answers, end, watch

    settings = get_settings()
    if settings.demo:
        _check_demo(settings)
    _check_addresses(settings)
    address = f"{settings.host}:{settings.port}"
    web, *others = _webs(settings, web_workers)
    worker = Watched("worker", [sys.executable, "-m", "dynabench", "worker"], niceness=WORKER_NICENESS)
    own = f"unix:{settings.socket('web-0')}" if others else address
    worker.wait(WORKER_PATIENCE, partial(answers, own, "/readyz"))
    hosts = _hosts(settings)
    processes = [web, *others, *hosts, worker]
    web.check()
    for model_host in hosts:
        model_host.check()
    prepare = _preparation() if settings.demo else None  # loads its code while the web process loads its own
    if not web.comes_up(beside=hosts):
        end(processes)
        _refuse("The web process did not start. Its messages above tell why.")
    started = f"Dynabench is at http://{address} (state in {settings.folder}). Stop it with Ctrl+C."
    if prepare is None:
        typer.echo(started)
    else:  # the web process has brought the schema up to date
        Thread(target=_prepare, args=(prepare, settings, started), name="demo", daemon=True).start()
    watch(processes)


def _preparation() -> "Callable[[Settings], None]":
    """The function that sets the demo up; its code is loaded while the web process loads its own."""
    from dynabench.kit import process_memory

    with process_memory.without_collection():
        from dynabench.operations.demo import prepare
    return prepare


def _prepare(prepare: "Callable[[Settings], None]", settings: Settings, started: str) -> None:
    """Set the demo up, while processes are watched, and tell that all is `started`; what hinders it, such as a process
    that is stopped while it writes to the database, passes."""
    import structlog

    pause = PREPARE_AGAIN
    while True:
        try:
            prepare(settings)
        except Exception as problem:
            structlog.get_logger().warning("the demo is not set up yet", problem=str(problem), again_in=pause)
        else:
            typer.echo(started)
            return
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PREPARE_AGAIN)


def _webs(settings: Settings, count: int) -> "list[Watched]":
    """The web processes. Several accept on one socket, which stays open here while any of them is away, and tell how
    they are on one of their own each."""
    from dynabench.kit.supervisor import Watched, answers, listen

    command = [sys.executable, "-m", "dynabench", "web"]
    if count == 1:
        return [Watched("web", command, lambda: answers(f"{settings.host}:{settings.port}", "/healthz"))]
    shared = listen(settings.host, settings.port)
    webs = []
    for number in range(count):
        own = settings.socket(f"web-{number}")
        options = ["--fd", str(shared), "--health", str(own)]
        well = partial(answers, f"unix:{own}", "/healthz")
        webs.append(Watched(f"web {number}", [*command, *options], well, fds=[shared]))
    return webs


def _hosts(settings: Settings) -> "list[Watched]":
    """The processes of the model host; none where hosts run elsewhere."""
    from dynabench.models.host.serve import host_processes

    return (
        []
        if settings.host_url
        else host_processes(settings.own_host_address, settings.host_processes, settings.host_memory)
    )


def _check_demo(settings: Settings) -> None:
    """End the command, before anything is started, where the models that the demo's rounds are opened against, or the
    libraries that run them, are not installed."""
    from dynabench.kit.distributions import PLATFORM, install_command
    from dynabench.models import catalog

    needed = ["sklearn", *([] if settings.host_url else ["torch", "transformers"])]
    lacking = [name for name in needed if find_spec(name) is None]
    if not catalog.subfolders(catalog.BUILTIN):
        lacking.insert(0, "the shipped models")
    if lacking:
        _refuse(f"The demo needs {', '.join(lacking)}: {install_command(PLATFORM, 'models')}")


def _check_addresses(settings: Settings) -> None:
    """End the command, before anything is started, where the port is taken or the folder is served already."""
    from dynabench.kit.supervisor import can_listen, somebody_listens

    port = settings.port
    try:
        if not can_listen(settings.host, port):
            _refuse(
                f"Something else listens on port {port} of {settings.host}. Stop it, or choose another port: "
                f"dynabench serve --port {port + 1 if port < 65535 else 8000}."
            )
    except OSError as error:
        where = f"port {port} of {settings.host}"
        _refuse(f"Nothing can listen on {where}: {error.strerror}. Choose others with --host and --port.")
    paths = [Path(address.removeprefix("unix:")) for address in settings.host_address.split(",")]
    if not settings.host_url and any(somebody_listens(path) for path in paths):
        _refuse(
            f"Another dynabench serve runs on {settings.folder}. Stop it, or give this one a folder of its own in "
            "DYNABENCH_HOME."
        )


def _refuse(message: str) -> NoReturn:
    typer.secho(message, fg="red", err=True)
    raise typer.Exit(1)
