"""Exact match of the predictions of two systems."""

from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.module import Comparison
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class ExactMatchComparison(Comparison):
    """Share of examples for which two systems give the same prediction."""

    columns = {"predictions1": Labels(), "predictions2": Labels()}

    def update(self, predictions1: Ints | list[str], predictions2: Ints | list[str]) -> Sums:
        """Return for each row whether the two predictions are equal."""
        return Sums(same(predictions1, predictions2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Return equal rows / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}
