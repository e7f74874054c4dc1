"""`dynabench web`: the web process alone; several of them can share one model host."""

import typer

from dynabench.settings import get_settings

app = typer.Typer(help="Run the web process alone.")


@app.callback(invoke_without_command=True)
def web() -> None:
    """Bring the database to the newest schema, then serve the pages and the API; for answers it needs a model host."""
    import uvicorn

    from dynabench import logs
    from dynabench.app import create_app
    from dynabench.migrations import upgrade

    settings = get_settings()
    logs.configure(settings.log_format)
    upgrade(settings)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
    )
