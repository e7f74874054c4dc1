"""The paired bootstrap."""

from typing import Any

from dynabench.evaluate.systems.differences import Difference, Drawing, Pair
from dynabench.evaluate.systems.scored import Scored, ScoredBy
from dynabench.evaluate.systems.significance import ScoreTest


class PairedBootstrap(ScoreTest):
    """How much better one system is than another by any metric, when examples are drawn anew."""

    def test(self, pair: Pair, measure: Scored | ScoredBy, found: Difference, drawing: Drawing) -> dict[str, Any]:
        """p from the replicates that the interval is made of."""
        return {"p": found.p()}
