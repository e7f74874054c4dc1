"""The approximate randomization test."""

from typing import Any

from dynabench.evaluate.systems.differences import ResamplingOptions, ScoreDifference, StatePair, randomization_test
from dynabench.evaluate.systems.measures import FunctionScore, ModuleScore
from dynabench.evaluate.systems.significance import ScoreTest


class ApproximateRandomization(ScoreTest):
    """Test of whether two systems differ by any metric, by swapping their predictions at random."""

    def test(
        self,
        pair: StatePair,
        measure: ModuleScore | FunctionScore,
        observed: ScoreDifference,
        drawing: ResamplingOptions,
    ) -> dict[str, Any]:
        """Return p, and whether it is exact."""
        p, exact = randomization_test(pair, measure.statistic, drawing)
        return {"p": p, "exact": exact}
