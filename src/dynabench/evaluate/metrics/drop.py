"""DROP: exact match and F1 of answers that are words, several of them, or numbers."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.drop_answers import MultiPartAnswers, Parts, RightMultiPartAnswers, compare_answers


class Drop(Metric):
    """F1 and exact match of answers of one or several parts, with numbers."""

    columns = {"predictions": MultiPartAnswers(), "references": RightMultiPartAnswers()}

    def update(
        self, predictions: list[Parts], references: list[tuple[Parts, ...]], *, number_words: bool = False
    ) -> Sums:
        """F1 and exact match of each question, from 0 to 1: of the right answer with the best F1."""
        rows = []
        for predicted, answers in zip(predictions, references, strict=True):
            exact, f1 = max(
                (compare_answers(predicted, right, number_words) for right in answers), key=lambda pair: pair[::-1]
            )
            rows.append((f1, exact))
        return Sums(np.array(rows, float).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Means."""
        return {"f1": ratio(total[..., 0], total[..., -1]), "exact_match": ratio(total[..., 1], total[..., -1])}
