"""McNemar's test."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Labels
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.plain import plain
from dynabench.evaluate.states import Sums
from dynabench.evaluate.systems.significance import SignificanceTest
from dynabench.language import N_


class McNemar(SignificanceTest):
    """Whether two systems are right equally often."""

    card = Card(
        description=N_(
            "Whether two systems are right equally often, from the examples for which just one of them is right: "
            "b of them only the first system's, c only the second's."
        ),
        formula=r"\chi^2 = \frac{(b - c)^2}{b + c},\quad p = P(\chi^2_1 \ge \chi^2)",
        inputs={
            "predictions1": "of the first system: whole numbers or texts",
            "predictions2": "of the second system, of the same kind",
            "references": "right class of each example, of the same kind",
        },
        options={
            "exact": "True takes p from the binomial distribution, and stat is the smaller of b and c",
            "correction": "True takes 1 off |b - c|, for a chi-squared statistic nearer to the exact test",
        },
        outputs=(
            Output("stat", "the test's statistic", 0),
            Output("p", "chance of a statistic at least as extreme between systems that are right equally often", 0, 1),
        ),
        examples=(
            Example(
                "One example differs",
                {"predictions1": [1, 1, 1], "predictions2": [1, 0, 1], "references": [1, 0, 1]},
                {"stat": 1.0, "p": 0.3173105078629141},
            ),
            Example(
                "Four examples that only the first system gets right, exactly",
                {"predictions1": [1, 0, 1, 0], "predictions2": [0, 1, 0, 1], "references": [1, 0, 1, 0]},
                {"stat": 0.0, "p": 0.125},
                {"exact": True},
            ),
            Example(
                "Systems that are right on the same examples do not differ",
                {"predictions1": ["a", "b"], "predictions2": ["a", "c"], "references": ["a", "a"]},
                {"stat": 0.0, "p": 1.0},
            ),
            Example(
                "Scores are no labels",
                {"predictions1": [0.9], "predictions2": [1], "references": [1]},
                error="row 0 is 0.9, which is no label",
            ),
        ),
        limits=(
            "For accuracy alone; other metrics need paired_bootstrap or approximate_randomization. With fewer than "
            "about 25 examples that differ, choose exact=True. Where both systems are right on the same examples, stat "
            "is 0 and p is 1. Examples must be independent of each other."
        ),
        citation=(
            "McNemar, Note on the sampling error of the difference between correlated proportions or percentages, "
            "Psychometrika 12 (1947) 153-157; Edwards, Psychometrika 13 (1948) 185-187 (correction)."
        ),
    )
    columns = {"predictions1": Labels(), "predictions2": Labels(), "references": Labels()}

    def update(
        self, predictions1: Ints | list[str], predictions2: Ints | list[str], references: Ints | list[str]
    ) -> Sums:
        """Whether only the first system is right, and whether only the second is."""
        first, second = same(predictions1, references), same(predictions2, references)
        return Sums(np.stack([first & ~second, second & ~first], 1))

    def result(self, state: Sums, *, exact: bool = False, correction: bool = False, **options: Any) -> dict[str, Any]:
        """Statistic and p value."""
        from scipy.special import bdtr, chdtrc

        first, second = (int(count) for count in state.total()[:2])
        differ, fewer = first + second, min(first, second)
        if exact:
            return {"stat": float(fewer), "p": min(2 * float(bdtr(fewer, differ, 0.5)), 1.0)}
        apart = max(abs(first - second) - bool(correction), 0)
        stat = apart**2 / differ if differ else 0.0
        result: dict[str, Any] = plain({"stat": float(stat), "p": float(chdtrc(1, stat))})
        return result
