"""Scores of an evaluation, with intervals where the caller wants them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.evaluator.probabilities import LabelProbabilities
from dynabench.evaluate.plain_values import to_plain


@dataclass(frozen=True)
class IntervalStrategy:
    """Form of the results: "simple" as values, "bootstrap" with interval and standard error of each key."""

    name: str = "simple"
    level: float = 0.95
    resamples: int = 9999
    seed: int = 0
    method: str = "bca"

    def __post_init__(self) -> None:
        if self.name not in ("simple", "bootstrap"):
            raise ValueError(f"strategy={self.name!r} is neither 'simple' nor 'bootstrap'")


def load_metric(metric: Any) -> Any:
    """Return the module of a name.

    Modules, combined modules and other objects with `compute` are returned unchanged.
    """
    if isinstance(metric, str):
        from dynabench.evaluate.loading import load

        return load(metric)
    if not hasattr(metric, "compute"):
        raise ValueError(f"metric={metric!r} is neither a module's name nor an object with compute()")
    return metric


@dataclass(frozen=True)
class MetricInputs:
    """Input of a metric: columns of labels, and probabilities for metrics that take those."""

    columns: Mapping[str, Any]
    chances: LabelProbabilities | None = None

    def columns_of(self, module: Any) -> Mapping[str, Any]:
        """The columns, and the options that go with them, of one module."""
        if self.chances is not None and getattr(module, "takes_probabilities", False):
            columns: Mapping[str, Any] = module.of_probabilities(
                self.chances.rows, self.chances.references, self.chances.labels
            )
            return columns
        return self.columns


def takes_probabilities(metric: Any) -> bool:
    """Return whether a module, or one of those that it combines, takes probabilities."""
    modules = getattr(metric, "evaluation_modules", [metric])
    return any(getattr(module, "takes_probabilities", False) for module in modules)


def score_answers(
    metric: Any, answers: MetricInputs, options: Mapping[str, Any], strategy: IntervalStrategy
) -> dict[str, Any]:
    """Return the metric's result by key; under "bootstrap" `{score, confidence_interval, standard_error}` by key.

    Values without an interval (lists, texts) have the score alone.
    """
    if strategy.name == "simple":
        return _by_key(metric, _compute(metric, answers, options))
    interval_options = {
        "interval": strategy.level,
        "resamples": strategy.resamples,
        "seed": strategy.seed,
        "method": strategy.method,
    }
    result = _by_key(metric, _compute(metric, answers, {**options, **interval_options}))
    spans = result.pop("interval")
    return {key: _with_interval(value, spans.get(key)) for key, value in result.items()}


def _compute(metric: Any, answers: MetricInputs, options: Mapping[str, Any]) -> Any:
    if takes_probabilities(metric) and hasattr(metric, "evaluation_modules"):
        return metric.compute_of(answers.columns_of, **options)
    return metric.compute(**{**answers.columns_of(metric), **options})


def _with_interval(value: Any, span: Mapping[str, Any] | None) -> dict[str, Any]:
    if span is None:
        return {"score": value}
    if isinstance(value, Mapping):  # results within a result, such as those of each entity
        return {key: _with_interval(part, span.get(key)) for key, part in value.items()}
    return {
        "confidence_interval": (span["low"], span["high"]),
        "standard_error": span["standard_error"],
        "score": value,
    }


def _by_key(metric: Any, scores: Any) -> dict[str, Any]:
    """Results by key: some modules of other libraries give a bare number."""
    if not isinstance(scores, Mapping):
        scores = {getattr(metric, "name", "score"): scores}
    result: dict[str, Any] = to_plain(dict(scores))
    return result
