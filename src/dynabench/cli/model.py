"""`dynabench model`: which models and kinds of models there are, what they answer, what their strips are worth."""

import ast
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.cli import model_folders
from dynabench.cli.operator import AsJson
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import explained

app = typer.Typer(help="Create, check, list, ask and submit models.", no_args_is_help=True)
app.add_typer(model_folders.app)


@app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """List all models that the host would serve, broken ones with the reason."""
    from dynabench.models import catalog

    for entry in catalog.find():
        if as_json:
            document = {"name": entry.name, "card": asdict(entry.card) if entry.card else None, "reason": entry.reason}
            typer.echo(json.dumps(document))
        elif entry.card is None:
            typer.echo(f"{entry.name}  broken: {entry.reason}")
        else:
            card = entry.card
            size = f"{card.size_bytes / 1e6:.1f} MB"
            typer.echo("  ".join([card.name, card.version, card.task, card.kind, size, card.licence]))


@app.command("card")
def card(name: str) -> None:
    """Print a model's card as Markdown."""
    from dynabench.models import catalog

    path = catalog.entry(name).folder / "README.md"
    typer.echo(path.read_text(encoding="utf-8") if path.is_file() else f"{name} has no card.")


@app.command("ask")
def ask(
    name: Annotated[str, typer.Argument(help="An installed model's name, or a model's folder.")],
    fields: Annotated[list[str], typer.Argument(help="Inputs as FIELD=TEXT.")],
    words: Annotated[bool, typer.Option("--words", help="Also print the weight of each word.")] = False,
    as_json: AsJson = False,
) -> None:
    """Load a model in this process and ask it once."""
    from dynabench.models import catalog, spec

    wrong = [field for field in fields if "=" not in field]
    if wrong:
        raise Invalid({"fields": f"{wrong[0]!r} is not of the form FIELD=TEXT."})
    inputs = dict(field.split("=", 1) for field in fields)
    own = (Path(name) / spec.FILE).is_file()
    model = catalog.open_model(Path(name) if own else catalog.entry(name).folder)
    try:
        output = model.predict([inputs])[0]
        label = output.answer[model.card.answer] if model.card.returns == "label" else explained(model.card)[0]
        attribution = model.attribute(inputs, label, model.card.methods[0]) if words else None
    finally:
        model.close()  # type: ignore[attr-defined]
    if as_json:
        document = {"answer": output.answer, "probabilities": output.probabilities}
        typer.echo(json.dumps(document | ({"attribution": asdict(attribution)} if attribution else {})))
        return
    typer.echo(", ".join(f"{key}: {_plain(value)}" for key, value in output.answer.items()))
    for label, probability in (output.probabilities or {}).items():
        typer.echo(f"  {label:<16} {probability:.3f}")
    for field, weights in (attribution.fields if attribution else {}).items():
        typer.echo(f"{field}: " + "  ".join(f"{word.text} {word.weight:+.2f}" for word in weights))


def _plain(answer: Any) -> str:
    """A label as it is, spans by their texts and places."""
    if not isinstance(answer, list):
        return str(answer)
    return "; ".join(f"{span['text']} ({span['start']}:{span['end']})" for span in answer) or "none"


@app.command("check-strip")
def check_strip(
    name: str,
    data: Annotated[Path, typer.Option(help="Folder of the data sets.", exists=True, file_okay=False)],
    method: Annotated[str, typer.Option(help="Method of explanation; by default the page's.")] = "",
    examples: Annotated[int, typer.Option(help="Number of random test examples.", min=1)] = 500,
    as_json: AsJson = False,
) -> None:
    """Measure how often removing an explanation's three top words lowers the probability more than random words."""
    from dynabench.models import catalog, removal
    from dynabench.models.training import recipes, rows

    model = catalog.open_model(catalog.entry(name).folder)
    recipe = recipes.load(name)
    test = [row.inputs for row in rows.read_source(recipe.test[0], data, recipe)]
    measure = removal.check_faithfulness(model, removal.sample_rows(test, examples), method)
    if as_json:
        typer.echo(json.dumps(asdict(measure)))
    else:
        typer.echo(
            f"{name} on {recipe.test[0].name}, {measure.method}: {measure.share:.1%} ({measure.low:.1%} to "
            f"{measure.high:.1%}) of {measure.n}; mean drop {measure.drop:.3f} against {measure.random_drop:.3f}"
        )


@app.command("kinds")
def list_kinds(as_json: AsJson = False) -> None:
    """List the kinds of models: what they are, where they run, and whether they can run here."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [_kind_row(name) for name in _kind_names()]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("kind", "what it is", "runs", "installed", box=None, pad_edge=False)
    for row in rows:
        lacks = "no sandbox here" if row["runs"] == "sandbox" else row["installation"]
        short = row["what"].partition(":")[0]
        description = short if " " in short else row["what"]
        cells = (row["kind"], description, row["runs"], "yes" if row["installed"] else lacks)
        table.add_row(*(Text(cell) for cell in cells))
    Console(highlight=False).print(table)


def _kind_names() -> list[str]:
    from dynabench.models.kinds import kinds

    return list(kinds())


def _kind_row(name: str) -> dict[str, Any]:
    from dynabench.models.kinds import kind

    kind_ = kind(name)
    lacks = kind_.lacks() or (_sandbox_problem() if kind_.files is None else "")
    return {
        "kind": name,
        "what": _describe_kind(kind_.backend.partition(":")[0]),
        "runs": "sandbox" if kind_.files is None else "here" if kind_.inside else "elsewhere",
        "installed": not lacks,
        "lacks": lacks,
        "extra": kind_.extra,
        "installation": kind_.installation,
        "methods": list(kind_.methods),
    }


def _sandbox_problem() -> str:
    """Why code of others cannot run here; empty where a sandbox can confine it."""
    from dynabench.kit.errors import Unavailable
    from dynabench.models.sandbox.available import sandbox

    try:
        sandbox()
    except Unavailable as problem:
        return problem.detail
    return ""


def _describe_kind(module: str) -> str:
    """The first sentence of the backend's module, read without importing what it needs."""
    from importlib.util import find_spec

    try:
        module_spec = find_spec(module)
    except ModuleNotFoundError:
        return ""
    if module_spec is None or not module_spec.origin:
        return ""
    docstring = ast.get_docstring(ast.parse(Path(module_spec.origin).read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split()).rstrip(".")
