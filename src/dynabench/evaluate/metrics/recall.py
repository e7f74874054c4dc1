"""Recall."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.averages import INPUTS, OPTIONS, Counts, DefaultedScore
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


def recall(counts: Counts, default: float = 0.0) -> Floats:
    """Recall of each class, shape (..., K); `default` for a class that nobody has."""
    return ratio(counts.hits, counts.true, default)


class Recall(DefaultedScore):
    """The share of the examples of a class that are predicted to be of it."""

    card = Card(
        description=N_(
            "Of the examples of a class, the share that was predicted to be of it (also called sensitivity)."
        ),
        formula=r"R = \frac{TP}{TP + FN}",
        inputs=INPUTS,
        options={**OPTIONS, "zero_division": "value of a class that has no examples: 0 (also 'warn') or 1"},
        outputs=(Output("recall", "recall, or a list with one value for each class", 0, 1, "higher"),),
        examples=(
            Example(
                "Two positives, one of them found",
                {"predictions": [0, 0, 1, 1, 0], "references": [0, 1, 0, 1, 0]},
                {"recall": 0.5},
            ),
            Example(
                "Each class of three",
                {"predictions": [0, 2, 1, 0, 0, 1], "references": [0, 1, 2, 0, 1, 2]},
                {"recall": [1, 0, 0]},
                {"average": None},
            ),
            Example(
                "Nothing is positive",
                {"predictions": [1, 0], "references": [0, 0]},
                {"recall": 1},
                {"zero_division": 1},
            ),
            Example(
                "Texts need to know which one is positive",
                {"predictions": ["spam", "ham"], "references": ["spam", "spam"]},
                error="choose pos_label",
            ),
        ),
        limits=(
            "Says nothing of false alarms: predicting a class always gives recall 1, so read it beside precision. A "
            "class without examples has no recall; it counts as `zero_division`, and 'warn' does not warn."
        ),
        citation="Kent et al., Machine literature searching VIII, American Documentation 6 (1955) 93-101.",
        tasks=("text-classification", "natural-language-inference"),
    )
    score = staticmethod(recall)
