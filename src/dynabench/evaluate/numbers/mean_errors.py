"""Mean errors of predicted numbers: shared parts of mae, mse, mape, smape and mase."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Numbers, Weights
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums

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
