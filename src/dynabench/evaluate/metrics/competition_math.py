"""Accuracy of answers to mathematical problems."""

from functools import lru_cache

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.latex import canonical
from dynabench.language import N_


class CompetitionMath(Metric):
    """The share of mathematical answers that are written like the right one, but for what LaTeX leaves free."""

    card = Card(
        description=N_(
            "The share of answers to competition problems that equal the right one after both are written alike: "
            "without spaces, units, dollar and percent signs, with fractions and roots in their long form."
        ),
        formula=r"\frac{1}{n} \sum_i [c(\hat y_i) = c(y_i)], \quad c: \text{canonical LaTeX}",
        inputs={
            "predictions": "final answers in LaTeX, without the way to them",
            "references": "right answers in LaTeX",
        },
        outputs=(Output("accuracy", "share of right answers", 0, 1, "higher"),),
        examples=(
            Example(
                "A fraction written in two ways",
                {"predictions": ["1/2"], "references": [r"\frac{1}{2}"]},
                {"accuracy": 1.0},
            ),
            Example(
                "Roots, units, decimals; and another number",
                {
                    "predictions": [r"\sqrt3", r"x = 5 \text{ cm}", ".5", "7"],
                    "references": [r"\sqrt{3}", "5", r"\dfrac{1}{2}", "8"],
                },
                {"accuracy": 0.75},
            ),
            Example("Numbers are no texts", {"predictions": [5], "references": ["5"]}, error="row 0 is 5, not a text"),
        ),
        limits=(
            "Compares writing, not values: 2/4 is not 1/2, and 0.5 is one half but 0.25 is not one quarter. The whole "
            "text is compared, so take the final answer out of \\boxed{} and out of prose before."
        ),
        citation=(
            "Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset, NeurIPS Datasets and "
            "Benchmarks 2021, with the rules of its evaluation."
        ),
        tasks=("text-generation", "question-answering"),
    )
    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Whether each answer is right."""
        alike = lru_cache(1 << 20)(canonical)
        pairs = zip(predictions, references, strict=True)
        return Sums(np.array([said == true or alike(said) == alike(true) for said, true in pairs], bool))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Right answers / rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1])}
