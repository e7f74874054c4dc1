"""`dynabench evaluate`: what modules there are, what they mean, and what they say about a model or its predictions."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from dynabench.cli.evaluate_card import card_app

if TYPE_CHECKING:
    from dynabench.benchmark.evaluations.records import SignedRecord
    from dynabench.cli.evaluation_run import RunOutcome

app = typer.Typer(help="Evaluate models and predictions; list, show and create modules.", no_args_is_help=True)
app.add_typer(card_app, name="card")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Kind = Annotated[str, typer.Option(help="metric, measurement or comparison.")]


@app.callback()
def evaluate() -> None:
    """Evaluate models and predictions; list, show and create modules."""


@app.command("list")
def list_modules(
    kind: Kind = "",
    task: Annotated[str, typer.Option(help="Only modules for this task, such as text-classification.")] = "",
    check: Annotated[bool, typer.Option(help="Run every example here; exit status 1 if one fails.")] = False,
    as_json: AsJson = False,
) -> None:
    """List all modules with their description, and what is missing for those that cannot run here."""
    from dynabench.cli import evaluation_views

    modules = evaluation_views.list_modules(kind, task, check)
    if as_json:
        typer.echo(json.dumps(modules, indent=2))
    else:
        Console().print(evaluation_views.module_table(modules, check))
    raise typer.Exit(1 if any(item["failures"] for item in modules) else 0)


@app.command("show")
def show_module(
    name: Annotated[str, typer.Argument(help="A module's name, or the path of a Python file.")],
    kind: Kind = "",
    as_json: AsJson = False,
) -> None:
    """Print a module's card: description, inputs, outputs and limits."""
    from dynabench.cli import evaluation_views
    from dynabench.evaluate import loading

    try:
        module = loading.find_module(name, kind or None)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(evaluation_views.module_document(module), indent=2))
    else:
        Console().print(evaluation_views.module_card(module))


@app.command("new")
def new_module(
    name: Annotated[str, typer.Argument(help="The module's name, such as mean_gap.")],
    kind: Kind = "metric",
    folder: Annotated[Path, typer.Option(help="Folder for the files.")] = Path(),
) -> None:
    """Write NAME.py, a working module, and test_NAME.py, its passing test, for you to change."""
    from dynabench.cli.evaluation_module import write_module

    try:
        written = write_module(name, kind, folder)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    for path in written:
        typer.echo(str(path))
    typer.echo(f"Try it: python -m pytest {written[1]}; dynabench evaluate show {written[0]}", err=True)


@app.command("run")
def run_evaluation(
    data: Annotated[str, typer.Option(help="CSV, JSON, JSONL or Parquet, optionally .gz; or a data set's name.")] = "",
    metric: Annotated[list[str] | None, typer.Option(help="NAME, or NAME:option=value,...; repeatable.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A shipped model, a hub id, a folder or, with --dataset, an address; repeatable there. Omit it to "
            "evaluate predictions."
        ),
    ] = None,
    task: Annotated[str, typer.Option(help="The evaluator's task; known for shipped models.")] = "",
    predictions: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="File with one prediction per row.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "--map", help="NAME=COLUMN: the column of an input or role; - for none."),
    ] = None,
    subset: Annotated[str, typer.Option(help="Config of a named data set.")] = "",
    split: Annotated[str, typer.Option(help="Split, such as test or test[:100].")] = "",
    label_mapping: Annotated[
        str, typer.Option(help="Maps the model's labels to the data's: positive=1,negative=0.")
    ] = "",
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    checkpoint: Annotated[Path | None, typer.Option(help="File to continue from after an interruption.")] = None,
    interval: Annotated[bool, typer.Option("--interval", help="Add bootstrap intervals.")] = False,
    level: Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")] = 0.95,
    by: Annotated[str, typer.Option(help="Also score each value of this column.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="JSON file for the results; - prints them.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="HTML file for a report.")] = None,
    dataset: Annotated[
        str,
        typer.Option(
            help="A file, TASK/NAME of a platform, or remote:OWNER/NAME of a hub: compares all models on a board."
        ),
    ] = "",
    rows: Annotated[int, typer.Option(min=0, help="With --dataset: the first rows only; 0 for all.")] = 0,
    classes: Annotated[str, typer.Option(help="With --dataset: names of the classes 0, 1, 2, with commas.")] = "",
    pair: Annotated[str, typer.Option(help="With --dataset: the languages of a translation, such as en-de.")] = "",
    predictions_out: Annotated[
        Path | None, typer.Option(dir_okay=False, help="With --dataset: write predictions, as .csv or .parquet.")
    ] = None,
    server: Annotated[str, typer.Option(help="With --dataset: evaluate there, such as https://example.org.")] = "",
    token: Annotated[
        str, typer.Option(envvar="DYNABENCH_TOKEN", help="Your API token there.", show_default=False)
    ] = "",
) -> None:
    """Evaluate a model on data, or existing predictions; or compare models on any dataset with --dataset.

    Without --model the data needs a column for each input of the module, such as prediction and reference, or --column.

    With --dataset the kind of problem, columns and metrics are guessed unless they are given. The exit status is 0 if
    all models are scored, 3 if some are, and 1 if none is.
    """
    from dynabench.cli import evaluation_run
    from dynabench.evaluate.chosen_metrics import parse_metric

    try:
        mapped = evaluation_run.parse_pairs(column or (), "--column")
        meanings = evaluation_run.parse_pairs(label_mapping.split(",") if label_mapping else [], "--label-mapping")
        if dataset:
            _refuse_with_dataset({"--data": data, "--predictions": predictions, "--by": by, "--html": html_file})
            from dynabench.cli import open_evaluation

            choices: dict[str, Any] = {
                "task": task, "columns": mapped, "metrics": metric or [], "rows": rows, "pair": pair,
                "config": subset, "split": split,
                "classes": [name.strip() for name in classes.split(",") if name.strip()],
            }  # fmt: skip
            request = open_evaluation.OpenRequest(
                dataset, model or [], choices, meanings, server.rstrip("/"), token, predictions_out
            )
            raise typer.Exit(open_evaluation.run_request(request, json_file))
        if not data or len(model or []) > 1:
            raise ValueError("give --data and at most one --model, or --dataset and any number of models")
        chosen = evaluation_run.RunRequest(
            data=data,
            metrics=tuple(parse_metric(item) for item in metric or ()),
            model=model[0] if model else "",
            task=task,
            predictions=predictions,
            columns=mapped,
            subset=subset or None,
            split=split or None,
            label_mapping=meanings,
            batch_size=batch_size,
            checkpoint=checkpoint,
            level=level if interval else None,
            by=by,
        )
        with Progress(console=Console(stderr=True), transient=True) as progress:
            outcome = evaluation_run.run_evaluation(chosen, progress)
    except ValueError as error:
        typer.echo(f"Cannot evaluate: {error}", err=True)
        raise typer.Exit(1) from None
    _tell(outcome, json_file, html_file)


def _refuse_with_dataset(values: Mapping[str, object]) -> None:
    """Raise ValueError where an option is given that does not go with --dataset."""
    for name, value in values.items():
        if value:
            raise ValueError(f"{name} does not go with --dataset")


@app.command("verify")
def verify_record(
    score: Annotated[str, typer.Argument(help="An evaluation's number, a file with its record, or a model's card.")],
    server: Annotated[str, typer.Option(help="Where the evaluation ran, such as https://example.org.")] = "",
    key: Annotated[str, typer.Option(help="The public key that you trust; by default the server's.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also ask the model again; needs the model and the rows.")
    ] = False,
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="Tolerated difference of scores.")] = 0.005,
    model: Annotated[str, typer.Option(help="The model that a card is of, where the card has another name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Check the signature of a record, and with --again its scores; exit status 1 if a check fails.

    Of a card (README.md), each result is checked: its token has to be signed, and to be of this number.
    """
    if Path(score).suffix.lower() == ".md":
        from dynabench.cli.card_tokens import verify_card

        raise typer.Exit(verify_card(Path(score), server, key, model, as_json))
    try:
        check = _verify(score, server, key, again, tolerance)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(check, indent=2))
    else:
        whose = "" if check["given"] else " (the key is the file's own: compare it with the one that the server shows)"
        typer.echo(f"{check['model']} on {check['dataset']['name']}, {check['made_at']}")
        typer.echo(f"signature {'holds' if check['valid'] else 'DOES NOT HOLD'} under {check['key']}{whose}")
        if not check["asked"]:
            typer.echo(f"scored from answers of {check['answered_at']}, without asking the model again")
        for item in check.get("other_versions", ()):
            versions = f"recorded by version {item['recorded']} of the metric, here is {item['here']}"
            typer.echo(f"{item['metric']}: {versions}, not compared")
        for item in check.get("scores", ()):
            outcome = "same" if item["same"] else "DIFFERS"
            typer.echo(f"{item['metric']}: recorded {item['recorded']:.6f}, now {item['now']:.6f}, {outcome}")
    raise typer.Exit(0 if check["valid"] and all(item["same"] for item in check.get("scores", ())) else 1)


@app.command("new-key")
def new_key(as_json: AsJson = False) -> None:
    """Sign records with a new key from now on. Earlier public keys stay listed, so earlier records remain valid."""
    from dynabench.benchmark.evaluations import records
    from dynabench.cli.operator import database
    from dynabench.kit.settings import get_settings

    with database() as db:
        key = db.read(records.renew_key, get_settings())
    typer.echo(json.dumps({"key": key}) if as_json else f"records are signed from now on with {key}")


def _tell(outcome: "RunOutcome", json_file: Path | None, html_file: Path | None) -> None:
    """Print and write what was found."""
    from dynabench.cli import evaluation_views

    quiet = json_file is not None and str(json_file) == "-"
    if quiet:
        typer.echo(json.dumps(outcome.document(), indent=2, allow_nan=False))
    else:
        console = Console()
        for item in evaluation_views.result_tables(outcome):
            console.print(item)
    if json_file is not None and not quiet:
        from dynabench.evaluate.results import save

        typer.echo(f"{save(json_file, **outcome.document())}", err=True)
    if html_file is not None:
        html_file.write_text(evaluation_views.html_report(outcome), encoding="utf-8")
        typer.echo(str(html_file), err=True)


def _find_record(score: str, server: str) -> "SignedRecord":
    """Return the record of a file, or of an evaluation's number here or at a server. Raises ValueError."""
    from dynabench.benchmark.evaluations import records
    from dynabench.kit.errors import Problem
    from dynabench.kit.settings import get_settings

    try:
        if not score.isdecimal():
            return records.read_record(Path(score))
        if not server:
            return records.own_record(get_settings(), int(score))
    except Problem as problem:
        raise ValueError(problem.detail) from None
    from dynabench.client import ApiError, Client

    try:
        with Client(server) as client:
            record = client.request("GET", f"/evaluations/{score}/record")
            keys = client.request("GET", "/key")
            return records.trusted_record(record["document"], record["signature"], [keys["key"], *keys["older"]])
    except (ApiError, OSError) as error:
        raise ValueError(f"{server} gives no record of {score}: {error}") from None


def _verify(score: str, server: str, key: str, again: bool, tolerance: float) -> dict[str, Any]:
    """Return the result of checking a signed record, as JSON: `valid`, and the key that it was checked with.

    With `again`, also each score as it is computed now. Raises ValueError.
    """
    from dynabench.benchmark.evaluations import records
    from dynabench.benchmark.evaluations.model_process import EvaluationStopped
    from dynabench.kit.errors import Problem
    from dynabench.kit.settings import get_settings

    signed = _find_record(score, server)
    document = signed.document
    outcome = {
        "valid": signed.holds(key),
        "key": key or signed.key,
        "given": bool(key or not Path(score).is_file()),
        "model": f"{document['model']['name']}@{document['model']['version']}",
        "dataset": document["dataset"],
        "made_at": document["made_at"],
        "answered_at": document["answered_at"],
        "asked": document["asked"],
    }
    if not again:
        return outcome
    try:
        compared = list(records.compare_again(get_settings(), document, tolerance))
    except (Problem, EvaluationStopped) as error:
        raise ValueError(f"It cannot be run again here: {error}") from None
    other = [{"metric": name, "recorded": old, "here": new} for name, old, new in records.outdated_metrics(document)]
    return outcome | {"tolerance": tolerance, "scores": [vars(item) for item in compared], "other_versions": other}
