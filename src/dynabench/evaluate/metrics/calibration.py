"""Calibration: Brier score and calibration errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Labels, LabelsOrSets, Numbers, Weights
from dynabench.evaluate.label_states import WeightedRows, WeightedSample
from dynabench.evaluate.labels import Label, encode_labels
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio, to_plain

BINNINGS = ("width", "mass")


@dataclass(frozen=True)
class Bins:
    """Bins of confidences: weight, mean confidence and share of right examples, each of shape (..., bins).

    Means of empty bins are 0 and their weight is 0. `low` and `high` are the limits of the bins.
    """

    weight: Floats
    confidence: Floats
    accuracy: Floats
    low: Floats
    high: Floats

    @property
    def gaps(self) -> Floats:
        """Distance between confidence and accuracy; 0 for empty bins."""
        return np.abs(self.confidence - self.accuracy)

    def listed(self) -> list[dict[str, Any]]:
        """Return one dictionary a bin, as a reliability diagram needs it; None for the means of an empty bin."""
        columns = (self.low, self.high, self.confidence, self.accuracy, self.weight)
        names = ("low", "high", "confidence", "accuracy", "count")
        rows = [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]
        return [row if row["count"] else {**row, "confidence": None, "accuracy": None} for row in rows]


class CalibrationError(Metric):
    """A metric that is a distance between confidence and accuracy over bins; its result includes the bins."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Numbers(wide=True), "references": Labels()}
    optional: ClassVar[Mapping[str, Column]] = {"sample_weight": Weights()}
    takes_probabilities = True
    error: Callable[[Bins], Floats]  # of shape (...)

    def of_probabilities(self, rows: Floats, references: Sequence[Label], labels: Sequence[Label]) -> dict[str, Any]:
        """Return columns and options from a probability of each label in each row, (n, K)."""
        return {"predictions": rows, "references": references, "labels": list(labels)}

    def update(
        self,
        predictions: Floats,
        references: Any,
        sample_weight: Floats | None = None,
        *,
        labels: list[Label] | None = None,
    ) -> WeightedRows:
        """Return the confidence of each example and whether its prediction was right."""
        return confidence_outcomes(predictions, references, sample_weight, labels)

    def formula(self, total: WeightedSample, *, n_bins: int = 10, binning: str = "width") -> dict[str, Floats]:
        """Return the error over all bins, shape (...)."""
        return {self.card.outputs[0].name: self.error(bin_confidences(total, n_bins, binning))}

    def result(
        self, state: WeightedRows, *, n_bins: int = 10, binning: str = "width", **options: Any
    ) -> dict[str, Any]:
        """Return the error and its bins."""
        bins = bin_confidences(state.total(), n_bins, binning)
        return {self.card.outputs[0].name: float(self.error(bins)), "bins": bins.listed()}


def _check_probabilities(predictions: Floats) -> None:
    wrong = (predictions < 0) | (predictions > 1)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise ValueError(f"predictions: row {row} is {predictions[row]!s}, which is no probability")


def confidence_outcomes(
    predictions: Floats, references: Any, weights: Floats | None, labels: list[Label] | None = None
) -> WeightedRows:
    """Return the confidence of each example and whether it was right, (n, 2).

    Raises ValueError for values that are no probabilities, and for references outside the labels.
    """
    _check_probabilities(predictions)
    if weights is not None and (weights < 0).any():
        raise ValueError(f"sample_weight: row {int((weights < 0).argmax())} is negative")
    columns = predictions.shape[1] if predictions.ndim > 1 else 2
    label_list: list[Label] = list(range(columns)) if labels is None else list(labels)
    codes = _codes(references, label_list)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise ValueError(
            f"references: row {row} is {to_plain(references[row])!r}, which is none of "
            f"{', '.join(map(repr, label_list[:9]))}; give labels=, the class of each column"
        )
    if predictions.ndim == 1:
        if len(label_list) != 2:
            raise ValueError(f"one confidence for each example needs two labels, not {len(label_list)}")
        return WeightedRows(np.column_stack([predictions, codes == 1]), weights)
    if len(label_list) != predictions.shape[1]:
        raise ValueError(f"there are {len(label_list)} labels but {predictions.shape[1]} probabilities in each row")
    sums = predictions.sum(1)
    if not np.allclose(sums, 1, atol=1e-3):
        row = int(np.argmax(np.abs(sums - 1)))
        raise ValueError(f"predictions: row {row} sums to {sums[row]:.6g}; give probabilities of all classes")
    return WeightedRows(np.column_stack([predictions.max(1), predictions.argmax(1) == codes]), weights)


def _codes(references: Any, labels: list[Label]) -> NDArray[np.int64]:
    """The place of each reference in `labels`, -1 for those that are not there."""
    seen, (codes,) = encode_labels(references)
    places: dict[Any, int] = {label: place for place, label in enumerate(labels)}
    return np.array([places.get(label, -1) for label in seen])[codes]


def bin_confidences(sample: WeightedSample, n_bins: int, binning: str) -> Bins:
    """Return the bins of a sample. Raises ValueError for an unknown binning or fewer than one bin."""
    if binning not in BINNINGS:
        raise ValueError(f"binning is 'width' or 'mass', not {binning!r}")
    if n_bins < 1:
        raise ValueError(f"n_bins is at least 1, not {n_bins}")
    order = np.argsort(sample.rows[:, 0])
    confidence, right = sample.rows[order].T
    weights = sample.weights[..., order]
    steps = np.flatnonzero(np.append(True, confidence[1:] != confidence[:-1]))
    values = confidence[steps]
    weight_sums, right_sums = (np.add.reduceat(part, steps, axis=-1) for part in (weights, weights * right))
    if binning == "width":
        edges = np.linspace(0, 1, n_bins + 1)
        first = np.searchsorted(values, edges, side="right")
        first[0] = 0  # a confidence of 0 is in the first bin
        low, high = edges[:-1], edges[1:]
    else:
        first = _by_mass(weight_sums, n_bins)
        low, high = values[np.minimum(first[..., :-1], len(values) - 1)], values[np.maximum(first[..., 1:] - 1, 0)]
    first = np.broadcast_to(first, (*weight_sums.shape[:-1], n_bins + 1))
    weight, confidence_sums, hits = (_between(part, first) for part in (weight_sums, weight_sums * values, right_sums))
    return Bins(weight, ratio(confidence_sums, weight), ratio(hits, weight), low, high)


def _between(values: NDArray[Any], first: NDArray[Any]) -> Floats:
    """Sums from each place in `first`, shape (..., bins + 1), to the next."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return np.diff(np.take_along_axis(sums, first, -1), axis=-1)


def _by_mass(weight_sums: NDArray[Any], n_bins: int) -> NDArray[Any]:
    """The first value of each bin and the end, by the middle of each value's weight: ties stay in one bin."""
    after = np.cumsum(weight_sums, axis=-1)
    middle = (after - weight_sums / 2) * (n_bins / np.where(after[..., -1:] > 0, after[..., -1:], 1))
    return np.stack(
        [(middle < edge).sum(-1) for edge in range(n_bins)] + [np.full(middle.shape[:-1], middle.shape[-1])], -1
    )


def mean_gap(bins: Bins) -> Floats:
    """The weighted mean of the bins' gaps, shape (...)."""
    return ratio((bins.gaps * bins.weight).sum(-1), bins.weight.sum(-1))


class ExpectedCalibrationError(CalibrationError, name="expected_calibration_error"):
    """The mean distance between confidence and accuracy."""

    error = staticmethod(mean_gap)


def greatest_gap(bins: Bins) -> Floats:
    """The greatest of the bins' gaps, shape (...)."""
    result: Floats = bins.gaps.max(-1)
    return result


class MaximumCalibrationError(CalibrationError, name="maximum_calibration_error"):
    """The greatest distance between confidence and accuracy in any bin."""

    error = staticmethod(greatest_gap)


class BrierScore(Metric, name="brier_score"):
    """The mean squared distance between probabilities and outcomes."""

    columns = {"predictions": Numbers(wide=True), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilist")

    takes_probabilities = True

    def of_probabilities(self, rows: Floats, references: Sequence[Label], labels: Sequence[Label]) -> dict[str, Any]:
        """Return columns from a probability of each label in each row, (n, K); two labels weigh half each."""
        indicators = np.array([[label == right for label in labels] for right in references], float)
        return {"predictions": rows, "references": indicators}

    def update(
        self, predictions: Floats, references: Any, sample_weight: Floats | None = None, *, pos_label: Label = 1
    ) -> Sums:
        """The squared error of each row, (n,) or with weights (n, 2)."""
        _check_probabilities(predictions)
        rows = isinstance(references, np.ndarray) and references.ndim == 2
        if not rows:
            references = _indicator(references, pos_label)
        if predictions.shape != references.shape:
            raise ValueError(
                f"predictions and references need one shape, not {predictions.shape} and {references.shape}; give "
                "one probability for each label, or a row of 0 and 1 for each row of probabilities"
            )
        errors = (predictions - references) ** 2
        if rows:
            errors = errors.sum(1) / (2 if errors.shape[1] == 2 else 1)
        return Sums(errors if sample_weight is None else np.stack([errors * sample_weight, sample_weight], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Sum of errors / sum of weights; the last number is the weights' sum, or the number of rows."""
        return {"brier_score": ratio(total[..., 0], total[..., 1])}


def _indicator(references: Any, pos_label: Label) -> Floats:
    """1 where the positive class is right, 0 elsewhere. Raises ValueError where the positive class is unclear."""
    labels, (codes,) = encode_labels(references)
    label_list = ", ".join(map(repr, labels[:5]))
    if len(labels) > 2:
        raise ValueError(
            f"references hold {len(labels)} classes ({label_list}); give rows of probabilities and of 0 and 1"
        )
    if pos_label in labels:
        indicator: Floats = (codes == labels.index(pos_label)).astype(float)
        return indicator
    if len(labels) == 2 or isinstance(labels[0], str) != isinstance(pos_label, str):
        raise ValueError(f"no reference is {pos_label!r}; choose pos_label from {label_list}")
    return np.zeros(len(codes))
