"""How far confidences are from being right that often: bins of confidences, of many weightings at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Labels, Numbers, Weights
from dynabench.evaluate.labels import Label, coded
from dynabench.evaluate.module import Metric
from dynabench.evaluate.plain import plain
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states.weighted import Sample, Weighted

BINNINGS = ("width", "mass")


@dataclass(frozen=True)
class Bins:
    """Of each bin the weight, the mean confidence and the share of right examples, each of shape (..., bins).

    Means of empty bins are 0 and their weight is 0. `low` and `high` are the bins' limits.
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
        """One dictionary a bin, as a reliability diagram needs them; None for the means of an empty bin."""
        columns = (self.low, self.high, self.confidence, self.accuracy, self.weight)
        names = ("low", "high", "confidence", "accuracy", "count")
        rows = [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]
        return [row if row["count"] else {**row, "confidence": None, "accuracy": None} for row in rows]


class CalibrationError(Metric):
    """A distance between confidence and accuracy over bins, which come with its result."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Numbers(wide=True), "references": Labels()}
    optional: ClassVar[Mapping[str, Column]] = {"sample_weight": Weights()}
    takes_probabilities = True
    error: Callable[[Bins], Floats]  # of shape (...)

    def of_probabilities(self, rows: Floats, references: Sequence[Label], labels: Sequence[Label]) -> dict[str, Any]:
        """Columns and options from a probability of each label in each row, (n, K)."""
        return {"predictions": rows, "references": references, "labels": list(labels)}

    def update(
        self,
        predictions: Floats,
        references: Any,
        sample_weight: Floats | None = None,
        *,
        labels: list[Label] | None = None,
    ) -> Weighted:
        """The confidence of each example and whether it was right."""
        return outcomes(predictions, references, sample_weight, labels)

    def formula(self, total: Sample, *, n_bins: int = 10, binning: str = "width") -> dict[str, Floats]:
        """The error over all bins, shape (...)."""
        return {self.card.outputs[0].name: self.error(binned(total, n_bins, binning))}

    def result(self, state: Weighted, *, n_bins: int = 10, binning: str = "width", **options: Any) -> dict[str, Any]:
        """The error and its bins."""
        bins = binned(state.total(), n_bins, binning)
        return {self.card.outputs[0].name: float(self.error(bins)), "bins": bins.listed()}


def outcomes(
    predictions: Floats, references: Any, weights: Floats | None, labels: list[Label] | None = None
) -> Weighted:
    """The confidence of each example and whether it was right, (n, 2). Raises ValueError for what is no probability."""
    wrong = (predictions < 0) | (predictions > 1)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise ValueError(f"predictions: row {row} is {predictions[row]!s}, which is no probability")
    if weights is not None and (weights < 0).any():
        raise ValueError(f"sample_weight: row {int((weights < 0).argmax())} is negative")
    columns = predictions.shape[1] if predictions.ndim > 1 else 2
    known: list[Label] = list(range(columns)) if labels is None else list(labels)
    codes = _codes(references, known)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise ValueError(
            f"references: row {row} is {plain(references[row])!r}, which is none of {', '.join(map(repr, known[:9]))}; "
            "give labels=, the class of each column"
        )
    if predictions.ndim == 1:
        if len(known) != 2:
            raise ValueError(f"one confidence for each example needs two labels, not {len(known)}")
        return Weighted(np.column_stack([predictions, codes == 1]), weights)
    if len(known) != predictions.shape[1]:
        raise ValueError(f"there are {len(known)} labels but {predictions.shape[1]} probabilities in each row")
    sums = predictions.sum(1)
    if not np.allclose(sums, 1, atol=1e-3):
        row = int(np.argmax(np.abs(sums - 1)))
        raise ValueError(f"predictions: row {row} sums to {sums[row]:.6g}; give probabilities of all classes")
    return Weighted(np.column_stack([predictions.max(1), predictions.argmax(1) == codes]), weights)


def _codes(references: Any, labels: list[Label]) -> NDArray[np.int64]:
    """The place of each reference in `labels`, -1 for those that are not there."""
    seen, (codes,) = coded(references)
    places: dict[Any, int] = {label: place for place, label in enumerate(labels)}
    return np.array([places.get(label, -1) for label in seen])[codes]


def binned(sample: Sample, n_bins: int, binning: str) -> Bins:
    """The bins of a sample. Raises ValueError for an unknown binning or fewer than one bin."""
    if binning not in BINNINGS:
        raise ValueError(f"binning is 'width' or 'mass', not {binning!r}")
    if n_bins < 1:
        raise ValueError(f"n_bins is at least 1, not {n_bins}")
    order = np.argsort(sample.rows[:, 0])
    confidence, right = sample.rows[order].T
    weights = sample.weights[..., order]
    steps = np.flatnonzero(np.append(True, confidence[1:] != confidence[:-1]))
    values = confidence[steps]
    each, rights = (np.add.reduceat(part, steps, axis=-1) for part in (weights, weights * right))
    if binning == "width":
        edges = np.linspace(0, 1, n_bins + 1)
        first = np.searchsorted(values, edges, side="right")
        first[0] = 0  # a confidence of 0 is in the first bin
        low, high = edges[:-1], edges[1:]
    else:
        first = _by_mass(each, n_bins)
        low, high = values[np.minimum(first[..., :-1], len(values) - 1)], values[np.maximum(first[..., 1:] - 1, 0)]
    first = np.broadcast_to(first, (*each.shape[:-1], n_bins + 1))
    weight, said, hits = (_between(part, first) for part in (each, each * values, rights))
    return Bins(weight, ratio(said, weight), ratio(hits, weight), low, high)


def _between(values: NDArray[Any], first: NDArray[Any]) -> Floats:
    """Sums from each place in `first`, shape (..., bins + 1), to the next."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return np.diff(np.take_along_axis(sums, first, -1), axis=-1)


def _by_mass(each: NDArray[Any], n_bins: int) -> NDArray[Any]:
    """The first value of each bin and the end, by where the middle of a value's weight lies: ties stay in one bin."""
    after = np.cumsum(each, axis=-1)
    middle = (after - each / 2) * (n_bins / np.where(after[..., -1:] > 0, after[..., -1:], 1))
    return np.stack(
        [(middle < edge).sum(-1) for edge in range(n_bins)] + [np.full(middle.shape[:-1], middle.shape[-1])], -1
    )
