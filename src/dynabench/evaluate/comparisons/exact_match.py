"""Exact match of two systems."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.module import Comparison
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class ExactMatch(Comparison):
    """How often two systems say the same."""

    card = Card(
        description=N_("The share of examples for which two systems predict exactly the same."),
        formula=r"\frac{1}{n} \sum_i [\hat y_{1,i} = \hat y_{2,i}]",
        inputs={
            "predictions1": "of the first system: whole numbers or texts",
            "predictions2": "of the second system, of the same kind",
        },
        outputs=(Output("exact_match", "share of equal predictions", 0, 1),),
        examples=(
            Example(
                "Two of three are equal",
                {"predictions1": [1, 0, 1], "predictions2": [1, 1, 1]},
                {"exact_match": 2 / 3},
            ),
            Example(
                "A space makes a text another one",
                {"predictions1": ["yes", "no"], "predictions2": ["yes", "no "]},
                {"exact_match": 0.5},
            ),
            Example(
                "Texts against numbers",
                {"predictions1": ["1"], "predictions2": [1]},
                error="give predictions and references of one kind",
            ),
        ),
        limits=(
            "Two systems may agree because both are right, or because both err alike; equal shares of right answers "
            "say nothing of it. Agreement that chance alone would give is not taken off."
        ),
        citation="Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text, EMNLP 2016.",
    )
    columns = {"predictions1": Labels(), "predictions2": Labels()}

    def update(self, predictions1: Ints | list[str], predictions2: Ints | list[str]) -> Sums:
        """Whether each row is equal."""
        return Sums(same(predictions1, predictions2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Equal rows / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}
