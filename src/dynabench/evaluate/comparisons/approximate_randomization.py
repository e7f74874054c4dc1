"""The approximate randomization test."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.systems.differences import Difference, Drawing, Pair, randomised
from dynabench.evaluate.systems.scored import Scored, ScoredBy
from dynabench.evaluate.systems.significance import INPUTS, OPTIONS, OUTPUTS, ScoreTest
from dynabench.language import N_


class ApproximateRandomization(ScoreTest):
    """Whether two systems differ by any metric, when their predictions change places."""

    card = Card(
        description=N_(
            "Whether two systems differ by any metric. If they were the same, their predictions for an example could "
            "change places without anybody noticing: so they do, for each example by the throw of a coin, and p is the "
            "share of throws in which the scores differ at least as much as seen. Where at most 65,536 outcomes are "
            "possible (for rank statistics and functions, `resamples`), each is looked at and p is exact. The interval "
            "is that of the paired bootstrap."
        ),
        formula=r"p = \frac{1 + \#\{r : |\Delta_r| \ge |\Delta|\}}{1 + R}",
        inputs=INPUTS,
        options=OPTIONS | {"resamples": "how many times predictions change places, and rows are drawn"},
        outputs=(*OUTPUTS, Output("exact", "whether all outcomes were looked at", 0, 1)),
        examples=(
            Example(
                "Four examples differ, all for the first system: 2 of 16 outcomes are as far",
                {
                    "predictions1": [1, 0, 1, 1, 0, 1],
                    "predictions2": [0, 1, 0, 0, 0, 1],
                    "references": [1, 0, 1, 1, 0, 1],
                },
                {"score1": 1.0, "score2": 1 / 3, "difference": 2 / 3, "p": 0.125, "exact": True},
            ),
            Example(
                "Two copies of a system never differ",
                {"predictions1": ["a", "b"], "predictions2": ["a", "b"], "references": ["a", "a"]},
                {"difference": 0.0, "p": 1.0, "exact": True},
            ),
            Example(
                "A metric that does not take such predictions",
                {"predictions1": [0.5, 1], "predictions2": [0, 1], "references": [0, 1]},
                error="predictions1: row 0 is 0.5",
            ),
        ),
        limits=(
            "It asks whether predictions could be exchanged, so it may also find systems different that err equally "
            "often in different ways. Examples must be independent of each other. Where the systems predict different "
            "sets of labels, p is computed with all of them for both."
        ),
        citation=(
            "Noreen, Computer-Intensive Methods for Testing Hypotheses, Wiley, 1989; Yeh, More accurate tests for the "
            "statistical significance of result differences, COLING 2000, 947-953."
        ),
    )

    def test(self, pair: Pair, measure: Scored | ScoredBy, found: Difference, drawing: Drawing) -> dict[str, Any]:
        """p, and whether it is exact."""
        p, exact = randomised(pair, measure.statistic, drawing)
        return {"p": p, "exact": exact}
