"""SQuAD 1.1: exact match and F1 of answers."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.answers import (
    Asked,
    Predicted,
    PredictedAnswers,
    RightAnswers,
    matched,
    normalised,
    word_f1,
)


class Squad(Metric):
    """Exact match and word F1 of answers to questions."""

    columns = {"predictions": PredictedAnswers(), "references": RightAnswers()}

    def update(self, predictions: list[Predicted], references: list[Asked]) -> Sums:
        """Exact match and F1 of each question, from 0 to 1."""
        rows = []
        for row, (said, asked) in enumerate(zip(matched(predictions, references), references, strict=True)):
            if not asked.texts:
                raise ValueError(f"references: row {row} has no right answer; squad_v2 scores such questions")
            answer, right = normalised(said.text), {normalised(text) for text in asked.texts}
            rows.append((answer in right, max(word_f1(answer, text) for text in right)))
        return Sums(np.array(rows, float).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Means in percent."""
        return {
            "exact_match": 100 * ratio(total[..., 0], total[..., -1]),
            "f1": 100 * ratio(total[..., 1], total[..., -1]),
        }
