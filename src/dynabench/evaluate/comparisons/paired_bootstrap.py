"""The paired bootstrap."""

from typing import Any

from dynabench.evaluate.card import Card, Example
from dynabench.evaluate.systems.differences import Difference, Drawing, Pair
from dynabench.evaluate.systems.scored import Scored, ScoredBy
from dynabench.evaluate.systems.significance import INPUTS, OPTIONS, OUTPUTS, ScoreTest
from dynabench.language import N_


class PairedBootstrap(ScoreTest):
    """How much better one system is than another by any metric, when examples are drawn anew."""

    card = Card(
        description=N_(
            "The difference between two systems' scores by any metric, with its interval and p value. Examples are "
            "drawn again with replacement, the same ones for both systems, so that what is hard for both cancels."
        ),
        formula=(
            r"p = \frac{1 + \#\{b : |\Delta^*_b - \Delta| \ge |\Delta|\}}{1 + B},\quad "
            r"\Delta = m(\hat y_1, y) - m(\hat y_2, y)"
        ),
        inputs=INPUTS,
        options=OPTIONS,
        outputs=OUTPUTS,
        examples=(
            Example(
                "Ten examples do not tell nine right ones from seven",
                {
                    "predictions1": [1, 0, 1, 1, 0, 1, 0, 0, 1, 0],
                    "predictions2": [1, 0, 1, 1, 0, 1, 0, 1, 0, 0],
                    "references": [1, 0, 1, 1, 0, 1, 0, 0, 1, 1],
                },
                {"score1": 0.9, "score2": 0.7, "difference": 0.2},
            ),
            Example(
                "Two copies of a system never differ",
                {"predictions1": [1, 0, 1, 1], "predictions2": [1, 0, 1, 1], "references": [1, 1, 0, 1]},
                {"difference": 0.0, "p": 1.0, "interval": {"difference": {"low": 0.0, "high": 0.0}}},
                {"metric": "f1", "metric_options": {"average": "macro"}},
            ),
            Example(
                "F1 of each class is more than one score",
                {"predictions1": [1, 0], "predictions2": [0, 0], "references": [1, 0]},
                options={"metric": "f1", "metric_options": {"average": None}},
                error="choose an average",
            ),
        ),
        limits=(
            "Examples must be independent of each other, and those of a small set (below about 50) show too little of "
            "what else could come: there the approximate randomization test is safer. The p value says how surprising "
            "the difference is, not how large or how important. The interval may just leave out 0 where p is just "
            "above 1 - level: its shape follows the replicates, the test assumes that equal systems would scatter "
            "around 0 in the same way."
        ),
        citation=(
            "Efron and Tibshirani, An Introduction to the Bootstrap, Chapman and Hall, 1993; Koehn, Statistical "
            "significance tests for machine translation evaluation, EMNLP 2004, 388-395; Riezler and Maxwell, On some "
            "pitfalls in automatic evaluation and significance testing for MT, ACL Workshop 2005, 57-64."
        ),
    )

    def test(self, pair: Pair, measure: Scored | ScoredBy, found: Difference, drawing: Drawing) -> dict[str, Any]:
        """p from the replicates that the interval is made of."""
        return {"p": found.p()}
