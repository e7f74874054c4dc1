"""SQuAD 1.1: exact match and F1 of answers."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
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
from dynabench.language import N_


class Squad(Metric):
    """Exact match and word F1 of answers to questions."""

    card = Card(
        description=N_(
            "Of answers to questions the percentage that equals a right answer, and the mean F1 of their words, "
            "taking of several right answers the nearest. Case, ASCII punctuation and English articles do not count."
        ),
        formula=(
            r"\mathrm{EM} = \frac{100}{n} \sum_i \max_{a \in A_i} [\hat a_i = a], \quad "
            r"F_1 = \frac{100}{n} \sum_i \max_{a \in A_i} \frac{2\,|\hat a_i \cap a|}{|\hat a_i| + |a|}"
        ),
        inputs={
            "predictions": "a text for each question, or {id, prediction_text}",
            "references": "a text or list of texts for each question, or {id, answers: {text: [...]}}",
        },
        outputs=(
            Output("exact_match", "answers that equal a right one, in percent", 0, 100, "higher"),
            Output("f1", "mean F1 of the words, in percent", 0, 100, "higher"),
        ),
        examples=(
            Example(
                "One right, one with a word too many",
                {"predictions": ["Denver Broncos", "in 1976"], "references": [["the Denver Broncos"], ["1976"]]},
                {"exact_match": 50.0, "f1": 250 / 3},
            ),
            Example(
                "By id, as the data set writes them",
                {
                    "predictions": [
                        {"id": "q1", "prediction_text": "the red car"},
                        {"id": "q3", "prediction_text": "Paris."},
                        {"id": "q2", "prediction_text": "1976"},
                    ],
                    "references": [
                        {"id": "q1", "answers": {"text": ["blue", "red"], "answer_start": [0, 9]}},
                        {"id": "q2", "answers": {"text": ["1976"], "answer_start": [97]}},
                        {"id": "q3", "answers": {"text": ["paris"], "answer_start": [5]}},
                    ],
                },
                {"exact_match": 200 / 3, "f1": 800 / 9},
            ),
            Example(
                "A question without an answer",
                {"predictions": ["1976"], "references": [[]]},
                error="row 0 has no right answer; squad_v2",
            ),
        ),
        limits=(
            "Made for short English answers: articles of other languages stay, and writing without spaces is one "
            "word. An answer of nothing but articles and punctuation has F1 0 even where it matches, as in the "
            "original script. Where both sides have ids they are joined by id within a batch, else by place; a "
            "question without a prediction is refused rather than scored 0."
        ),
        citation=(
            "Rajpurkar, Zhang, Lopyrev and Liang, SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
            "EMNLP 2016."
        ),
        tasks=("question-answering",),
    )
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
