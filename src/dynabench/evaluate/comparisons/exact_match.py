"""Exact match of two systems."""

from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.module import Comparison
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class ExactMatch(Comparison):
    """How often two systems say the same."""

    columns = {"predictions1": Labels(), "predictions2": Labels()}

    def update(self, predictions1: Ints | list[str], predictions2: Ints | list[str]) -> Sums:
        """Whether each row is equal."""
        return Sums(same(predictions1, predictions2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Equal rows / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}
