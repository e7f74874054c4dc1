"""`dynabench host`: the process, or processes, that load models and answer."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Run the model host alone.")


@app.command()
def host(
    url: Annotated[str, typer.Option(help="Where to answer: unix:PATH or http://HOST:PORT.")] = "",
    workers: Annotated[
        int,
        typer.Option(
            help="Processes, the second at PATH-1 or PORT+1 and so on.",
            min=0,
            max=64,
            show_default="DYNABENCH_HOST_WORKERS, 1",
        ),
    ] = 0,
    memory: Annotated[
        str, typer.Option(help="What all of them together may use: 4GiB, none.", show_default="3/4 of the machine's")
    ] = "",
    models: Annotated[
        list[Path], typer.Option(help="Folder of models, instead of those that are found; give several times.")
    ] = [],  # noqa: B006 - Typer reads it
    without_token: Annotated[
        bool, typer.Option("--without-token", help="Answer other machines without DYNABENCH_HOST_TOKEN.")
    ] = False,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    """Serve every model found, by the Open Inference Protocol v2, until told to stop."""
    from dynabench.kit.settings import get_settings
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
