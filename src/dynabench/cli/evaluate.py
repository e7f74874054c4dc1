"""`dynabench evaluate`: what modules there are, what they mean, and what they say about a model or its predictions."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

app = typer.Typer(help="Evaluate models and predictions; list, read and write modules.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Kind = Annotated[str, typer.Option(help="metric, measurement or comparison.")]


@app.callback()
def evaluate() -> None:
    """Evaluate models and predictions; list, read and write modules."""


@app.command("list")
def list_modules(
    kind: Kind = "",
    task: Annotated[str, typer.Option(help="Only modules for this task, such as text-classification.")] = "",
    check: Annotated[bool, typer.Option(help="Compute every worked example here; exit status 1 if one fails.")] = False,
    as_json: AsJson = False,
) -> None:
    """Every module with what it measures, and what is missing for those that cannot run here."""
    from dynabench.cli.evaluation import listing

    found = listing.rows(kind, task, check)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        Console().print(listing.table(found, check))
    raise typer.Exit(1 if any(each["failures"] for each in found) else 0)


@app.command("show")
def show_module(
    name: Annotated[str, typer.Argument(help="A module's name, or the path of a Python file.")],
    kind: Kind = "",
    as_json: AsJson = False,
) -> None:
    """A module's card: what it says, what goes in, what comes out, where it misleads."""
    from dynabench.cli.evaluation import listing

    try:
        module = listing.find(name, kind)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(listing.document(module), indent=2))
    else:
        Console().print(listing.card(module))


@app.command("new")
def new_module(
    name: Annotated[str, typer.Argument(help="The module's name, such as mean_gap.")],
    kind: Kind = "metric",
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path(),
) -> None:
    """Write NAME.py, a module that works, and test_NAME.py, which passes; then change both."""
    from dynabench.cli.evaluation import writing

    try:
        written = writing.write(name, kind, folder)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    for path in written:
        typer.echo(str(path))
    typer.echo(f"Try it: python -m pytest {written[1]}; dynabench evaluate show {written[0]}", err=True)


@app.command("run")
def run_evaluation(
    data: Annotated[str, typer.Option(help="CSV, JSON, JSONL or Parquet, perhaps with .gz; or a data set's name.")],
    metric: Annotated[list[str] | None, typer.Option(help="NAME, or NAME:option=value,... Again for more.")] = None,
    model: Annotated[str, typer.Option(help="A shipped model, a hub id or a folder. Without it: predictions.")] = "",
    task: Annotated[str, typer.Option(help="The evaluator's task; known for shipped models.")] = "",
    predictions: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="One prediction a row.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="NAME=COLUMN: which column of the data is meant.")] = None,
    subset: Annotated[str, typer.Option(help="Of a named data set.")] = "",
    split: Annotated[str, typer.Option(help="Such as test, or test[:100].")] = "",
    label_mapping: Annotated[
        str, typer.Option(help="From the model's labels to the data's: positive=1,negative=0.")
    ] = "",
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    checkpoint: Annotated[Path | None, typer.Option(help="Goes on here after an interruption.")] = None,
    interval: Annotated[bool, typer.Option("--interval", help="With bootstrap intervals.")] = False,
    level: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")] = 0.95,
    by: Annotated[str, typer.Option(help="Also for each value of this column.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results here; - prints them.")] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write a report here, one file for any browser.")
    ] = None,
) -> None:
    """Evaluate a model on data, or predictions that are there already.

    Without --model the data has a column for each of the module's: prediction and reference, say, or as --column tells.
    """
    from dynabench.cli.evaluation import running

    try:
        chosen = running.Run(
            data=data,
            metrics=tuple(running.metric_of(each) for each in metric or ()),
            model=model,
            task=task,
            predictions=predictions,
            columns=running.pairs(column or (), "--column"),
            subset=subset or None,
            split=split or None,
            label_mapping=running.pairs(label_mapping.split(",") if label_mapping else [], "--label-mapping"),
            batch_size=batch_size,
            checkpoint=checkpoint,
            level=level if interval else None,
            by=by,
        )
        with Progress(console=Console(stderr=True), transient=True) as progress:
            found = running.run(chosen, progress)
    except ValueError as error:
        typer.echo(f"Cannot evaluate: {error}", err=True)
        raise typer.Exit(1) from None
    _tell(found, json_file, html_file)


@app.command("verify")
def verify_record(
    score: Annotated[str, typer.Argument(help="An evaluation's number, or a file with its record.")],
    server: Annotated[str, typer.Option(help="Where the evaluation ran, such as https://example.org.")] = "",
    key: Annotated[str, typer.Option(help="The public key that you trust; by default the server's.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also ask the model again, where it and the rows are.")
    ] = False,
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="By how much a score may differ then.")] = 0.005,
    as_json: AsJson = False,
) -> None:
    """Check the signature of a record, and with --again its scores; exit status 1 if something does not hold."""
    from dynabench.cli.evaluation import verifying

    try:
        told = verifying.verify(score, server, key, again, tolerance)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        whose = "" if told["given"] else " (the key is the file's own: compare it with the one that the server shows)"
        typer.echo(f"{told['model']} on {told['dataset']['name']}, {told['made_at']}")
        typer.echo(f"signature {'holds' if told['valid'] else 'DOES NOT HOLD'} under {told['key']}{whose}")
        if not told["asked"]:
            typer.echo(f"scored from answers of {told['answered_at']}, without asking the model again")
        for each in told.get("other_versions", ()):
            versions = f"recorded by version {each['recorded']} of the metric, here is {each['here']}"
            typer.echo(f"{each['metric']}: {versions}, not compared")
        for each in told.get("scores", ()):
            outcome = "same" if each["same"] else "DIFFERS"
            typer.echo(f"{each['metric']}: recorded {each['recorded']:.6f}, now {each['now']:.6f}, {outcome}")
    raise typer.Exit(0 if told["valid"] and all(each["same"] for each in told.get("scores", ())) else 1)


@app.command("new-key")
def new_key(as_json: AsJson = False) -> None:
    """Sign records with a new key from now on. Earlier public keys stay listed, so that earlier records still hold."""
    from dynabench.benchmark.evaluations import records
    from dynabench.cli.operator import database
    from dynabench.kit.settings import get_settings

    with database() as db:
        key = db.read(records.renew_key, get_settings())
    typer.echo(json.dumps({"key": key}) if as_json else f"records are signed from now on with {key}")


def _tell(found: Any, json_file: Path | None, html_file: Path | None) -> None:
    """Print and write what was found."""
    from dynabench.cli.evaluation import report

    quiet = json_file is not None and str(json_file) == "-"
    if quiet:
        typer.echo(json.dumps(found.document(), indent=2, allow_nan=False))
    else:
        console = Console()
        for each in report.tables(found):
            console.print(each)
    if json_file is not None and not quiet:
        from dynabench.evaluate.saving import save

        typer.echo(f"{save(json_file, **found.document())}", err=True)
    if html_file is not None:
        html_file.write_text(report.html(found), encoding="utf-8")
        typer.echo(str(html_file), err=True)
