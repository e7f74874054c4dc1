"""`dynabench host`: the process that loads models and answers."""

from typing import Annotated

import typer

app = typer.Typer(help="Run the model host alone.")


@app.command()
def host(
    url: Annotated[str, typer.Option(help="Where to answer: unix:PATH or http://HOST:PORT.")] = "",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    """Serve every model found, by the Open Inference Protocol v2, until told to stop."""
    from dynabench.models.host.serve import serve
    from dynabench.settings import get_settings

    serve(url or get_settings().host_address, log_level)
