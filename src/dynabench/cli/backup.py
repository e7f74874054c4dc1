"""`dynabench backup` and `dynabench restore`: the whole platform in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from dynabench.cli.operator import AsJson, bar, refusals, say
from dynabench.kit.settings import get_settings

app = typer.Typer(help="Back up the database, all files and the keys to one file.")


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write, or a folder for a file named by date and time.")],
    as_json: AsJson = False,
) -> None:
    """Back up the database, all files and the keys to one file, while the platform runs."""
    from dynabench.operations.backups.backup import make_backup

    with refusals(), bar("Backing up", as_json) as progress:
        written = make_backup(get_settings(), target, progress)
    for flaw in written.manifest.flaws:
        typer.secho(f"Missing or damaged before this backup: {flaw}", fg="yellow", err=True)
    size = written.path.stat().st_size
    answer = {
        "file": str(written.path),
        "bytes": size,
        "files": len(written.manifest.files),
        "flaws": written.manifest.flaws,
    }
    text = f"Wrote {written.path} ({answer['files']} files, {size / 1e6:.1f} MB). It holds the keys: keep it closed."
    say(as_json, answer, text)


restore_app = typer.Typer(help="Restore a backup into an empty home folder and database.")


@restore_app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file written by `dynabench backup`.", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into the home folder and the database of the settings; both must be empty."""
    from dynabench.operations.backups.restore import restore_backup

    settings = get_settings()
    with refusals(), bar("Restoring", as_json) as progress:
        restored = restore_backup(settings, file, progress)
    for flaw in restored.manifest.flaws:
        typer.secho(f"Missing or damaged before the backup: {flaw}", fg="yellow", err=True)
    models = ":".join(str(item) for item in restored.models)
    manifest = restored.manifest
    answer = {"home": str(settings.folder), "files": len(manifest.files), "models": models, "flaws": manifest.flaws}
    text = f"Restored {len(manifest.files)} files into {settings.folder}. Start it with `dynabench serve`."
    say(as_json, answer, f"{text} Set DYNABENCH_MODELS={models} first." if models else text)
