"""`dynabench restore`: a backup into an empty place."""

from pathlib import Path
from typing import Annotated

import typer

from dynabench.cli.operator import AsJson, bar, refusals, say
from dynabench.kit.settings import get_settings

app = typer.Typer(help="Restore a backup into an empty place.")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `dynabench backup` wrote.", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into the home folder and the database of the settings, which must be empty."""
    from dynabench.operations.backups.restore import restore_backup

    settings = get_settings()
    with refusals(), bar("Restoring", as_json) as progress:
        restored = restore_backup(settings, file, progress)
    for flaw in restored.manifest.flaws:
        typer.secho(f"Before the backup: {flaw}", fg="yellow", err=True)
    models = ":".join(str(each) for each in restored.models)
    found = restored.manifest
    answer = {"home": str(settings.folder), "files": len(found.files), "models": models, "flaws": found.flaws}
    text = f"Restored {len(found.files)} files into {settings.folder}. Start it with `dynabench serve`."
    say(as_json, answer, f"{text} Set DYNABENCH_MODELS={models} first." if models else text)
