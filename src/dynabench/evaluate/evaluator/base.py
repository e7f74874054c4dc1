"""Evaluator: the steps of all tasks, from reading data and running the model to scores and timing."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from dynabench.evaluate.evaluator import running
from dynabench.evaluate.evaluator.data import DataTable, load_data
from dynabench.evaluate.evaluator.predictors.base import (
    CallablePredictor,
    CardedPredictor,
    Predictor,
    callable_of,
    device_of,
    is_carded,
    is_network,
    is_pipeline,
)
from dynabench.evaluate.evaluator.running import (
    AnswerCheckpoint,
    Clock,
    Progress,
    RunResult,
    hardware,
    peak_memory,
    run_predictor,
    watch_memory,
)
from dynabench.evaluate.evaluator.scoring import (
    IntervalStrategy,
    LabelProbabilities,
    MetricInputs,
    load_metric,
    score_answers,
    takes_probabilities,
)

TASKS_OF_PIPELINES = {
    "natural-language-inference": "text-classification",
    "zero-shot-classification": "text-generation",
}


@dataclass(frozen=True)
class PredictorParts:
    """The parts of a native predictor; `model` is a path, a name, or a model of transformers."""

    task: str
    tokenizer: Any = None
    feature_extractor: Any = None
    device: Any = None
    model: Any = None
    options: Mapping[str, Any] | None = None  # that a pipeline was made with


def predictor_for(
    model: Any,
    parts: PredictorParts,
    network: Callable[[PredictorParts], Predictor],
    pipeline_options: Mapping[str, Any],
) -> Predictor:
    """Return the predictor of a path, name, model, pipeline, model with a card, or callable.

    Pipelines of transformers are run natively from their parts, by `network`; pipelines of subclasses elsewhere,
    whose steps may differ, are called as they are, with `pipeline_options`. Raises ValueError for anything else.
    """
    if model is None:
        raise ValueError("give model_or_pipeline: a path, a name, a model, a pipeline or a callable")
    if isinstance(model, str | Path) or is_network(model):
        return network(replace(parts, model=model))
    if is_pipeline(model):
        _check_pipeline(model, parts)
        return network(_parts_of_pipeline(model, parts))
    if is_carded(model):
        return CardedPredictor(model)
    function = callable_of(model)
    if function is None:
        raise ValueError(f"{model!r} is no model, no pipeline and cannot be called with a list of inputs")
    is_transformers_pipeline = any(
        base.__name__ == "Pipeline" and base.__module__.startswith("transformers.") for base in type(model).__mro__
    )
    return CallablePredictor(function, pipeline_options if is_transformers_pipeline else None)


def _check_pipeline(pipe: Any, parts: PredictorParts) -> None:
    pipeline_task = TASKS_OF_PIPELINES.get(parts.task, parts.task)
    if pipe.task != pipeline_task and not (
        pipeline_task.startswith("translation") and pipe.task.startswith("translation")
    ):
        raise ValueError(f"this pipeline does {pipe.task}, the evaluation is of {parts.task}")
    requested_device = device_of(parts.device) if parts.device is not None else None
    if requested_device is not None and str(requested_device) != str(pipe.device):
        raise ValueError(
            f"the pipeline is on {pipe.device}, device={parts.device!r} asks for {requested_device}; leave one out"
        )


def _parts_of_pipeline(pipe: Any, parts: PredictorParts) -> PredictorParts:
    processor = getattr(pipe, "image_processor", None) or getattr(pipe, "feature_extractor", None)
    return replace(
        parts,
        model=pipe.model,
        tokenizer=pipe.tokenizer,
        feature_extractor=processor,
        device=pipe.device,
        options=dict(getattr(pipe, "_forward_params", {}) or {}),
    )


@dataclass(frozen=True)
class EvaluationInputs:
    """The data of one evaluation, with the columns and options of its task."""

    table: DataTable
    options: Mapping[str, Any]
    seed: int = 0

    def __getitem__(self, name: str) -> Any:
        return self.options[name]

    def column(self, argument: str) -> Sequence[Any]:
        """Return the column that an argument names."""
        return self.table.column(self.options[argument], argument)

    def texts(self, argument: str) -> list[str]:
        """Return the column of texts that an argument names."""
        return self.table.texts(self.options[argument], argument)

    def labels(self, argument: str) -> list[Any]:
        """Return the column of labels that an argument names."""
        return self.table.labels(self.options[argument], argument)

    def classes(self, argument: str) -> Sequence[str] | None:
        """Return the class names of the column that an argument names; None where the data has none."""
        return self.table.classes.get(self.options[argument])


class Evaluator(ABC):
    """One task. Use `evaluator(task)`; a custom task is a subclass.

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
    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Return the inputs of the model, one value a row."""

    @abstractmethod
    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """Return a predictor that runs a model of transformers natively."""

    @abstractmethod
    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Return the metric's columns that come from the data. Raises ValueError for rows that cannot be scored."""

    @abstractmethod
    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Return the metric's columns that come from the model's answers."""

    def probabilities(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> LabelProbabilities:
        """Return a probability of each label, for metrics that take those. Raises ValueError where there are none."""
        raise ValueError(f"this metric takes probabilities of labels, and {self.task} has none")

    def check(self, question: EvaluationInputs, predictor: Predictor) -> None:  # noqa: B027
        """Raise ValueError for what would fail after the model has run; nothing by default."""

    def default_metric(self, question: EvaluationInputs) -> Any:
        """Return the metric to use where the caller names none."""
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
        bootstrap_options = IntervalStrategy(strategy, confidence_level, n_resamples, random_state or 0, method)
        question = EvaluationInputs(load_data(data, subset, split), self._chosen(options), random_state or 0)
        scorer = load_metric(metric if metric is not None else self.default_metric(question))
        all_labels = takes_probabilities(scorer)
        predictor = self.predictor(model_or_pipeline, question, tokenizer, feature_extractor, device, all_labels)
        columns = self.references(question)
        self.check(question, predictor)
        if all_labels:
            self.probabilities([], question, predictor)  # refuses before the model runs
        watch_memory(predictor.device)
        warm = predictor.warms_up if warm_up is None else warm_up
        run_result = self.answered(predictor, question, batch_size, checkpoint, progress, warm)
        peak = peak_memory(predictor.device)
        predicted = self.predictions(run_result.answers, question, predictor)
        label_probabilities = self.probabilities(run_result.answers, question, predictor) if all_labels else None
        scores = score_answers(
            scorer, MetricInputs({**columns, **predicted}, label_probabilities), metric_options or {}, bootstrap_options
        )
        if label_probabilities is not None:
            predicted |= {
                "probabilities": label_probabilities.rows.tolist(),
                "labels": list(label_probabilities.labels),
            }
        return {
            **scores,
            **run_result.timing.result(),
            "peak_memory_in_bytes": peak,
            "batch_size": batch_size,
            "hardware": hardware(predictor.device),
            **(predicted if return_predictions else {}),
        }

    def predictor(
        self,
        model: Any,
        question: EvaluationInputs,
        tokenizer: Any = None,
        feature_extractor: Any = None,
        device: Any = None,
        whole: bool = False,
    ) -> Predictor:
        """Return the predictor of `model`; with `whole`, its answers have a probability of every label."""
        parts = PredictorParts(self.task, tokenizer, feature_extractor, device)
        build: Callable[[PredictorParts], Predictor] = lambda native: self.network(native, question)  # noqa: E731
        options = {**self.pipeline_options, **(self.whole_options if whole else {})}
        native = predictor_for(model, parts, build, options)
        native.whole = whole
        return native

    def answered(
        self,
        predictor: Predictor,
        question: EvaluationInputs,
        batch_size: int,
        checkpoint: str | Path | None,
        progress: Progress | None,
        warm_up: bool,
    ) -> RunResult:
        """Run the model on all rows and return its answers and timing."""
        inputs = self.inputs(question)
        checkpoint_file = None
        if checkpoint is not None:
            settings = {name: value for name, value in question.options.items() if name not in self.unanswered}
            fingerprints = {
                "model": predictor.identity(),
                "data": question.table.identity or running.fingerprint_rows(inputs),
                "settings": running.fingerprint_value(
                    [self.task, sorted(settings.items()), question.seed, *(["whole"] if predictor.whole else [])]
                ),
            }
            checkpoint_file = AnswerCheckpoint(checkpoint, fingerprints)
        with predictor.opened():
            return run_predictor(
                predictor,
                inputs,
                batch_size=batch_size,
                clock=self.clock,
                checkpoint=checkpoint_file,
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
