"""Scores of classes: accuracy, precision, recall, F1, Matthews correlation and the confusion matrix."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Labels, LabelsOrSets, Weights
from dynabench.evaluate.confusion import Cells, Confusion
from dynabench.evaluate.labels import Label, same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import OptionChoiceError, ratio, zero_division_value

Average = Literal["binary", "macro", "micro", "weighted", "samples"] | None
AVERAGES = ("binary", "macro", "micro", "weighted", "samples", None)


@dataclass(frozen=True)
class ClassCounts:
    """Counts of each class: hits, true rows and predicted rows, each of shape (..., K), and the K class labels."""

    hits: NDArray[Any]
    true: NDArray[Any]
    predicted: NDArray[Any]
    labels: tuple[Label, ...]

    def of_label(self, label: Label) -> "ClassCounts":
        """Return the counts of one class, shape (..., 1)."""
        index = self.labels.index(label)
        column = slice(index, index + 1)
        return ClassCounts(self.hits[..., column], self.true[..., column], self.predicted[..., column], (label,))

    def pooled(self) -> "ClassCounts":
        """Return the counts of all classes as if they were one class, shape (..., 1)."""
        hits, true, predicted = (part.sum(-1, keepdims=True) for part in (self.hits, self.true, self.predicted))
        return ClassCounts(hits, true, predicted, self.labels[:1])


Score = Callable[[ClassCounts], Floats]


class ClassScore(Metric):
    """A score of each class from its counts, averaged over classes."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional: ClassVar[Mapping[str, Column]] = {"sample_weight": Weights()}
    configs = ("default", "multilabel")
    arrays = True
    score: Callable[..., Floats]  # of counts and, for `DefaultedScore`, the value of a class that has none

    def update(
        self, predictions: Any, references: Any, sample_weight: Floats | None = None, *, average: Average = "binary"
    ) -> Cells | Sums:
        """Return cells of a confusion matrix.

        For rows of 0 and 1 the state holds counts of each class, or with average="samples" the score of each row.
        """
        return classification_state(
            predictions, references, sample_weight, self.score if average == "samples" else None
        )

    def formula(
        self,
        total: Confusion | Floats,
        *,
        average: Average = "binary",
        pos_label: Label = 1,
        labels: Sequence[Label] | None = None,
    ) -> dict[str, Floats]:
        """Return the average of the score over classes."""
        return {self.card.outputs[0].name: average_scores(self.score, total, average, pos_label, labels)}


class DefaultedScore(ClassScore):
    """A `ClassScore` that is undefined for some classes; `zero_division` is then its value."""

    def update(
        self,
        predictions: Any,
        references: Any,
        sample_weight: Floats | None = None,
        *,
        average: Average = "binary",
        zero_division: Any = "warn",
    ) -> Cells | Sums:
        """See `ClassScore`."""
        score = partial(self.score, default=zero_division_value(zero_division))
        return classification_state(predictions, references, sample_weight, score if average == "samples" else None)

    def formula(
        self,
        total: Confusion | Floats,
        *,
        average: Average = "binary",
        pos_label: Label = 1,
        labels: Sequence[Label] | None = None,
        zero_division: Any = "warn",
    ) -> dict[str, Floats]:
        """See `ClassScore`."""
        score = partial(self.score, default=zero_division_value(zero_division))
        return {self.card.outputs[0].name: average_scores(score, total, average, pos_label, labels)}


def classification_state(
    predictions: Any, references: Any, weights: Floats | None = None, by_row: Score | None = None
) -> Cells | Sums:
    """Return the state of a classification metric: cells of a confusion matrix, or counts of rows of 0 and 1.

    With `by_row` (for average="samples") the state holds that score of each row, computed as if the row were one
    class. Raises ValueError where predictions and references differ in shape.
    """
    wide = [isinstance(column, np.ndarray) and column.ndim == 2 for column in (predictions, references)]
    if not any(wide):
        return Cells.of(references, predictions, weights)
    if not all(wide) or predictions.shape != references.shape:
        shapes = " and ".join(str(np.shape(column)) for column in (predictions, references))
        raise ValueError(f"predictions and references need one shape (examples, classes), not {shapes}")
    if by_row:
        row_counts = ClassCounts((predictions & references).sum(-1), references.sum(-1), predictions.sum(-1), ())
        weight = np.ones(len(predictions)) if weights is None else weights
        return Sums(np.stack([by_row(row_counts) * weight, weight], 1))
    rows = np.concatenate([predictions & references, references, predictions], axis=1)
    return Sums(rows if weights is None else rows * weights[:, None])


def count_by_class(total: Confusion | Floats, labels: Sequence[Label] | None = None) -> ClassCounts:
    """Return counts of each class, or of `labels` in their order, from the total of a `classification_state`."""
    if isinstance(total, Confusion):
        counts = ClassCounts(total.hits, total.true, total.predicted, total.labels)
    else:
        size = (total.shape[-1] - 1) // 3
        hits, true, predicted = (total[..., part * size : (part + 1) * size] for part in range(3))
        counts = ClassCounts(hits, true, predicted, tuple(range(size)))
    return counts if labels is None else _select_classes(counts, labels)


def average_scores(
    score: Score,
    total: Confusion | Floats,
    average: Average,
    pos_label: Label = 1,
    labels: Sequence[Label] | None = None,
) -> Floats:
    """Return `score` of each class, averaged.

    `total` is of a `classification_state`, the result has its leading shape. Classes that a resample does not have are
    left out of its average, unless `labels` names the classes.

    Raises ValueError for an unknown average or positive class.
    """
    if average not in AVERAGES:
        raise ValueError(f"no average {average!r}; there are binary, macro, micro, weighted, samples and None")
    if average == "samples":
        if isinstance(total, Confusion):
            raise ValueError("average='samples' needs rows of 0 and 1, with a place for each class")
        return ratio(total[..., 0], total[..., 1])
    counts = count_by_class(total, labels)
    if average == "binary":
        return score(_positive(counts, pos_label))[..., 0]
    if average == "micro":
        return score(counts.pooled())[..., 0]
    scores = score(counts)
    if average is None:
        return scores
    named = labels is not None or not isinstance(total, Confusion)
    mean: Floats = scores.mean(-1) if named else mean_over_classes(scores, counts.true + counts.predicted)
    if average == "macro":
        return mean
    weight = counts.true.sum(-1)
    return np.where(weight > 0, ratio((scores * counts.true).sum(-1), weight), mean)


def mean_over_classes(scores: Floats, occurrences: NDArray[Any]) -> Floats:
    """Return the mean of the scores of K classes, (...,) from (..., K); both arguments have this shape.

    In resamples, which have leading dimensions, classes that do not occur are left out, as they would be if the metric
    were computed of these rows alone. Scores of 0 for them would put nearly all resamples below the estimate where
    many classes are rare.
    """
    present = occurrences > 0 if scores.ndim > 1 else np.ones(len(scores))
    return ratio((scores * present).sum(-1), present.sum(-1))


def _positive(counts: ClassCounts, label: Label) -> ClassCounts:
    classes = counts.labels
    if len(classes) > 2:
        message = f"average='binary' is for two classes, not {len(classes)}; choose another average, such as 'macro'"
        raise OptionChoiceError(message, [{"average": average} for average in ("macro", "micro", "weighted")])
    if label in classes:
        return counts.of_label(label)
    if len(classes) == 2 or any(isinstance(item, str) for item in classes):
        message = f"no label is {label!r}; choose pos_label from {', '.join(map(repr, classes))}"
        raise OptionChoiceError(message, [*({"pos_label": item} for item in classes), {"average": "macro"}])
    nothing = np.zeros_like(counts.hits[..., :1])
    return ClassCounts(nothing, nothing, nothing, (label,))


def _select_classes(counts: ClassCounts, labels: Sequence[Label]) -> ClassCounts:
    code_of = {label: code for code, label in enumerate(counts.labels)}
    codes = [code_of.get(label, -1) for label in labels]
    absent = np.array(codes) < 0
    if absent.all():
        raise ValueError(f"none of labels={list(labels)} occurs; there are {', '.join(map(repr, counts.labels))}")
    hits, true, predicted = (
        np.where(absent, 0, part[..., codes]) for part in (counts.hits, counts.true, counts.predicted)
    )
    return ClassCounts(hits, true, predicted, tuple(labels))


class Accuracy(Metric, name="accuracy"):
    """The share of examples whose prediction is right."""

    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Sums:
        """Return for each row whether it is right, or (right * weight, weight)."""
        wide = [column for column in (predictions, references) if isinstance(column, np.ndarray) and column.ndim == 2]
        if wide and (len(wide) == 1 or predictions.shape != references.shape):
            shapes = " and ".join(str(np.shape(column)) for column in (predictions, references))
            raise ValueError(f"predictions and references need one shape (examples, classes), not {shapes}")
        right = (predictions == references).all(-1) if wide else same(predictions, references)
        return Sums(right if sample_weight is None else np.stack([right * sample_weight, sample_weight], 1))

    def formula(self, total: Floats, *, normalize: bool = True) -> dict[str, Floats]:
        """Weight of right rows / weight of all rows; the last number is the weights' sum, or the number of rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1]) if normalize else total[..., 0]}


def precision(counts: ClassCounts, default: float = 0.0) -> Floats:
    """Return the precision of each class, shape (..., K); `default` for a class that is never predicted."""
    return ratio(counts.hits, counts.predicted, default)


class Precision(DefaultedScore, name="precision"):
    """The share of the examples predicted to be of a class that are of it."""

    score = staticmethod(precision)


def recall(counts: ClassCounts, default: float = 0.0) -> Floats:
    """Return the recall of each class, shape (..., K); `default` for a class without examples."""
    return ratio(counts.hits, counts.true, default)


class Recall(DefaultedScore, name="recall"):
    """The share of the examples of a class that are predicted to be of it."""

    score = staticmethod(recall)


def f1(counts: ClassCounts, default: float = 0.0) -> Floats:
    """Return F1 of each class, shape (..., K); `default` for a class without examples that is never predicted."""
    return ratio(2 * counts.hits, counts.true + counts.predicted, default)


class F1(ClassScore, name="f1"):
    """The harmonic mean of precision and recall."""

    score = staticmethod(f1)


def matthews(right: NDArray[Any], true: NDArray[Any], predicted: NDArray[Any]) -> Floats:
    """The coefficient R_K from the number of right rows, (...), and sums of rows and columns of matrices, (..., K).

    0 where either side is of one class. Gorodkin, Comparing two K-category assignments by a K-category correlation
    coefficient (2004), equation 8.
    """
    n = true.sum(-1, dtype=float)
    if true.dtype.kind == "f":  # weights may be so large that their squares are no floats
        right, true, predicted, n = (
            ratio(right, n),
            ratio(true, n[..., None]),
            ratio(predicted, n[..., None]),
            ratio(n, n),
        )
    right, true, predicted = right.astype(float), true.astype(float), predicted.astype(float)
    spread = np.clip(n**2 - (predicted**2).sum(-1), 0, None) * np.clip(n**2 - (true**2).sum(-1), 0, None)
    flat = ((true > 0).sum(-1) < 2) | ((predicted > 0).sum(-1) < 2)  # rounding may leave more than 0
    return ratio(right * n - (true * predicted).sum(-1), np.where(flat, 0, np.sqrt(spread)))


class MatthewsCorrelation(Metric, name="matthews_correlation"):
    """The correlation between predictions and references."""

    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells | Sums:
        """Return cells of a confusion matrix.

        For rows of 0 and 1 the state holds hits, true and predicted rows of each class, then the weight.
        """
        state = classification_state(predictions, references, sample_weight)
        if isinstance(state, Cells):
            return state
        weight = np.ones(len(state)) if sample_weight is None else sample_weight
        return Sums(np.column_stack([state.rows, weight]))

    def formula(self, total: Confusion | Floats, *, average: str | None = None) -> dict[str, Floats]:
        """The coefficient of one matrix, or of one for each class."""
        if average not in (None, "macro"):
            raise ValueError(f"average is None or 'macro', not {average!r}")
        if isinstance(total, Confusion):
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.predicted)}
        hits, true, predicted = np.moveaxis(total[..., :-2].reshape(*total.shape[:-1], 3, -1), -2, 0)
        n = total[..., -2:-1]
        right = n - true - predicted + 2 * hits
        by_class = matthews(right, np.stack([n - true, true], -1), np.stack([n - predicted, predicted], -1))
        return {"matthews_correlation": by_class.mean(-1) if average else by_class}


SUMS: dict[str | None, tuple[int, ...]] = {"true": (-1,), "pred": (-2,), "all": (-1, -2)}


class ConfusionMatrix(Metric, name="confusion_matrix"):
    """Counts of each class being predicted as each other class."""

    columns = {"predictions": Labels(), "references": Labels()}
    optional = {"sample_weight": Weights()}

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells:
        """The cell of each row."""
        return Cells.of(references, predictions, sample_weight)

    def formula(
        self, total: Confusion, *, labels: Sequence[Label] | None = None, normalize: str | None = None
    ) -> dict[str, Any]:
        """The matrices, shape (..., K, K)."""
        if normalize is not None and normalize not in SUMS:
            raise ValueError(f"normalize is None, 'true', 'pred' or 'all', not {normalize!r}")
        cells = total.counts if labels is None else _select_labels(total, labels)
        if normalize is None:
            return {"confusion_matrix": cells}
        return {"confusion_matrix": ratio(cells, cells.sum(SUMS[normalize], keepdims=True))}

    def result(self, state: Cells, *, labels: Sequence[Label] | None = None, **options: Any) -> dict[str, Any]:
        """The matrix and its labels."""
        matrix = super().result(state, labels=labels, **options)
        return {**matrix, "labels": list(state.labels if labels is None else labels)}

    def compatible(self, result: dict[str, Any]) -> Any:
        """The matrix alone."""
        return {"confusion_matrix": np.array(result["confusion_matrix"])}


def _select_labels(total: Confusion, labels: Sequence[Label]) -> Any:
    """Rows and columns of `labels`; zeros for those that do not occur."""
    place = {label: code for code, label in enumerate(total.labels)}
    codes = np.array([place.get(label, -1) for label in labels])
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels={list(labels)} names one twice")
    if (codes < 0).all():
        raise ValueError(f"none of labels={list(labels)} occurs; there are {', '.join(map(repr, total.labels))}")
    occurs = (codes[:, None] >= 0) & (codes[None, :] >= 0)
    return np.where(occurs, total.counts[..., codes[:, None], codes[None, :]], 0)
