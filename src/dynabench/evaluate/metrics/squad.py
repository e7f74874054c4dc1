"""SQuAD 1.1: exact match and F1 of answers."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.answers import (
    PredictedAnswer,
    PredictedAnswers,
    QuestionReference,
    RightAnswers,
    match_predictions,
    normalize_answer,
    word_f1,
)


class Squad(Metric):
    """Exact match and word F1 of answers to questions."""

    columns = {"predictions": PredictedAnswers(), "references": RightAnswers()}

    def update(self, predictions: list[PredictedAnswer], references: list[QuestionReference]) -> Sums:
        """Exact match and F1 of each question, from 0 to 1."""
        rows = []
        for row, (predicted, question) in enumerate(
            zip(match_predictions(predictions, references), references, strict=True)
        ):
            if not question.texts:
                raise ValueError(f"references: row {row} has no right answer; squad_v2 scores such questions")
            answer, right = normalize_answer(predicted.text), {normalize_answer(text) for text in question.texts}
            rows.append((answer in right, max(word_f1(answer, text) for text in right)))
        return Sums(np.array(rows, float).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Means in percent."""
        return {
            "exact_match": 100 * ratio(total[..., 0], total[..., -1]),
            "f1": 100 * ratio(total[..., 1], total[..., -1]),
        }
