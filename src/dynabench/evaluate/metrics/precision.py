"""Precision."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.averages import INPUTS, OPTIONS, Counts, DefaultedScore
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


def precision(counts: Counts, default: float = 0.0) -> Floats:
    """Precision of each class, shape (..., K); `default` for a class that nobody predicts."""
    return ratio(counts.hits, counts.said, default)


class Precision(DefaultedScore):
    """The share of the examples predicted to be of a class that are of it."""

    card = Card(
        description=N_("Of the examples that were predicted to be of a class, the share that really are."),
        formula=r"P = \frac{TP}{TP + FP}",
        inputs=INPUTS,
        options={**OPTIONS, "zero_division": "value of a class that is never predicted: 0 (also 'warn') or 1"},
        outputs=(Output("precision", "precision, or a list with one value for each class", 0, 1, "higher"),),
        examples=(
            Example(
                "Two predicted positives, one of them right",
                {"predictions": [0, 0, 1, 1, 0], "references": [0, 1, 0, 1, 0]},
                {"precision": 0.5},
            ),
            Example(
                "Each class of three",
                {"predictions": [0, 2, 1, 0, 0, 1], "references": [0, 1, 2, 0, 1, 2]},
                {"precision": [2 / 3, 0, 0]},
                {"average": None},
            ),
            Example(
                "Nothing is predicted to be positive",
                {"predictions": [0, 0], "references": [1, 0]},
                {"precision": 1},
                {"zero_division": 1},
            ),
            Example(
                "Texts need to know which one is positive",
                {"predictions": ["spam", "ham"], "references": ["spam", "spam"]},
                error="choose pos_label",
            ),
        ),
        limits=(
            "Says nothing of the examples that were missed: read it beside recall. A class that is never predicted "
            "has no precision; it counts as `zero_division`, and 'warn' does not warn. Depends on how frequent the "
            "class is, so compare it on one data set only."
        ),
        citation="Kent et al., Machine literature searching VIII, American Documentation 6 (1955) 93-101.",
        tasks=("text-classification", "natural-language-inference"),
    )
    score = staticmethod(precision)
