"""`dynabench evaluate run`: rows of files, a model asked once or predictions that are there, and what metrics say."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.progress import Progress

from dynabench.evaluate import inputs, tables
from dynabench.evaluate.chosen_metrics import ChosenMetric
from dynabench.evaluate.module import Module
from dynabench.evaluate.values import OptionChoiceError
from dynabench.kit.distributions import LIBRARY, install_command

ALIASES = {"references": ("reference", "label"), "predictions": ("prediction",)}


@dataclass(frozen=True)
class RunRows:
    """Columns of equal length. Cells of `untyped` ones are texts whose meaning the module's columns say."""

    columns: Mapping[str, list[Any]]
    untyped: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return max((len(column) for column in self.columns.values()), default=0)


def read_rows(path: Path) -> RunRows:
    """A file by its ending: CSV, JSON, JSON lines, Parquet; `.txt` has one prediction a line; each perhaps with `.gz`.

    Raises ValueError for what cannot be read.
    """
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    if tables.ending_of(path) == ".txt":
        return RunRows({"prediction": inputs.split_lines(tables.text_of(path))}, frozenset({"prediction"}))
    columns, untyped = tables.read_table(path)
    return RunRows(columns, frozenset(columns) if untyped else frozenset())


def join_predictions(data: RunRows, predictions: RunRows) -> RunRows:
    """The data with predictions from another file, row by row. Raises ValueError where there are more or fewer."""
    if len(predictions) != len(data):
        raise ValueError(f"the data has {len(data):,} rows and the predictions {len(predictions):,}")
    if len(predictions.columns) == 1:
        (name,) = predictions.columns
        predictions = RunRows(
            {"prediction": predictions.columns[name]}, frozenset({"prediction"} if predictions.untyped else ())
        )
    untyped = frozenset(data.untyped - predictions.columns.keys())
    return RunRows({**data.columns, **predictions.columns}, untyped | predictions.untyped)


def select_columns(module: type[Module], data: RunRows, named: Mapping[str, str]) -> dict[str, list[Any]]:
    """The module's columns from the data: those that `named` says, else those of the same name, perhaps singular.

    Raises ValueError, with the data's columns, where one that it needs is missing.
    """
    kinds = {**module.columns, **module.optional}
    columns = {}
    for name, kind in kinds.items():
        aliases = (name, name.removesuffix("s"), *ALIASES.get(name, ()))
        place = named.get(name) or next((item for item in aliases if item in data.columns), "")
        if place in data.columns:
            column = data.columns[place]
            columns[name] = inputs.parse_cells(kind, column) if place in data.untyped else column
        elif name in module.columns or name in named:
            names = ", ".join(data.columns)
            problem = f"{place!r} is no column of the data" if name in named else f"the data has no column for {name}"
            raise ValueError(f"{problem}, which has {names}; say --column {name}=NAME")
    return columns


Columns = Mapping[str, Any]


@dataclass(frozen=True)
class RunRequest:
    """The request for one run of `dynabench evaluate`: data, metrics, and a model or predictions."""

    data: str
    metrics: Sequence[ChosenMetric] = ()
    model: str = ""
    task: str = ""
    predictions: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    subset: str | None = None
    split: str | None = None
    label_mapping: Mapping[str, str] = field(default_factory=dict)
    batch_size: int = 32
    checkpoint: Path | None = None
    level: float | None = None
    by: str = ""


@dataclass(frozen=True)
class RunScore:
    """The result of one metric on all rows, or on the rows with one `value` of the column `by`.

    `error` says why where the metric has no result.
    """

    metric: ChosenMetric
    rows: int
    result: Mapping[str, Any]
    value: str | None = None
    error: str = ""


@dataclass(frozen=True)
class RunOutcome:
    """All scores of a run, how long the model took, and the columns of the first metric for pictures."""

    run: RunRequest
    rows: int
    scores: Sequence[RunScore]
    timing: Mapping[str, Any]
    columns: Columns

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        run = self.run
        options = {"data": run.data, "model": run.model, "task": run.task, "split": run.split, "by": run.by}
        scores = [
            {"metric": item.metric.name, "options": dict(item.metric.options), "rows": item.rows}
            | ({run.by: item.value} if item.value is not None else {})
            | ({"error": item.error} if item.error else {"result": dict(item.result)})
            for item in self.scores
        ]
        return {
            **{name: value for name, value in options.items() if value},
            "rows": self.rows,
            "scores": scores,
            **({"timing": dict(self.timing)} if self.timing else {}),
        }


def parse_pairs(texts: Sequence[str], where: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a dictionary. Raises ValueError for one without `=`."""
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise ValueError(f"{where}: {wrong[0]!r} is not of the form NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def run_evaluation(request: RunRequest, progress: Progress) -> RunOutcome:
    """Score the predictions or the model's answers. Raises ValueError, with what to mend, for what cannot be done."""
    if not request.metrics and not request.model:
        raise ValueError("say which --metric; `dynabench evaluate list` has all")
    if request.model:
        answered = ask_model(request, progress)
        data, timing, metrics, columns = answered.data, answered.timing, answered.metrics, answered.columns
    else:
        data, timing, metrics = read_rows(Path(request.data)), {}, request.metrics
        if request.predictions is not None:
            data = join_predictions(data, read_rows(request.predictions))
        columns = [select_columns(item.kind, data, request.columns) for item in metrics]
    parts = list(_parts(data, request.by))
    bar = progress.add_task("Computing", total=len(parts) * len(metrics))
    scores = []
    for metric, column in zip(metrics, columns, strict=True):
        for value, chosen in parts:
            scores.append(_score(metric, column, value, chosen, request.level))
            progress.advance(bar)
    return RunOutcome(request, len(data), scores, timing, columns[0])


def _parts(data: RunRows, by: str) -> Iterator[tuple[str | None, list[int] | None]]:
    """All rows, then those of each value of the column `by`."""
    yield None, None
    if not by:
        return
    if by not in data.columns:
        raise ValueError(f"--by: {by!r} is no column of the data, which has {', '.join(data.columns)}")
    places: dict[str, list[int]] = {}
    for row, value in enumerate(data.columns[by]):
        places.setdefault(str(value), []).append(row)
    if len(places) > 100:
        raise ValueError(f"--by: {by} has {len(places):,} values; choose a column with at most 100")
    yield from sorted(places.items())


def _suggest_options(metric: ChosenMetric, error: ValueError) -> str:
    """Return the metric options to type instead where other options avoid the error, else an empty text.

    Options that are set already are kept beside them.
    """
    if not isinstance(error, OptionChoiceError):
        return ""
    choices = [{**metric.options, **choice} for choice in error.choices]
    typed = [",".join(f"{name}={_write_option(value)}" for name, value in item.items()) for item in choices]
    return "\nType one of these:" + "".join(f"\n  --metric {shlex.quote(f'{metric.name}:{text}')}" for text in typed)


def _write_option(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | tuple) else str(value)


def _score(
    metric: ChosenMetric, columns: Columns, value: str | None, chosen: list[int] | None, level: float | None
) -> RunScore:
    module = metric.module()
    column_names = {*module.columns, *module.optional}
    module_inputs: dict[str, Any] = {name: column for name, column in columns.items() if name in column_names}
    beside = {name: value for name, value in columns.items() if name in module.options_known()}
    if chosen is not None:
        module_inputs = {name: [column[row] for row in chosen] for name, column in module_inputs.items()}
    n = max((len(column) for column in module_inputs.values()), default=0)
    interval: dict[str, Any] = {"interval": level} if level is not None and hasattr(module, "formula") and n > 1 else {}
    try:
        return RunScore(metric, n, module.compute(**{**module_inputs, **beside, **interval}), value)
    except ValueError as error:
        if chosen is None:
            raise ValueError(f"{metric.name}: {error}{_suggest_options(metric, error)}") from None
        return RunScore(metric, n, {}, value, str(error))


TASKS = {"nli": "natural-language-inference", "qa": "question-answering"}  # of shipped models; the others classify
TIMING = (
    "total_time_in_seconds",
    "samples_per_second",
    "tokens_per_second",
    "latency_in_seconds",
    "latency_p50_in_seconds",
    "latency_p95_in_seconds",
    "latency_p99_in_seconds",
    "peak_memory_in_bytes",
    "batch_size",
    "hardware",
)
EXTRA = f"models are asked with torch and transformers: {install_command(LIBRARY, 'models')}"


@dataclass(frozen=True)
class ModelAnswers:
    """A model's answers as columns (and options) of each metric, the data they are about, and the metrics: those that
    were chosen, else the task's own."""

    data: RunRows
    columns: Sequence[Mapping[str, Any]]
    timing: Mapping[str, Any]
    metrics: Sequence[ChosenMetric]


@dataclass
class ColumnRecorder:
    """Stands in for several metrics: keeps the columns that each of them takes, labels or probabilities, so that the
    model is asked once for all."""

    evaluation_modules: Sequence[Module]
    columns: Sequence[Mapping[str, Any]] = ()

    def compute(self, **columns: Any) -> dict[str, Any]:
        """Keep the columns for all metrics."""
        self.columns = [columns for _ in self.evaluation_modules]
        return {}

    def compute_of(self, columns_of: Callable[[Module], Mapping[str, Any]]) -> dict[str, Any]:
        """Keep each metric's own columns and the options that go with them."""
        self.columns = [columns_of(module) for module in self.evaluation_modules]
        return {}


def ask_model(request: RunRequest, progress: Progress) -> ModelAnswers:
    """Ask the model about all rows, once. Raises ValueError for a model, task or data that does not fit."""
    try:
        return _ask_model(request, progress)
    except ModuleNotFoundError:  # the command says what brings it
        raise
    except ImportError as error:
        raise ValueError(f"{EXTRA} ({error})") from None
    except (KeyError, TypeError, OSError) as error:  # no such task; no such column option; no such model
        raise ValueError(str(error.args[0] if error.args else error)) from None


def _ask_model(request: RunRequest, progress: Progress) -> ModelAnswers:
    model, task = find_model(request.model, request.task)
    from dynabench.evaluate.evaluator import evaluator
    from dynabench.evaluate.evaluator.base import EvaluationInputs
    from dynabench.evaluate.evaluator.data import load_data

    asks = evaluator(task)
    columns = {name if name in asks.defaults else f"{name}_column": value for name, value in request.columns.items()}
    mapping = {
        name: int(label) if label.lstrip("-").isdecimal() else label for name, label in request.label_mapping.items()
    }
    evaluator_options: dict[str, Any] = columns | ({"label_mapping": mapping} if mapping else {})
    bar = progress.add_task(f"Asking {request.model}", total=None)
    table = load_data(request.data, request.subset, request.split)
    metrics = request.metrics or (
        ChosenMetric.of(asks.default_metric(EvaluationInputs(table, {**asks.defaults, **evaluator_options}))),
    )
    recorder = ColumnRecorder([item.module() for item in metrics])
    result = asks.compute(
        model,
        table,
        metric=recorder,
        batch_size=request.batch_size,
        checkpoint=request.checkpoint,
        progress=lambda done, total: progress.update(bar, completed=done, total=total),
        **evaluator_options,
    )
    by = {request.by: list(table.column(request.by, "--by"))} if request.by else {}
    rows = {"": [None] * len(table), **by}
    return ModelAnswers(
        RunRows(rows), recorder.columns, {name: result[name] for name in TIMING if name in result}, metrics
    )


def find_model(name: str, task: str) -> tuple[Any, str]:
    """The shipped model of this name, else the name, which transformers loads; and the task.

    Raises ValueError where the task must be said.
    """
    try:
        from dynabench.models import catalog
    except ImportError:  # a light install ships no models
        entries = []
    else:
        entries = [item for item in catalog.find() if item.name == name]
    if entries and entries[0].card is not None:
        return _open_model(entries[0].folder), task or TASKS.get(entries[0].card.task, "text-classification")
    from dynabench.evaluate.evaluator.data import looks_like_path

    if not Path(name).exists() and looks_like_path(name):
        raise ValueError(f"there is no file or folder {name}, nor a shipped model of this name")
    if not task:
        raise ValueError(f"say which --task {name} is for, such as text-classification")
    return name, task


def _open_model(folder: Path) -> Any:
    """The model in this process, or on the cluster that the settings name."""
    from dynabench.kit.settings import get_settings
    from dynabench.models import catalog
    from dynabench.models.clusters import chosen_cluster

    settings = get_settings()
    cluster = chosen_cluster(settings)
    return cluster.open_model(settings, folder) if cluster else catalog.open_model(folder, bulk=True)
