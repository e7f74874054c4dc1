"""What all evaluators do: read the data, ask the model, score its answers, time it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dynabench.evaluate.evaluator import fingerprint
from dynabench.evaluate.evaluator.checkpoint import Checkpoint
from dynabench.evaluate.evaluator.data import Table, load_data
from dynabench.evaluate.evaluator.hardware import hardware, peak_memory, watch_memory
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.probabilities import Probabilities
from dynabench.evaluate.evaluator.resolving import Parts, resolved
from dynabench.evaluate.evaluator.running import Clock, Progress, Run, run
from dynabench.evaluate.evaluator.scoring import Answers, Strategy, loaded, scored, takes_probabilities


@dataclass(frozen=True)
class Question:
    """What is asked of one model about one data set: the columns and options of the task."""

    table: Table
    options: Mapping[str, Any]
    seed: int = 0

    def __getitem__(self, name: str) -> Any:
        return self.options[name]

    def column(self, argument: str) -> Sequence[Any]:
        """The column that an argument names."""
        return self.table.column(self.options[argument], argument)

    def texts(self, argument: str) -> list[str]:
        """The column of texts that an argument names."""
        return self.table.texts(self.options[argument], argument)

    def labels(self, argument: str) -> list[Any]:
        """The column of labels that an argument names."""
        return self.table.labels(self.options[argument], argument)

    def classes(self, argument: str) -> Sequence[str] | None:
        """The names of the classes of the column that an argument names, where the data tells them."""
        return self.table.classes.get(self.options[argument])


class Evaluator(ABC):
    """One task. Use `evaluator(task)`; a task of your own is a subclass.

    `defaults` are the task's columns and options, which `compute` takes as keywords.
    """

    task: str
    metric: ClassVar[str] = "accuracy"
    defaults: ClassVar[Mapping[str, Any]] = {}
    pipeline_options: ClassVar[Mapping[str, Any]] = {}  # for pipelines that are called as they are
    whole_options: ClassVar[Mapping[str, Any]] = {}  # for those that are to answer with every label
    unanswered: ClassVar[frozenset[str]] = frozenset({"label_mapping", "squad_v2_format"})  # no part of what is asked

    def __init__(self, task: str, clock: Clock = time.perf_counter) -> None:
        self.task = task
        self.clock = clock

    # What a task says

    @abstractmethod
    def inputs(self, question: Question) -> Sequence[Any]:
        """What the model gets, a value a row."""

    @abstractmethod
    def network(self, parts: Parts, question: Question) -> Predictor:
        """A model of transformers, run natively."""

    @abstractmethod
    def references(self, question: Question) -> dict[str, Any]:
        """The metric's columns that the data gives. Raises ValueError for rows that cannot be scored."""

    @abstractmethod
    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """The metric's columns that the model's answers give."""

    def probabilities(self, answers: list[Any], question: Question, predictor: Predictor) -> Probabilities:
        """A probability of each label, for metrics that take those. Raises ValueError where there are none."""
        raise ValueError(f"this metric takes probabilities of labels, and {self.task} has none")

    def check(self, question: Question, predictor: Predictor) -> None:  # noqa: B027
        """Raises ValueError for what would fail after the model has run; nothing by default."""

    def default_metric(self, question: Question) -> Any:
        """The metric where none is given."""
        return self.metric

    # What `compute` does

    def compute(
        self,
        model_or_pipeline: Any = None,
        data: Any = None,
        subset: str | None = None,
        split: str | None = None,
        metric: Any = None,
        tokenizer: Any = None,
        feature_extractor: Any = None,
        strategy: str = "simple",
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        device: Any = None,
        random_state: int | None = None,
        *,
        batch_size: int = 32,
        metric_options: Mapping[str, Any] | None = None,
        method: str = "bca",
        checkpoint: str | Path | None = None,
        progress: Progress | None = None,
        warm_up: bool | None = None,
        return_predictions: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """Scores of the model on the data, and how fast it was.

        Args:
            model_or_pipeline: path or name of a model of transformers, the model itself, a pipeline, a callable from a
                list of inputs to as many outputs, or a model with a card.
            data: rows, columns, a data frame, a `datasets` data set, a path, or a name; see `load_data`.
            subset: configuration of a named data set.
            split: of data with splits, perhaps with a slice ("test[:100]"); by default see `choose_split`.
            metric: name, module or combined modules; by default the task's.
            tokenizer: tokenizer, or its path, of a model that is given itself.
            feature_extractor: the same for images and sounds.
            strategy: "simple", or "bootstrap" for intervals.
            confidence_level: of the intervals.
            n_resamples: how many times the rows are drawn.
            device: number (-1 is the CPU), name or torch device; by default a GPU if there is one.
            random_state: seed of the intervals, and of a model that samples; 0 by default.
            batch_size: rows that the model gets at once; texts of like length go together.
            metric_options: keywords for the metric, such as average="macro".
            method: of the intervals: "bca", "percentile" or "basic".
            checkpoint: a file that answers are appended to; a run that broke off goes on from it.
            progress: called with the numbers of rows done and of all, after each batch.
            warm_up: whether one untimed row goes before; by default for models, not for callables.
            return_predictions: adds "predictions" as the metric got them; for a metric that takes probabilities also
                "probabilities", a list of one for each of the "labels" a row.
            options: the task's columns and options: see `defaults`.

        Returns:
            The metric's keys (under "bootstrap" each with score, confidence_interval and standard_error);
            total_time_in_seconds, samples_per_second, latency_in_seconds and its percentiles, tokens_per_second where
            known: of inference (with tokenisation) alone; peak_memory_in_bytes, batch_size, hardware.

        Raises:
            ValueError: what cannot be evaluated, before the model runs wherever that can be known.
            TypeError: an option that the task does not have.
        """
        told = Strategy(strategy, confidence_level, n_resamples, random_state or 0, method)
        question = Question(load_data(data, subset, split), self._chosen(options), random_state or 0)
        judge = loaded(metric if metric is not None else self.default_metric(question))
        whole = takes_probabilities(judge)
        predictor = self.predictor(model_or_pipeline, question, tokenizer, feature_extractor, device, whole)
        columns = self.references(question)
        self.check(question, predictor)
        if whole:
            self.probabilities([], question, predictor)  # refuses before the model runs
        watch_memory(predictor.device)
        warm = predictor.warms_up if warm_up is None else warm_up
        found = self.answered(predictor, question, batch_size, checkpoint, progress, warm)
        peak = peak_memory(predictor.device)
        said = self.predictions(found.answers, question, predictor)
        chances = self.probabilities(found.answers, question, predictor) if whole else None
        scores = scored(judge, Answers({**columns, **said}, chances), metric_options or {}, told)
        if chances is not None:
            said |= {"probabilities": chances.rows.tolist(), "labels": list(chances.labels)}
        return {
            **scores,
            **found.timing.result(),
            "peak_memory_in_bytes": peak,
            "batch_size": batch_size,
            "hardware": hardware(predictor.device),
            **(said if return_predictions else {}),
        }

    def predictor(
        self,
        model: Any,
        question: Question,
        tokenizer: Any = None,
        feature_extractor: Any = None,
        device: Any = None,
        whole: bool = False,
    ) -> Predictor:
        """What answers for `model`; where the `whole` is asked for, with a probability of every label."""
        parts = Parts(self.task, tokenizer, feature_extractor, device)
        build: Callable[[Parts], Predictor] = lambda found: self.network(found, question)  # noqa: E731
        options = {**self.pipeline_options, **(self.whole_options if whole else {})}
        found = resolved(model, parts, build, options)
        found.whole = whole
        return found

    def answered(
        self,
        predictor: Predictor,
        question: Question,
        batch_size: int,
        checkpoint: str | Path | None,
        progress: Progress | None,
        warm_up: bool,
    ) -> Run:
        """The model's answer to each row."""
        inputs = self.inputs(question)
        memory = None
        if checkpoint is not None:
            asked = {name: value for name, value in question.options.items() if name not in self.unanswered}
            about = {
                "model": predictor.identity(),
                "data": question.table.identity or fingerprint.of_rows(inputs),
                "settings": fingerprint.of_value(
                    [self.task, sorted(asked.items()), question.seed, *(["whole"] if predictor.whole else [])]
                ),
            }
            memory = Checkpoint(checkpoint, about)
        with predictor.opened():
            return run(
                predictor,
                inputs,
                batch_size=batch_size,
                clock=self.clock,
                checkpoint=memory,
                progress=progress,
                warm_up=warm_up,
            )

    def _chosen(self, options: Mapping[str, Any]) -> dict[str, Any]:
        unknown = [name for name in options if name not in self.defaults]
        if unknown:
            raise TypeError(f"{self.task} has no {', '.join(unknown)}; its options are {', '.join(self.defaults)}")
        return {**self.defaults, **options}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.task!r})"
