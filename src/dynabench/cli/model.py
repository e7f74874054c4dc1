"""`dynabench model`: which models there are, what they answer, whether their strips are worth looking at."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.cli.models.check import check
from dynabench.cli.models.entering import enter, submit
from dynabench.cli.models.export import export
from dynabench.cli.models.hub import bring
from dynabench.cli.models.kinds import kinds
from dynabench.cli.models.new import new
from dynabench.cli.models.pack import pack
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import explained

app = typer.Typer(help="Start models, check them, list them, ask them, measure them.", no_args_is_help=True)
app.command("pack")(pack)
app.command("export")(export)
app.command("new")(new)
app.command("check")(check)
app.command("kinds")(kinds)
app.command("hub")(bring)
app.command("enter")(enter)
app.command("submit")(submit)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """Every model that the host would serve, broken ones with the reason."""
    from dynabench.models import catalog

    for entry in catalog.find():
        if as_json:
            document = {"name": entry.name, "card": asdict(entry.card) if entry.card else None, "reason": entry.reason}
            typer.echo(json.dumps(document))
        elif entry.card is None:
            typer.echo(f"{entry.name}  broken: {entry.reason}")
        else:
            found = entry.card
            size = f"{found.size_bytes / 1e6:.1f} MB"
            typer.echo("  ".join([found.name, found.version, found.task, found.kind, size, found.licence]))


@app.command("card")
def card(name: str) -> None:
    """A model's card, as Markdown."""
    from dynabench.models import catalog

    path = catalog.entry(name).folder / "README.md"
    typer.echo(path.read_text(encoding="utf-8") if path.is_file() else f"{name} has no card.")


@app.command("ask")
def ask(
    name: Annotated[str, typer.Argument(help="An installed model's name, or a model's folder.")],
    fields: Annotated[list[str], typer.Argument(help="The input, one FIELD=TEXT each.")],
    words: Annotated[bool, typer.Option("--words", help="Also say which words spoke for the answer.")] = False,
    as_json: Json = False,
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
        found = model.attribute(inputs, label, model.card.methods[0]) if words else None
    finally:
        model.close()  # type: ignore[attr-defined]
    if as_json:
        document = {"answer": output.answer, "probabilities": output.probabilities}
        typer.echo(json.dumps(document | ({"attribution": asdict(found)} if found else {})))
        return
    typer.echo(", ".join(f"{key}: {_plain(value)}" for key, value in output.answer.items()))
    for label, probability in (output.probabilities or {}).items():
        typer.echo(f"  {label:<16} {probability:.3f}")
    for field, weights in (found.fields if found else {}).items():
        typer.echo(f"{field}: " + "  ".join(f"{word.text} {word.weight:+.2f}" for word in weights))


def _plain(answer: Any) -> str:
    """A label as it is, spans by their texts and places."""
    if not isinstance(answer, list):
        return str(answer)
    return "; ".join(f"{span['text']} ({span['start']}:{span['end']})" for span in answer) or "none"


@app.command("check-strip")
def check_strip(
    name: str,
    data: Annotated[Path, typer.Option(help="Folder that holds the data sets.", exists=True, file_okay=False)],
    method: Annotated[str, typer.Option(help="Attribution method; by default the strip's.")] = "",
    examples: Annotated[int, typer.Option(help="Test examples, drawn at random.", min=1)] = 500,
    as_json: Json = False,
) -> None:
    """Measure how often removing the strip's top three words lowers the probability more than random removal.

    Random removal also takes three words.
    """
    from dynabench.models import catalog
    from dynabench.models.attribution import removal
    from dynabench.models.training import questions, recipes, rows

    model = catalog.open_model(catalog.entry(name).folder)
    recipe = recipes.load(name)
    reader = questions if recipe.kind == "extractor" else rows
    test = [row.inputs for row in reader.of_source(recipe.test[0], data, recipe)]
    found = removal.check_faithfulness(model, removal.sample_rows(test, examples), method)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        typer.echo(
            f"{name} on {recipe.test[0].name}, {found.method}: {found.share:.1%} ({found.low:.1%} to {found.high:.1%}) "
            f"of {found.n}; mean drop {found.drop:.3f} against {found.random_drop:.3f}"
        )
