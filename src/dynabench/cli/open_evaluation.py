"""`dynabench evaluate run --dataset`: chosen models on any dataset, here or at a server, with a board."""

import csv
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TaskID
from rich.table import Table

from dynabench.client import ApiError, Client
from dynabench.kit import errors
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import catalog, spec
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations import (
    local_runs,
    planning,
    predictions,
    published_metrics,
    repository_models,
    sources,
    uploaded_rows,
)
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.planning import OpenPlan
from dynabench.open_evaluations.remote_source import REMOTE_PREFIX, fetch_chosen, open_remote_dataset
from dynabench.open_evaluations.row_source import RowSource
from dynabench.open_evaluations.schemas import BoardOut, OpenModelOut
from dynabench.open_evaluations.sources import UploadSource
from dynabench.open_evaluations.tables import OPEN_STATES, OpenState

Json = dict[str, Any]
SOME_FAILED = 3
"""Exit status where some models are scored and others failed."""
POLL_SECONDS = 0.5
PINS = planning.HubPins(published_metrics.pin_trusted, repository_models.refuse_repository)
"""Metrics of a hub run here where the user trusts them; models in repositories of a platform run there."""


@dataclass(frozen=True)
class OpenRequest:
    """The options of one run; `choices` lacks the dataset and the models."""

    dataset: str
    models: Sequence[str]
    choices: Json = field(default_factory=dict)
    label_mapping: Mapping[str, str] = field(default_factory=dict)
    server: str = ""
    token: str = ""
    predictions: Path | None = None


def run_request(request: OpenRequest, json_file: Path | None) -> int:
    """Run a request, print the board, write the files; return the exit status. Raises ValueError with the reason."""
    if not request.models:
        raise ValueError("give at least one --model")
    if request.predictions and request.predictions.suffix not in (".csv", ".parquet"):
        raise ValueError("--predictions-out needs a name that ends in .csv or .parquet")
    try:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            document = _at_server(request, progress) if request.server else _here(request, progress)
    except errors.Problem as problem:
        raise ValueError(_reasons(problem.extra.get("fields") or {}, problem.detail)) from None
    except ApiError as problem:
        raise ValueError(_reasons(problem.fields, str(problem))) from None
    except httpx2.HTTPError as problem:
        raise ValueError(f"{request.server} does not answer: {problem}") from None
    if json_file is not None and str(json_file) == "-":
        typer.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        _print(document)
        if json_file is not None:
            json_file.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")
            typer.echo(str(json_file), err=True)
    if request.predictions and document["board"]["scores"]:
        typer.echo(str(request.predictions), err=True)
    failed = [model for model in document["models"] if model["state"] != OpenState.DONE]
    return 0 if not failed else SOME_FAILED if len(failed) < len(document["models"]) else 1


def _reasons(fields: Mapping[str, str], detail: str = "") -> str:
    """Problems by field as lines, in the words of the command."""
    named = {"models": "--model", "metrics": "--metric", "rows": "--rows", "labels": "--label-mapping"}
    lines = []
    for name, message in fields.items():
        role = name.removeprefix("column.")
        option = f"--map {role}=COLUMN" if role != name else named.get(name, f"--{name}")
        lines.append(f"{option}: {message}")
    return "\n".join(lines) or detail


# Here


def _here(request: OpenRequest, progress: Progress) -> Json:
    settings = get_settings()
    folders, cards = _find_models(request.models)
    names = [folders[name][0] if name in folders else name for name in request.models]
    choices = OpenChoices.parse({"dataset": request.dataset, "models": names, **request.choices})
    by_name = {card.name: card for card in cards}
    if request.label_mapping:
        mapped = {name: dict(request.label_mapping) for name in names if name in by_name}
        choices = choices.model_copy(update={"labels": mapped})
    with _opened(settings, request.dataset, choices, progress) as source:
        plan = planning.plan_rows(settings, source, choices, cards, PINS)
        if plan.problems:
            raise ValueError(_reasons(plan.problems))
        bars: dict[str, TaskID] = {name: progress.add_task(name, total=plan.counted_rows) for name in names}

        def report_progress(name: str, done: int, rows: int) -> None:
            progress.update(bars[name], completed=done, total=rows)

        with local_runs.run_locally(settings, plan, dict(folders.values()), report_progress) as outcome:
            if request.predictions and outcome.answered:
                _write_predictions(request.predictions, outcome)
            return _local_document(plan, outcome)


def _find_models(names: Sequence[str]) -> tuple[dict[str, tuple[str, Path]], list[ModelCard]]:
    """The names and folders of the models that were named by a path, and the cards of these and of all installed."""
    installed: dict[str, ModelCard] = {}
    for entry in catalog.find():
        if entry.card is not None:
            installed.setdefault(entry.name, entry.card)
    folders: dict[str, tuple[str, Path]] = {}
    for name in names:
        path = Path(name).expanduser()
        if name not in installed and (path / spec.FILE).is_file():
            card = spec.card(path)
            if card.name in installed and installed[card.name].version != card.version:
                raise ValueError(f"{name} is called {card.name}, as an installed model of another version is")
            folders[name], installed[card.name] = (card.name, path), card
    return folders, list(installed.values())


@contextmanager
def _opened(settings: Settings, dataset: str, choices: OpenChoices, progress: Progress) -> Iterator[RowSource]:
    """A file or folder of this machine, the dataset `TASK/NAME` of the platform here, or one of another hub."""
    path = Path(dataset).expanduser()
    if dataset.startswith(REMOTE_PREFIX):
        bar = progress.add_task(dataset, total=None)
        fetch_chosen(settings, choices, lambda done, size: progress.update(bar, completed=done, total=size))
        yield open_remote_dataset(None, settings, None, dataset.removeprefix(REMOTE_PREFIX), choices)
        return
    if path.is_dir():
        with tempfile.TemporaryDirectory(prefix="dynabench-folder-") as place:
            packed = uploaded_rows.pack_folder(path, Path(place))
            title = packed.name.removesuffix(".zip")
            yield UploadSource(path=packed, name=packed.name, title=title, edition="", rows=None, split=choices.split)
        return
    if path.is_file():
        uploaded_rows.require_known_kind(path.name)
        title = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
        yield UploadSource(path=path, name=path.name, title=title, edition="", rows=None, split=choices.split)
        return
    name = dataset.removeprefix("dataset:")
    task, slash, own_name = name.partition("/")
    if not slash or not task or not own_name or path.suffix:
        raise ValueError(
            f"{dataset} is no file or folder here, and no dataset TASK/NAME of the platform or remote:OWNER/NAME"
        )
    from dynabench.cli.operator import database

    with database() as db:
        yield db.read(sources.open_public, settings, name)


def _write_predictions(path: Path, outcome: local_runs.LocalOutcome) -> None:
    table = outcome.predictions
    if path.suffix == ".parquet":
        path.write_bytes(predictions.as_parquet(outcome.settings, table))
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.header)
        writer.writerows(predictions.read_lines(outcome.settings, table))


def _local_document(plan: OpenPlan, outcome: local_runs.LocalOutcome) -> Json:
    board = BoardOut.of(outcome.board) if outcome.scores else BoardOut(main="", scores=[], pairs=[])
    models = [OpenModelOut.model_validate(model).model_dump() for model in outcome.models]
    return {
        "dataset": plan.source.title,
        "task": plan.task.name,
        "columns": plan.choices.mapped,
        "rows": outcome.rows,
        "refused": outcome.refused,
        "report": outcome.report,
        "sha256": outcome.digest,
        "models": models,
        "board": board.model_dump(),
    }


# At a server


def _at_server(request: OpenRequest, progress: Progress) -> Json:
    with Client(request.server, request.token) as client:
        dataset = _upload(client, request.dataset)
        choices = dict(request.choices)
        if dataset.startswith(REMOTE_PREFIX):
            bar = progress.add_task(dataset, total=None)
            named = {name: choices[name] for name in ("config", "split") if choices.get(name)}
            choices |= client.fetch_rows(
                dataset, lambda done, size: progress.update(bar, completed=done, total=size or None), **named
            )
            dataset = choices.pop("dataset")
        if request.label_mapping:
            choices["labels"] = {name: dict(request.label_mapping) for name in request.models}
        started = client.evaluate_openly(dataset, request.models, **choices)
        typer.echo(f"evaluation {started['id']} at {request.server}/open-evaluations/{started['id']}", err=True)
        ended = _follow(client, int(started["id"]), progress)
        board = client.open_board(ended["id"])
        if request.predictions and board["scores"]:
            format = request.predictions.suffix.removeprefix(".")
            request.predictions.write_bytes(client.open_predictions(ended["id"], format))
        choices_made = ended["choices"] or {}
        return {
            "dataset": ended["title"],
            "task": ended["task"],
            "columns": choices_made.get("columns", {}),
            "rows": ended["rows"],
            "refused": ended["refused"],
            "report": [*ended["report"], *([ended["reason"]] if ended["reason"] else [])],
            "evaluation": ended["id"],
            "models": ended["models"],
            "board": board,
        }


def _upload(client: Client, dataset: str) -> str:
    """Send a file or a folder, and return what names it there; a dataset of the server keeps its name."""
    path = Path(dataset).expanduser()
    if path.is_dir():
        with tempfile.TemporaryDirectory(prefix="dynabench-folder-") as place:
            return str(client.upload_rows(str(uploaded_rows.pack_folder(path, Path(place)))))
    return str(client.upload_rows(str(path))) if path.is_file() else _named_at_server(dataset)


def _named_at_server(dataset: str) -> str:
    if dataset.startswith(("file:", "dataset:", "hub:", REMOTE_PREFIX)):
        return dataset
    if dataset.count("/") != 1:
        raise ValueError(
            f"{dataset} is no file or folder here, and names no dataset of the server: TASK/NAME or hub:OWNER/NAME"
        )
    return f"dataset:{dataset}"


def _follow(client: Client, id: int, progress: Progress) -> Json:
    """Show the progress of an evaluation until it has ended; return it then."""
    bars: dict[int, TaskID] = {}
    while True:
        seen = client.open_evaluation(id)
        for model in seen["models"]:
            number = model["number"]
            if number not in bars:
                bars[number] = progress.add_task(model["reference"], total=seen["rows"])
            progress.update(bars[number], completed=model["rows_done"], total=seen["rows"])
        if seen["state"] not in OPEN_STATES:
            return seen
        time.sleep(POLL_SECONDS)


def _print(document: Json) -> None:
    """Print the board, the pairs, and what went wrong."""
    console = Console()
    board = document["board"]
    columns = list(dict.fromkeys((score["metric"], score["key"]) for score in board["scores"]))
    by_place = {(score["model"], score["metric"], score["key"]): score for score in board["scores"]}
    title = f"{document['dataset']}: {document['task']}, {document['rows']:,} rows"
    table = Table("metric", "model", "value", "95% interval", title=escape(title))
    models = list(dict.fromkeys(score["model"] for score in board["scores"]))
    for column in columns:
        for at, name in enumerate(models):
            value, interval = _score_texts(by_place.get((name, *column)))
            heading = "" if at else _column_title(*column)
            table.add_row(escape(heading), escape(name), value, interval, end_section=at == len(models) - 1)
    if columns:
        console.print(table)
    for pair in board["pairs"]:
        finding = "they differ" if pair["differs"] else "these rows do not tell them apart"
        line = (
            f"{pair['first']} - {pair['second']}: {pair['value']:.4f} [{pair['low']:.4f}, {pair['high']:.4f}] {finding}"
        )
        console.print(line, markup=False, highlight=False)
    stderr = Console(stderr=True, soft_wrap=True)
    for model in document["models"]:
        if model["reason"] or model["state"] != OpenState.DONE:
            line = f"{model['reference']}: {model['state']} {model['code']} {model['reason']}"
            stderr.print(line, style="red", markup=False, highlight=False)
    if document["refused"] or not columns:
        stderr.print(f"{document['refused']:,} rows were left out", markup=False, highlight=False)
        for line in document["report"][:5]:
            stderr.print(f"  {line}", markup=False, highlight=False)


def _column_title(metric: str, key: str) -> str:
    name, _blank, options = metric.partition(" ")
    return f"{key if key == name else f'{name} {key}'} {options}".strip()


def _score_texts(score: Mapping[str, Any] | None) -> tuple[str, str]:
    if score is None:
        return "-", ""
    interval = "" if score["low"] is None else f"{score['low']:.4f} to {score['high']:.4f}"
    return f"{score['value']:.4f}", interval
