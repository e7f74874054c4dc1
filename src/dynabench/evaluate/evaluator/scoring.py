"""Metrics of an evaluation, with intervals where they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.evaluator.probabilities import Probabilities
from dynabench.evaluate.plain import plain


@dataclass(frozen=True)
class Strategy:
    """How results are told: "simple" as values, "bootstrap" with interval and standard error of each key."""

    name: str = "simple"
    level: float = 0.95
    resamples: int = 9999
    seed: int = 0
    method: str = "bca"

    def __post_init__(self) -> None:
        if self.name not in ("simple", "bootstrap"):
            raise ValueError(f"strategy={self.name!r} is neither 'simple' nor 'bootstrap'")


def loaded(metric: Any) -> Any:
    """A module from its name; modules, combined ones and other objects with `compute` as they are."""
    if isinstance(metric, str):
        from dynabench.evaluate.loading import load

        return load(metric)
    if not hasattr(metric, "compute"):
        raise ValueError(f"metric={metric!r} is neither a module's name nor an object with compute()")
    return metric


@dataclass(frozen=True)
class Answers:
    """What a metric may be computed of: columns of labels, and probabilities where a metric takes those."""

    columns: Mapping[str, Any]
    chances: Probabilities | None = None

    def columns_of(self, module: Any) -> Mapping[str, Any]:
        """The columns, and the options that go with them, of one module."""
        if self.chances is not None and getattr(module, "takes_probabilities", False):
            of: Mapping[str, Any] = module.of_probabilities(
                self.chances.rows, self.chances.references, self.chances.labels
            )
            return of
        return self.columns


def takes_probabilities(metric: Any) -> bool:
    """Whether a module, or one of those that are combined, takes probabilities."""
    modules = getattr(metric, "evaluation_modules", [metric])
    return any(getattr(module, "takes_probabilities", False) for module in modules)


def scored(metric: Any, answers: Answers, options: Mapping[str, Any], strategy: Strategy) -> dict[str, Any]:
    """The metric's result by key; under "bootstrap" `{score, confidence_interval, standard_error}` by key.

    What has no interval (lists, texts) has the score alone.
    """
    if strategy.name == "simple":
        return _keyed(metric, _computed(metric, answers, options))
    drawn = {
        "interval": strategy.level,
        "resamples": strategy.resamples,
        "seed": strategy.seed,
        "method": strategy.method,
    }
    found = _keyed(metric, _computed(metric, answers, {**options, **drawn}))
    spans = found.pop("interval")
    return {key: _with_interval(value, spans.get(key)) for key, value in found.items()}


def _computed(metric: Any, answers: Answers, options: Mapping[str, Any]) -> Any:
    if takes_probabilities(metric) and hasattr(metric, "evaluation_modules"):
        return metric.compute_of(answers.columns_of, **options)
    return metric.compute(**{**answers.columns_of(metric), **options})


def _with_interval(value: Any, span: Mapping[str, Any] | None) -> dict[str, Any]:
    if span is None:
        return {"score": value}
    if isinstance(value, Mapping):  # results within a result, such as those of each entity
        return {key: _with_interval(one, span.get(key)) for key, one in value.items()}
    return {
        "confidence_interval": (span["low"], span["high"]),
        "standard_error": span["standard_error"],
        "score": value,
    }


def _keyed(metric: Any, found: Any) -> dict[str, Any]:
    """Results by key: some modules of other libraries give a bare number."""
    if not isinstance(found, Mapping):
        found = {getattr(metric, "name", "score"): found}
    result: dict[str, Any] = plain(dict(found))
    return result
