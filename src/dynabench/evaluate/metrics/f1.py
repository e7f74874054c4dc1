"""F1."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.averages import INPUTS, OPTIONS, ClassScore, Counts
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


def f1(counts: Counts, default: float = 0.0) -> Floats:
    """F1 of each class, shape (..., K); `default` for a class that nobody has and nobody predicts."""
    return ratio(2 * counts.hits, counts.true + counts.said, default)


class F1(ClassScore):
    """The harmonic mean of precision and recall."""

    card = Card(
        description=N_(
            "The harmonic mean of precision (how many of the predicted examples of a class are right) and recall "
            "(how many of a class's examples were found), of one class or averaged over classes."
        ),
        formula=r"F_1 = \frac{2\,TP}{2\,TP + FP + FN}",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(Output("f1", "F1, or a list with one value for each class", 0, 1, "higher"),),
        examples=(
            Example(
                "One of two positives found, one false alarm",
                {"predictions": [0, 0, 1, 1, 0], "references": [0, 1, 0, 1, 0]},
                {"f1": 0.5},
            ),
            Example(
                "Three classes, each weighing the same",
                {"predictions": [0, 2, 1, 0, 0, 1], "references": [0, 1, 2, 0, 1, 2]},
                {"f1": 4 / 15},
                {"average": "macro"},
            ),
            Example(
                "Two classes at once in each row",
                {"predictions": [[0, 1], [1, 1]], "references": [[0, 1], [1, 0]]},
                {"f1": 5 / 6},
                {"average": "macro"},
            ),
            Example(
                "Three classes have no single positive one",
                {"predictions": [0, 1, 2], "references": [0, 1, 2]},
                error="choose another average",
            ),
        ),
        limits=(
            "Says nothing of true negatives, and changes when the positive class is swapped. A class that occurs "
            "neither in references nor in predictions scores 0 and lowers a macro average over given `labels`."
        ),
        citation="van Rijsbergen, Information Retrieval, 2nd edition, Butterworths, 1979.",
        tasks=("text-classification", "natural-language-inference"),
    )
    score = staticmethod(f1)
