"""`dynabench model pack`: a model folder as one file to hand in."""

from pathlib import Path
from typing import Annotated

import typer


def pack(
    folder: Annotated[Path, typer.Argument(help="A folder with model.yaml.", exists=True, file_okay=False)],
    output: Annotated[Path | None, typer.Option(help="Where to write; by default FOLDER.zip beside it.")] = None,
) -> None:
    """Check a model folder and write it to a zip file, the same bytes for the same files."""
    from dynabench.models import archives, spec

    folder = folder.resolve()
    made = archives.pack(folder, output or folder.with_name(f"{folder.name}.zip"))
    typer.echo(f"{made}  version {spec.version(folder)}")
