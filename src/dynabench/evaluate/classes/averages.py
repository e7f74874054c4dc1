"""Precision, recall, F1 and their kin: from counts of each class to one number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, LabelsOrSets, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, undefined
from dynabench.evaluate.states import Cells, Confusion, Sums
from dynabench.evaluate.unchosen import Unchosen

Average = Literal["binary", "macro", "micro", "weighted", "samples"] | None
AVERAGES = ("binary", "macro", "micro", "weighted", "samples", None)


@dataclass(frozen=True)
class Counts:
    """Of each class how many were hit, are true and were said, each of shape (..., K), and the K classes."""

    hits: NDArray[Any]
    true: NDArray[Any]
    said: NDArray[Any]
    labels: tuple[Label, ...]

    def of(self, label: Label) -> "Counts":
        """Of one class, shape (..., 1)."""
        place = self.labels.index(label)
        cut = slice(place, place + 1)
        return Counts(self.hits[..., cut], self.true[..., cut], self.said[..., cut], (label,))

    def pooled(self) -> "Counts":
        """All classes as one, shape (..., 1)."""
        hits, true, said = (part.sum(-1, keepdims=True) for part in (self.hits, self.true, self.said))
        return Counts(hits, true, said, self.labels[:1])


Score = Callable[[Counts], Floats]


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
        """Cells of a confusion matrix; for rows of 0 and 1 counts of each class, or the score of the row itself."""
        return state_of(predictions, references, sample_weight, self.score if average == "samples" else None)

    def formula(
        self,
        total: Confusion | Floats,
        *,
        average: Average = "binary",
        pos_label: Label = 1,
        labels: Sequence[Label] | None = None,
    ) -> dict[str, Floats]:
        """The average of the score over classes."""
        return {self.card.outputs[0].name: averaged(self.score, total, average, pos_label, labels)}


class DefaultedScore(ClassScore):
    """A `ClassScore` that some classes do not have; `zero_division` is then its value."""

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
        score = partial(self.score, default=undefined(zero_division))
        return state_of(predictions, references, sample_weight, score if average == "samples" else None)

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
        score = partial(self.score, default=undefined(zero_division))
        return {self.card.outputs[0].name: averaged(score, total, average, pos_label, labels)}


def state_of(
    predictions: Any, references: Any, weights: Floats | None = None, by_row: Score | None = None
) -> Cells | Sums:
    """What all measures of this family remember: cells of a confusion matrix, or counts of rows of 0 and 1.

    With `by_row` (for average="samples") it is that score of each row as if the row were one class.
    """
    wide = [isinstance(column, np.ndarray) and column.ndim == 2 for column in (predictions, references)]
    if not any(wide):
        return Cells.of(references, predictions, weights)
    if not all(wide) or predictions.shape != references.shape:
        shapes = " and ".join(str(np.shape(column)) for column in (predictions, references))
        raise ValueError(f"predictions and references need one shape (examples, classes), not {shapes}")
    if by_row:
        alone = Counts((predictions & references).sum(-1), references.sum(-1), predictions.sum(-1), ())
        weight = np.ones(len(predictions)) if weights is None else weights
        return Sums(np.stack([by_row(alone) * weight, weight], 1))
    rows = np.concatenate([predictions & references, references, predictions], axis=1)
    return Sums(rows if weights is None else rows * weights[:, None])


def counted(total: Confusion | Floats, labels: Sequence[Label] | None = None) -> Counts:
    """Counts of each class, or of `labels` in their order, from the total of a state of `state_of`."""
    if isinstance(total, Confusion):
        found = Counts(total.hits, total.true, total.said, total.labels)
    else:
        size = (total.shape[-1] - 1) // 3
        hits, true, said = (total[..., part * size : (part + 1) * size] for part in range(3))
        found = Counts(hits, true, said, tuple(range(size)))
    return found if labels is None else _chosen(found, labels)


def averaged(
    score: Score,
    total: Confusion | Floats,
    average: Average,
    pos_label: Label = 1,
    labels: Sequence[Label] | None = None,
) -> Floats:
    """`score` of each class, averaged; `total` is of a state of `state_of`, the result has its leading shape.

    Raises ValueError for an unknown average or positive class.
    """
    if average not in AVERAGES:
        raise ValueError(f"no average {average!r}; there are binary, macro, micro, weighted, samples and None")
    if average == "samples":
        if isinstance(total, Confusion):
            raise ValueError("average='samples' needs rows of 0 and 1, with a place for each class")
        return ratio(total[..., 0], total[..., 1])
    counts = counted(total, labels)
    if average == "binary":
        return score(_positive(counts, pos_label))[..., 0]
    if average == "micro":
        return score(counts.pooled())[..., 0]
    each = score(counts)
    if average == "macro":
        result: Floats = each.mean(-1)
        return result
    if average is None:
        return each
    weight = counts.true.sum(-1)
    return np.where(weight > 0, ratio((each * counts.true).sum(-1), weight), each.mean(-1))


def _positive(counts: Counts, label: Label) -> Counts:
    known = counts.labels
    if len(known) > 2:
        told = f"average='binary' is for two classes, not {len(known)}; choose another average, such as 'macro'"
        raise Unchosen(told, [{"average": average} for average in ("macro", "micro", "weighted")])
    if label in known:
        return counts.of(label)
    if len(known) == 2 or any(isinstance(one, str) for one in known):
        told = f"no label is {label!r}; choose pos_label from {', '.join(map(repr, known))}"
        raise Unchosen(told, [*({"pos_label": one} for one in known), {"average": "macro"}])
    nothing = np.zeros_like(counts.hits[..., :1])
    return Counts(nothing, nothing, nothing, (label,))


def _chosen(counts: Counts, labels: Sequence[Label]) -> Counts:
    place = {label: code for code, label in enumerate(counts.labels)}
    codes = [place.get(label, -1) for label in labels]
    absent = np.array(codes) < 0
    if absent.all():
        raise ValueError(f"none of labels={list(labels)} occurs; there are {', '.join(map(repr, counts.labels))}")
    hits, true, said = (np.where(absent, 0, part[..., codes]) for part in (counts.hits, counts.true, counts.said))
    return Counts(hits, true, said, tuple(labels))
