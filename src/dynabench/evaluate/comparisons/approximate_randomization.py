"""The approximate randomization test."""

from typing import Any

from dynabench.evaluate.systems.differences import Difference, Drawing, Pair, randomised
from dynabench.evaluate.systems.scored import Scored, ScoredBy
from dynabench.evaluate.systems.significance import ScoreTest


class ApproximateRandomization(ScoreTest):
    """Whether two systems differ by any metric, when their predictions change places."""

    def test(self, pair: Pair, measure: Scored | ScoredBy, found: Difference, drawing: Drawing) -> dict[str, Any]:
        """p, and whether it is exact."""
        p, exact = randomised(pair, measure.statistic, drawing)
        return {"p": p, "exact": exact}
