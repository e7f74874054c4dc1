"""The paired bootstrap."""

from typing import Any

from dynabench.evaluate.systems.differences import ResamplingOptions, ScoreDifference, StatePair
from dynabench.evaluate.systems.measures import FunctionScore, ModuleScore
from dynabench.evaluate.systems.significance import ScoreTest


class PairedBootstrap(ScoreTest):
    """Test of how much better one system is than another by any metric, when examples are resampled."""

    def test(
        self,
        pair: StatePair,
        measure: ModuleScore | FunctionScore,
        observed: ScoreDifference,
        drawing: ResamplingOptions,
    ) -> dict[str, Any]:
        """Return p from the same replicates as the interval."""
        return {"p": observed.p()}
