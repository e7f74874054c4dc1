"""`dynabench model export`: an ONNX folder of a model, kept only if it answers as the model does."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from dynabench.kit.errors import Invalid

if TYPE_CHECKING:
    from dynabench.models.exporting import Agreement


def export(
    name: Annotated[str, typer.Argument(help="A model's name, or its folder.")],
    out: Annotated[Path, typer.Argument(help="The folder to make; its last part is the new model's name.")],
    int8: Annotated[bool, typer.Option("--int8", help="Weights in 8 bits: a quarter of the size, quicker.")] = False,
    data: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSON lines to compare answers on.")
    ] = None,
    column: Annotated[list[str] | None, typer.Option(help="INPUT=COLUMN: which column of the data is meant.")] = None,
    rows: Annotated[int, typer.Option(min=1, max=100_000, help="How many inputs to compare answers on.")] = 100,
    floor: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of equal answers below which there is no export.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make an ONNX folder of a model, and compare the answers of both.

    Without --data, inputs are made of the contexts and seeds that come with the model's task. The folder is there
    only when enough answers are the same: by default 0.99 of them, with --int8 0.9. Exit status 1 otherwise.
    """
    from dynabench.models import catalog, exporting, spec

    folder = Path(name) if (Path(name) / spec.FILE).is_file() else catalog.entry(name).folder
    card = spec.card(folder)
    columns = dict(_pair(each) for each in column or ())
    inputs = exporting.read_inputs(data, card, columns, rows) if data else exporting.task_samples(card, rows)
    least = floor if floor is not None else (0.9 if int8 else 0.99)
    with exporting.draft(out) as made:
        exporting.write(folder, made, out.name, int8)
        found = exporting.compare_answers(catalog.open_model(folder), catalog.open_model(made), inputs)
        new = spec.card(made)
        (made / "README.md").write_text(_card(new.name, new.summary, found), encoding="utf-8")
        if as_json:
            typer.echo(json.dumps({"name": new.name, "version": new.version, **asdict(found)}))
        else:
            sizes = card.size_bytes, new.size_bytes
            Console().print(_table((card.name, new.name), sizes, found), _told(found), soft_wrap=True)
        if found.equal < least:
            told = f"Only {found.equal:.1%} of {found.rows} answers are the same, below {least:.1%}: nothing is kept."
            raise Invalid({"floor": told + (" Try without --int8." if int8 else "")})
    typer.echo(f"{out}", err=True)


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals:
        raise Invalid({"column": f"{text!r} is not of the form INPUT=COLUMN."})
    return name, column


def _table(names: tuple[str, str], sizes: tuple[int, int], found: "Agreement") -> Table:
    table = Table("", "MB", "one at a time", "all at once", title=f"Answers a second, {found.rows} inputs")
    for name, size, speed in zip(names, sizes, (found.first, found.second), strict=True):
        table.add_row(name, f"{size / 1e6:.1f}", f"{speed.alone:.0f}", f"{speed.together:.0f}")
    return table


def _card(name: str, summary: str, found: "Agreement") -> str:
    """The new model's card: where it comes from, and how far it answers as its source does."""
    speed = f"Asked one at a time it gave {found.second.alone:.0f} answers a second, its source {found.first.alone:.0f}"
    return f"# {name}\n\n{summary}\n\nOf {found.rows} inputs: {_told(found)} {speed}, on the machine of the export.\n"


def _told(found: "Agreement") -> str:
    return f"{found.equal:.1%} of the answers are the same; probabilities differ by up to {found.largest:.4f}."
