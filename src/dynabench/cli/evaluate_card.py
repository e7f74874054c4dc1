"""`dynabench evaluate card`: read results of models from cards and logs, merge them into a card, push them."""

import difflib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from dynabench.evaluate.cards.card_text import CardText
    from dynabench.evaluate.cards.files import ResultsFile

card_app = typer.Typer(help="Read results from cards and logs; merge them into a model card.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Source = Annotated[Path, typer.Argument(help="A card (README.md), a result file (.yaml), a log, or a run of HELM.")]
TaskType = Annotated[str, typer.Option(help="The hub's task of a log's scores, such as text-classification.")]
SourceUrl = Annotated[str, typer.Option(help="Address of the log, which becomes the results' source.")]


@card_app.command("read")
def read_file(file: Source, task: TaskType = "other", source: SourceUrl = "", as_json: AsJson = False) -> None:
    """Print the results in a file, and name what could not be read."""
    results_file = _read(file, task, source)
    if as_json:
        typer.echo(json.dumps(_document(results_file), indent=2, ensure_ascii=False))
        return
    for table in _tables(results_file):
        Console().print(table)
    for message in results_file.left_out:
        typer.echo(f"left out: {message}", err=True)


@card_app.command("merge")
def merge_into_card(
    card: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The model's or the dataset's card.")],
    files: Annotated[list[Path], typer.Argument(help="Files with results: cards, result files or logs.")],
    model: Annotated[str, typer.Option(help="The model's name; by default that of the results.")] = "",
    task: TaskType = "other",
    source: SourceUrl = "",
    dataset: Annotated[bool, typer.Option("--dataset", help="The card is a dataset's (evaluation_results).")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace values that the card has already.")] = False,
    output: Annotated[Path | None, typer.Option("--out", help="Write another file; - prints the card.")] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print the changed lines and write nothing.")] = False,
) -> None:
    """Add results to a card. Every other byte of the card stays as it is."""
    from dynabench.evaluate.cards.card_text import load_card
    from dynabench.evaluate.cards.files import write_whole
    from dynabench.evaluate.cards.model_index import KEY, RESULTS_KEY, merge_results
    from dynabench.evaluate.cards.yaml_text import CardError

    try:
        before = merged = load_card(card)
        for file in files:
            for entry in _read(file, task, source).models:
                name = model or entry.name
                key = RESULTS_KEY if dataset else KEY
                merged = merge_results(merged, entry.results, model_name=name, overwrite=overwrite, key=key)
        if diff:
            old, new = (text.splitlines(keepends=True) for text in (str(before), str(merged)))
            typer.echo("".join(difflib.unified_diff(old, new, str(card), str(card))), nl=False)
        elif output is not None and str(output) == "-":
            typer.echo(str(merged), nl=False)
        elif output is not None or merged != before:
            write_whole(output or card, str(merged).encode())
    except CardError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@card_app.command("rescore")
def rescore_log(
    log: Annotated[Path, typer.Argument(help="A log with rows: inspect_ai, lm_eval or HELM.")],
    metric: Annotated[list[str], typer.Option(help="NAME, or NAME:option=value,...; repeatable.")],
    as_json: AsJson = False,
) -> None:
    """Score the rows of a log anew, and print the values beside those of the log."""
    from dynabench.evaluate.cards.files import read_log
    from dynabench.evaluate.cards.rescoring import rescore
    from dynabench.evaluate.chosen_metrics import parse_metric

    try:
        read = read_log(log)
        chosen = [parse_metric(text) for text in metric]
        scores = [score for item in chosen for score in rescore(read, item.name, dict(item.options))]
    except ValueError as error:
        typer.echo(f"{log}: {error}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        documents = {"logged": list(map(asdict, read.scores)), "rescored": list(map(asdict, scores))}
        typer.echo(json.dumps(documents, indent=2))
        return
    lines: list[tuple[Any, ...]] = [
        (origin, score.dataset, score.metric, score.variant, score.value, score.rows)
        for origin, group in (("logged", read.scores), ("rescored", scores))
        for score in group
    ]
    Console().print(_table(("", "dataset", "metric", "variant", "value", "rows"), lines))


@card_app.command("convert")
def convert_log(
    log: Annotated[Path, typer.Argument(help="A log of dynabench evaluate run, inspect_ai, lm_eval or HELM.")],
    output: Annotated[Path, typer.Argument(help="The file, or for lm-eval and helm the folder, to write.")],
    form: Annotated[str, typer.Option("--to", help="inspect, lm-eval, helm, eval-results or rows.")],
) -> None:
    """Write a log in another form. `rows` is a file for `dynabench evaluate run --data`."""
    from dynabench.evaluate.cards.files import LogFormat, read_log, write_log
    from dynabench.evaluate.cards.yaml_text import CardError

    if form not in list(LogFormat):
        typer.echo(f"There is no form {form!r}: choose one of {', '.join(LogFormat)}.", err=True)
        raise typer.Exit(1)
    try:
        written = write_log(read_log(log), LogFormat(form), output)
    except CardError as error:
        typer.echo(f"{log}: {error}", err=True)
        raise typer.Exit(1) from None
    for path in written:
        typer.echo(str(path))


@card_app.command("push")
def push_results(
    files: Annotated[list[Path], typer.Argument(help="Files with results: cards, result files or logs.")],
    repository: Annotated[str, typer.Option("--repo", help="The model's repository, such as user/model.")],
    server: Annotated[str, typer.Option(help="Address of the hub; by default the one of huggingface_hub.")] = "",
    dataset: Annotated[bool, typer.Option("--dataset", help="The repository is a dataset's.")] = False,
    model: Annotated[str, typer.Option(help="The model's name; by default that of the results.")] = "",
    task: TaskType = "other",
    source: SourceUrl = "",
    name: Annotated[str, typer.Option(help="File of .eval_results for results of a result file.")] = "dynabench",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace values that are there already.")] = False,
    direct: Annotated[bool, typer.Option("--direct", help="Commit at once instead of opening a pull request.")] = False,
    message: Annotated[str, typer.Option(help="Title of the pull request.")] = "Add evaluation results",
) -> None:
    """Add results to the card of a repository, as a pull request. The token is that of huggingface_hub (HF_TOKEN)."""
    from dynabench.evaluate.cards import pushing
    from dynabench.evaluate.cards.model_index import KEY, RESULTS_KEY, merge_results
    from dynabench.evaluate.cards.yaml_text import CardError

    read = [_read(file, task, source) for file in files]
    models = [entry for results_file in read for entry in results_file.models if entry.results]
    entries = [entry for results_file in read for entry in results_file.entries]
    key = RESULTS_KEY if dataset else KEY

    def change(card: "CardText") -> "CardText":
        for entry in models:
            card = merge_results(card, entry.results, model_name=model or entry.name, overwrite=overwrite, key=key)
        return card

    target = pushing.PushTarget(repository, "dataset" if dataset else "model", server or None)
    try:
        outcomes = [pushing.push_card(target, change, message, not direct)] if models else []
        if entries:
            outcomes.append(pushing.push_entries(target, name, entries, message, overwrite, not direct))
    except CardError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if not outcomes:
        typer.echo("These files have no results.", err=True)
        raise typer.Exit(1)
    for outcome in outcomes:
        typer.echo(outcome.pull_request or outcome.commit or "The repository has these results already.")


def _read(file: Path, task: str, source: str) -> "ResultsFile":
    from dynabench.evaluate.cards.files import read_results_file
    from dynabench.evaluate.cards.yaml_text import CardError

    try:
        return read_results_file(file, task, source or None)
    except CardError as error:
        typer.echo(f"{file}: {error}", err=True)
        raise typer.Exit(1) from None


def _document(results_file: "ResultsFile") -> dict[str, Any]:
    from dynabench.evaluate.cards.yaml_text import plain_values

    document: dict[str, Any] = {"form": results_file.form, "left_out": results_file.left_out}
    if results_file.models:
        document["models"] = [asdict(model) for model in results_file.models]
    if results_file.entries:
        document["entries"] = [asdict(entry) for entry in results_file.entries]
    if results_file.indexes:
        document["train-eval-index"] = [index.document() for index in results_file.indexes]
    if results_file.benchmark:
        document["benchmark"] = results_file.benchmark.document()
    if results_file.log:
        document["log"] = {
            "program": results_file.log.program,
            "model": results_file.log.model,
            "made_at": results_file.log.made_at,
        }
    plain: dict[str, Any] = plain_values(document)
    return plain


def _tables(results_file: "ResultsFile") -> list[Table]:
    tables = []
    rows: list[tuple[Any, ...]] = [
        (model.name, result.dataset_name, result.metric_name or result.metric_type, result.metric_value)
        for model in results_file.models
        for result in model.results
    ] + [("", entry.dataset_id, entry.task_id, entry.value) for entry in results_file.entries]
    if rows:
        tables.append(_table(("model", "dataset", "metric", "value"), rows))
    if results_file.indexes:
        lines: list[tuple[Any, ...]] = [
            (index.config, index.task, index.task_id, ", ".join(index.columns)) for index in results_file.indexes
        ]
        tables.append(_table(("config", "task", "task id", "columns"), lines))
    if results_file.benchmark:
        lines = [
            (task.id, task.config, task.split, results_file.benchmark.framework)
            for task in results_file.benchmark.tasks
        ]
        tables.append(_table(("task", "config", "split", "framework"), lines))
    if not tables:
        tables.append(_table(("This file has no results.",), []))
    return tables


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    from rich.markup import escape

    table = Table(*header)
    for row in rows:
        table.add_row(*("" if value is None else escape(str(value)) for value in row))
    return table
