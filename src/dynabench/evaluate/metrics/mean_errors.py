"""Errors of predicted numbers and the coefficient of determination, and the Mahalanobis distance of points."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Numbers, Weights
from dynabench.evaluate.metrics.correlations import Moments, centred_squares
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows, Sums
from dynabench.evaluate.values import ratio, to_plain

Multioutput = Literal["uniform_average", "raw_values"] | Sequence[float]

Error = Callable[[Floats, Floats], Floats]


class MeanError(Metric):
    """A weighted mean of errors, by output; a ratio of sums."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Numbers(wide=True), "references": Numbers(wide=True)}
    optional: ClassVar[Mapping[str, Column]] = {"sample_weight": Weights()}
    configs = ("default", "multilist")
    arrays = True
    error: Error

    def update(self, predictions: Floats, references: Floats, sample_weight: Floats | None = None) -> Sums:
        """Return errors of each row and output. Raises ValueError as `error_sums` does."""
        return error_sums(self.error, predictions, references, sample_weight)

    def formula(self, total: Floats, *, multioutput: Multioutput = "uniform_average") -> dict[str, Floats]:
        """The mean of each output, combined."""
        return {self.card.outputs[0].name: combine_outputs(mean_errors(total), multioutput)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError where all examples weigh 0."""
        if not state.rows[:, -1].any():
            raise ValueError("sample_weight: all examples weigh 0; give at least one a positive weight")
        return super().result(state, **options)


def error_sums(error: Error, predictions: Floats, references: Floats, weights: Floats | None) -> Sums:
    """Rows of K errors times their weight and, last, the weight: shape (n, K + 1).

    Raises ValueError for columns of different shapes, negative weights and errors that overflow.
    """
    if predictions.shape != references.shape:
        shapes = " and ".join(str(column.shape) for column in (predictions, references))
        raise ValueError(f"predictions and references need one shape (examples, outputs), not {shapes}")
    with np.errstate(over="ignore", invalid="ignore"):
        rows = error(predictions, references)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if not np.isfinite(rows.sum()):
            raise ValueError("predictions and references differ by more than a float can hold; scale both down")
    if weights is None:
        return Sums(np.concatenate([rows, np.ones((len(rows), 1))], axis=1))
    if (weights < 0).any():
        raise ValueError(f"sample_weight: row {int((weights < 0).argmax())} is negative; weights are 0 or more")
    weight = weights[:, None]
    return Sums(np.concatenate([rows * weight, weight], axis=1))


def mean_errors(total: Floats) -> Floats:
    """Return the mean error of each output, shape (..., K), from totals of `error_sums`.

    NaN where all weights are 0.
    """
    return ratio(total[..., :-2], total[..., -2:-1], np.nan)


def combine_outputs(errors: Floats, multioutput: Multioutput) -> Floats:
    """Return one number for all outputs, shape (...), or with "raw_values" the errors as they are, shape (..., K).

    Raises ValueError for an unknown word and for weights that do not fit the outputs.
    """
    if isinstance(multioutput, str):
        if multioutput not in ("uniform_average", "raw_values"):
            raise ValueError(
                f"no multioutput {multioutput!r}; there are uniform_average, raw_values or a list of weights"
            )
        return errors if multioutput == "raw_values" else np.asarray(errors.mean(-1))
    weights = np.asarray(multioutput, float)
    if weights.shape != errors.shape[-1:] or not np.isfinite(weights).all() or weights.sum() == 0:
        raise ValueError(f"multioutput needs a weight for each of {errors.shape[-1]} outputs, with a sum other than 0")
    result: Floats = errors @ weights / weights.sum()
    return result


TINY = np.finfo(float).eps  # what Hugging Face `evaluate` (and scikit-learn) divide by in place of 0


def squared_errors(predictions: Floats, references: Floats) -> Floats:
    """Return the squared distance of each prediction from its reference."""
    return np.square(predictions - references)


class Mse(MeanError, name="mse"):
    """The mean of squared errors, or its root."""

    error = staticmethod(squared_errors)

    def formula(
        self, total: Floats, *, multioutput: Multioutput = "uniform_average", squared: bool = True
    ) -> dict[str, Floats]:
        """The mean of each output or its root, combined."""
        errors = mean_errors(total)
        return {"mse": combine_outputs(errors if squared else np.sqrt(errors), multioutput)}


def absolute_errors(predictions: Floats, references: Floats) -> Floats:
    """The distance of each prediction from its reference."""
    return np.abs(predictions - references)


class Mae(MeanError, name="mae"):
    """The mean distance between prediction and reference."""

    error = staticmethod(absolute_errors)


class Mape(MeanError, name="mape"):
    """The mean distance between prediction and reference, as a share of the reference."""

    def error(self, predictions: Floats, references: Floats) -> Floats:
        """Return distances as a share of the reference.

        Raises ValueError for a wrong prediction of a reference of 0.
        """
        off, size = np.abs(predictions - references), np.abs(references)
        if self.compat:
            return off / np.maximum(size, TINY)
        broken = (size == 0) & (off > 0)
        if broken.any():
            raise ValueError(
                f"references: row {int(np.argwhere(broken)[0][0])} is 0, and its prediction is not: there is no "
                "percentage of 0; use smape, mase or mae, or leave such rows out"
            )
        return ratio(off, size)


def symmetric_errors(predictions: Floats, references: Floats) -> Floats:
    """Twice the distance over the sum of both sizes; 0 where both are 0."""
    return ratio(2 * np.abs(predictions - references), np.abs(references) + np.abs(predictions))


class Smape(MeanError, name="smape"):
    """The mean distance between prediction and reference, as a share of the mean of both."""

    error = staticmethod(symmetric_errors)


class Mase(MeanError, name="mase"):
    """The mean absolute error, compared with that of repeating the last season of the training series."""

    error = staticmethod(absolute_errors)

    def formula(
        self,
        total: Floats,
        *,
        training: Any = None,
        periodicity: int = 1,
        multioutput: Multioutput = "uniform_average",
    ) -> dict[str, Floats]:
        """The mean error over the naive forecast's, both combined over outputs."""
        error = combine_outputs(mean_errors(total), multioutput)
        naive = combine_outputs(_naive(training, periodicity, total.shape[-1] - 2), multioutput)
        if self.compat:
            return {"mase": error / np.maximum(naive, TINY)}
        if ((naive == 0) & (error > 0)).any():
            raise ValueError(
                f"training repeats itself exactly with periodicity={periodicity}: there is no error to scale by; "
                "use mae, or a longer series"
            )
        return {"mase": ratio(error, naive)}


def _naive(training: Any, periodicity: int, outputs: int) -> Floats:
    """The mean absolute error of repeating the value of one period before, shape (K,)."""
    if training is None:
        raise ValueError("mase needs training=..., the series before the forecast, to know what a large error is")
    series = Numbers(wide=True).clean(training, "training")
    series = series[:, None] if series.ndim == 1 else series
    if series.shape[1] != outputs:
        raise ValueError(f"training has {series.shape[1]} series, predictions have {outputs}")
    if periodicity != int(periodicity) or not 1 <= periodicity < len(series):
        raise ValueError(
            f"periodicity={periodicity} needs to be whole, at least 1 and less than the length of training, "
            f"{len(series)}"
        )
    periodicity = int(periodicity)
    result: Floats = np.abs(series[periodicity:] - series[:-periodicity]).mean(0)
    return result


class RSquared(Metric, name="r_squared"):
    """The share of the references' variance that the predictions explain."""

    columns = {"predictions": Numbers(), "references": Numbers()}

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """Return references (of which the spread counts) and errors (of which the size counts), on one scale."""
        with np.errstate(over="ignore"):
            errors = predictions - references
        if not np.isfinite(errors).all():
            raise ValueError("predictions and references differ by more than a float can hold; scale both down")
        return Moments(np.stack([references, errors], 1), (True, False), alike=True)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """1 - squared errors / squared spread; NaN (left out of intervals) where a resample is constant."""
        return {
            "r_squared": 1 - ratio(total[..., 3], centred_squares(total[..., 2], total[..., 0], total[..., 5]), np.nan)
        }

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError for references without spread."""
        references = state.pairs[:, 0]
        if references.min() == references.max():
            raise ValueError(f"references are all {references[0]}: there is no variance to explain; use mae or mse")
        return super().result(state, **options)

    def compatible(self, result: dict[str, Any]) -> float:
        """The bare number, rounded to three decimals."""
        return round(float(result["r_squared"]), 3)


class Mahalanobis(Metric, name="mahalanobis"):
    """Distance of points from a distribution, in units of its spread."""

    columns = {"X": Numbers(wide=True)}
    arrays = True

    def update(self, X: Floats) -> Rows:
        """The points. Raises ValueError where a point is a single number."""
        if X.ndim != 2:
            raise ValueError("X: give a row of numbers for each point, such as [[0.5], [1.5]]")
        return Rows((X,))

    def result(
        self, state: Any, *, reference_distribution: Any = None, squared: bool = True, **options: Any
    ) -> dict[str, Any]:
        """A list with a distance for each point. Raises ValueError for reference rows that do not fit."""
        distances: dict[str, Any] = to_plain(
            self.per_example(state, reference_distribution=reference_distribution, squared=squared)
        )
        return distances

    def per_example(
        self, state: Any, *, reference_distribution: Any = None, squared: bool = True, **options: Any
    ) -> dict[str, Any]:
        """The distance of each point, shape (n,)."""
        (points,) = state.columns
        reference = _reference(reference_distribution, points.shape[1])
        middle = reference.mean() if self.compat else reference.mean(0)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.atleast_2d(np.cov(reference, rowvar=False))
        if not np.isfinite(spread).all():
            raise ValueError("reference_distribution spreads further than a float can hold; scale all rows down")
        inverse = np.linalg.pinv(spread, hermitian=True)
        with np.errstate(over="ignore", invalid="ignore"):
            off = points - middle
            square = np.maximum(((off @ inverse) * off).sum(1), 0)
        if not np.isfinite(square).all():
            far = int((~np.isfinite(square)).argmax())
            raise ValueError(f"X: row {far} is further away than a float can hold; scale all rows down")
        return {"mahalanobis": square if squared else np.sqrt(square)}


def _reference(rows: Any, size: int) -> Floats:
    """Reference rows, shape (m, size). Raises ValueError for anything else."""
    if rows is None:
        raise ValueError("mahalanobis needs reference_distribution=..., the rows to measure the distance from")
    clean = Numbers(wide=True).clean(rows, "reference_distribution")
    if clean.ndim != 2 or clean.shape[1] != size:
        raise ValueError(f"reference_distribution: give rows of {size} numbers, as many as the points have")
    if len(clean) < 2:
        raise ValueError("reference_distribution needs at least 2 rows: one has no spread")
    return clean
