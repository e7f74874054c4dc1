"""Scores of an evaluation, from labels mapped to those of the data, or from probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.values import to_plain

Label = Any


class LabelMapping:
    """A mapping from a model's labels to those of the data."""

    def __init__(
        self,
        model: Sequence[str],
        references: Sequence[Label],
        classes: Sequence[str] | None,
        mapping: Mapping[str, Label] | None,
    ) -> None:
        """Take or infer the mapping. `model` are the labels that the model can answer (empty: unknown), `classes`
        the names of numbered references.

        Raises ValueError for a mapping that lacks a label, gives another kind of label than the data has, and for
        labels that have nothing in common.
        """
        self.mapping = dict(mapping) if mapping is not None else _infer_mapping(model, references, classes)
        numbered = not any(isinstance(item, str) for item in references)
        model_labels = [item for item in model if self.mapping is not None]
        missing = [item for item in model_labels if self.mapping is not None and item not in self.mapping]
        if missing:
            raise ValueError(
                f"label_mapping lacks {', '.join(missing)}; the model answers {', '.join(model)}, each needs a label"
            )
        answers = list(self.mapping.values()) if self.mapping is not None else list(model)
        other = next((item for item in answers if isinstance(item, str) == numbered), None)
        if other is not None:
            raise ValueError(_other_kind(other, references, model))
        if answers and not set(answers) & set(references):
            beginning = ", ".join(f"{label!r}: ..." for label in list(model or answers)[:3])
            raise ValueError(
                f"the model answers {_few(answers)}, the data has {_few(references)}: nothing in common; "
                f"give label_mapping={{{beginning}}}"
            )

    def __call__(self, label: Label, row: int) -> Label:
        """Return the data's label of an answer. Raises ValueError for one that the mapping lacks."""
        if self.mapping is None:
            return label
        if label not in self.mapping:
            raise ValueError(f"row {row}: the model answered {label!r}, which label_mapping lacks; add it")
        return self.mapping[label]


def _infer_mapping(
    model: Sequence[str], references: Sequence[Label], classes: Sequence[str] | None
) -> dict[str, Label] | None:
    """The mapping that the labels themselves tell, None where they need none.

    Numbers are found by the data's names of its classes, else LABEL_3 means 3.
    """
    if not model or any(isinstance(label, str) for label in references):
        return None
    names = {name.casefold(): number for number, name in enumerate(classes or ())}
    if names and all(label.casefold() in names for label in model):
        return {label: names[label.casefold()] for label in model}
    if all(label.startswith("LABEL_") and label[6:].isdecimal() for label in model):
        return {label: int(label[6:]) for label in model}
    return None


def _other_kind(answer: Label, references: Sequence[Label], model: Sequence[str]) -> str:
    example = model[0] if model else answer
    return (
        f"the model answers {answer!r}, the data has labels such as {references[0]!r}; "
        f"give label_mapping={{{example!r}: {references[0]!r}, ...}} with each of the model's labels"
    )


def _few(labels: Sequence[Label]) -> str:
    distinct = list(dict.fromkeys(labels))
    return ", ".join(map(repr, distinct[:5])) + (", ..." if len(distinct) > 5 else "")


@dataclass(frozen=True)
class LabelProbabilities:
    """A probability of each of K labels, sorted, in each row, shape (n, K), beside the right labels."""

    rows: Floats
    references: Sequence[Label]
    labels: tuple[Label, ...]


def label_probabilities(
    answers: Sequence[Any], references: Sequence[Label], model: Sequence[str], mapping: LabelMapping
) -> LabelProbabilities:
    """Return the probabilities in `answers`, with the data's labels.

    An answer is a list of `{label, score}` of every label, or one of them where the model has two labels
    (`model`). Model labels that mean the same label of the data add up; a label that only the data has gets 0.
    Raises ValueError for an answer without probabilities of all labels.
    """
    answer_probabilities = [_answer_probabilities(answer, model, row) for row, answer in enumerate(answers)]
    row_probabilities: list[dict[Label, float]] = []
    for row, chances in enumerate(answer_probabilities):
        sums: dict[Label, float] = {}
        for label, chance in chances.items():
            name = mapping(label, row)
            sums[name] = sums.get(name, 0.0) + chance
        row_probabilities.append(sums)
    labels = tuple(sorted({*references, *(label for sums in row_probabilities for label in sums)}))
    return LabelProbabilities(
        np.array([[sums.get(label, 0.0) for label in labels] for sums in row_probabilities]), references, labels
    )


def _answer_probabilities(answer: Any, model: Sequence[str], row: int) -> dict[str, float]:
    listed = [answer] if isinstance(answer, Mapping) else answer
    if not isinstance(listed, list | tuple) or not all(_has_score(entry) for entry in listed):
        raise ValueError(_refusal(answer, row))
    chances = {entry["label"]: float(entry["score"]) for entry in listed}
    if len(chances) == 1 and len(model) == 2:
        ((label, chance),) = chances.items()
        chances |= {other: 1 - chance for other in model if other != label}
    if abs(sum(chances.values()) - 1) > 1e-3:
        raise ValueError(_refusal(answer, row))
    return chances


def _has_score(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "label" in entry and entry.get("score") is not None


def _refusal(answer: Any, row: int) -> str:
    return (
        f"row {row}: the model answered {answer!r}, but the metric takes a probability of every label; let it answer "
        "with a list of {label, score} that add up to 1, as pipelines do with top_k=None"
    )


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
