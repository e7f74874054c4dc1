"""Models for `dynabench evaluate run`: shipped ones by name, others by hub id or folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import Progress

from dynabench.cli.evaluation.rows import Data
from dynabench.evaluate.module import Module
from dynabench.kit.distributions import LIBRARY, install_command

if TYPE_CHECKING:
    from dynabench.cli.evaluation.running import Chosen, Run

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
class Answers:
    """A model's answers as columns (and options) of each metric, the data they are about, and the metrics: those that
    were chosen, else the task's own."""

    data: Data
    columns: Sequence[Mapping[str, Any]]
    timing: Mapping[str, Any]
    metrics: "Sequence[Chosen]"


@dataclass
class Recorder:
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


def answers(asked: "Run", progress: Progress) -> Answers:
    """Ask the model about all rows, once. Raises ValueError for a model, task or data that does not fit."""
    try:
        return _answers(asked, progress)
    except ModuleNotFoundError:  # the command says what brings it
        raise
    except ImportError as error:
        raise ValueError(f"{EXTRA} ({error})") from None
    except (KeyError, TypeError, OSError) as error:  # no such task; no such column option; no such model
        raise ValueError(str(error.args[0] if error.args else error)) from None


def _answers(asked: "Run", progress: Progress) -> Answers:
    model, task = found(asked.model, asked.task)
    from dynabench.cli.evaluation.running import Chosen
    from dynabench.evaluate.evaluator import evaluator
    from dynabench.evaluate.evaluator.base import EvaluationInputs
    from dynabench.evaluate.evaluator.data import load_data

    asks = evaluator(task)
    columns = {name if name in asks.defaults else f"{name}_column": value for name, value in asked.columns.items()}
    mapping = {
        name: int(label) if label.lstrip("-").isdecimal() else label for name, label in asked.label_mapping.items()
    }
    given: dict[str, Any] = columns | ({"label_mapping": mapping} if mapping else {})
    bar = progress.add_task(f"Asking {asked.model}", total=None)
    table = load_data(asked.data, asked.subset, asked.split)
    metrics = asked.metrics or (Chosen.of(asks.default_metric(EvaluationInputs(table, {**asks.defaults, **given}))),)
    recorder = Recorder([each.module() for each in metrics])
    result = asks.compute(
        model,
        table,
        metric=recorder,
        batch_size=asked.batch_size,
        checkpoint=asked.checkpoint,
        progress=lambda done, total: progress.update(bar, completed=done, total=total),
        **given,
    )
    by = {asked.by: list(table.column(asked.by, "--by"))} if asked.by else {}
    rows = {"": [None] * len(table), **by}
    return Answers(Data(rows), recorder.columns, {name: result[name] for name in TIMING if name in result}, metrics)


def found(name: str, task: str) -> tuple[Any, str]:
    """The shipped model of this name, else the name, which transformers loads; and the task.

    Raises ValueError where the task must be said.
    """
    try:
        from dynabench.models import catalog
    except ImportError:  # a light install ships no models
        entries = []
    else:
        entries = [each for each in catalog.find() if each.name == name]
    if entries and entries[0].card is not None:
        return _opened(entries[0].folder), task or TASKS.get(entries[0].card.task, "text-classification")
    from dynabench.evaluate.evaluator.data import looks_like_path

    if not Path(name).exists() and looks_like_path(name):
        raise ValueError(f"there is no file or folder {name}, nor a shipped model of this name")
    if not task:
        raise ValueError(f"say which --task {name} is for, such as text-classification")
    return name, task


def _opened(folder: Path) -> Any:
    """The model in this process, or on the cluster that the settings name."""
    from dynabench.kit.settings import get_settings
    from dynabench.models import catalog
    from dynabench.models.clusters import chosen_cluster

    settings = get_settings()
    cluster = chosen_cluster(settings)
    return cluster.open_model(settings, folder) if cluster else catalog.open_model(folder, bulk=True)
