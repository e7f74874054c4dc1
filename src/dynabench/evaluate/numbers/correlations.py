"""Correlations of two columns of numbers: shared parts of pearsonr and spearmanr."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dynabench.evaluate.columns import Column, Floats, Numbers
from dynabench.evaluate.module import Metric


class Correlation(Metric):
    """A correlation, whose state has `pairs` (n, 2), and its p-value: the first and second output of its card."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Numbers(), "references": Numbers()}
    pvalue: Callable[[float, int], float]  # of the correlation and the number of pairs

    def result(self, state: Any, *, return_pvalue: bool = False, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError for fewer than two rows and for a constant column."""
        key, chance = (output.name for output in self.card.outputs)
        require_spread(state.pairs, key)
        scores = super().result(state, **options)
        return {**scores, chance: self.pvalue(scores[key], len(state))} if return_pvalue else scores


def require_spread(pairs: Floats, name: str) -> None:
    """Raise ValueError where one of the columns (predictions, references), shape (n, 2), has no spread."""
    if len(pairs) < 2:
        raise ValueError(f"{name} needs at least two examples, there is one")
    for column, values in zip(("predictions", "references"), pairs.T, strict=True):
        if values.min() == values.max():
            raise ValueError(f"{column} are all {values[0]}: a constant has no correlation; use mae or mse instead")
