"""CUAD: clauses found in contracts."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows
from dynabench.evaluate.texts.answers import (
    PredictedAnswer,
    PredictedLists,
    QuestionReference,
    RightAnswers,
    match_predictions,
    normalize_answer,
)

OVERLAP = 0.5  # Jaccard similarity from which a predicted clause counts as found
LOOSE = str.maketrans({**dict.fromkeys(".,;:", ""), "/": " "})


class Cuad(Metric):
    """Clauses found in contracts, and how precise the search is at a high recall."""

    columns = {"predictions": PredictedLists(), "references": RightAnswers()}

    def update(self, predictions: list[PredictedAnswer], references: list[QuestionReference]) -> Rows:
        """Exact match, F1, precision and recall of each question; recall is NaN where nothing is to be found."""
        rows = []
        for row, (predicted, question) in enumerate(
            zip(match_predictions(predictions, references), references, strict=True)
        ):
            if not all(question.texts):
                raise ValueError(f"references: row {row} has an empty clause; leave the list empty where there is none")
            same = {normalize_answer(text) for text in predicted.texts} & {
                normalize_answer(text) for text in question.texts
            }
            exact = bool(same) or not (predicted.texts or question.texts)
            rows.append(
                (
                    exact,
                    *_clause_scores(predicted.texts, question.texts, "Parties" in (predicted.id or question.id or "")),
                )
            )
        return Rows(tuple(np.array(rows, float).reshape(-1, 4).T))

    def formula(self, total: tuple[Floats, ...]) -> dict[str, Any]:
        """Means in percent, and what follows from the curve."""
        exact, f1, precision, recall = total
        recall, precision = _curve(precision, recall)
        return {
            "exact_match": 100 * exact.mean(-1),
            "f1": 100 * f1.mean(-1),
            "aupr": np.trapezoid(precision, recall, axis=-1),
            "prec_at_80_recall": _precision_at(0.8, precision, recall),
            "prec_at_90_recall": _precision_at(0.9, precision, recall),
        }

    def per_example(self, state: Rows, **options: Any) -> dict[str, Any]:
        """Exact match and F1 of each question, in percent."""
        return {"exact_match": 100 * state.columns[0], "f1": 100 * state.columns[1]}


def _clause_scores(predicted: tuple[str, ...], true: tuple[str, ...], within: bool) -> tuple[float, float, float]:
    """F1, precision and recall of one question's clauses."""
    words = [_words(text) for text in predicted]
    hits = np.zeros((len(true), len(predicted)), bool)
    for row, clause in enumerate(true):
        its = _words(clause)
        for column, text in enumerate(predicted):
            near = len(its & words[column]) >= OVERLAP * len(its | words[column])
            hits[row, column] = near or (within and clause in text)
    right, wrong, missed = hits.any(1).sum(), (~hits.any(0)).sum(), (~hits.any(1)).sum()
    if not true:
        return float(not predicted), float(not predicted), np.nan
    precision = right / (right + wrong) if predicted else 0.0
    return 2 * right / (2 * right + wrong + missed), precision, right / len(true)


def _words(text: str) -> set[str]:
    return set(text.lower().translate(LOOSE).split(" "))


def _curve(precision: Floats, recall: Floats) -> tuple[Floats, Floats]:
    """Recall in rising order, and the best precision at that recall or a higher one; each (..., n).

    Questions without a recall become points at the lowest one with precision 0, which changes nothing.
    """
    defined = ~np.isnan(recall)
    lowest = np.min(np.where(defined, recall, np.inf), axis=-1, keepdims=True)
    recall = np.where(defined, recall, np.where(np.isinf(lowest), 0, lowest))
    precision = np.where(defined, precision, 0)
    order = np.lexsort((precision, recall), axis=-1)
    recall, precision = (np.take_along_axis(column, order, -1) for column in (recall, precision))
    return recall, np.maximum.accumulate(precision[..., ::-1], axis=-1)[..., ::-1]


def _precision_at(level: float, precision: Floats, recall: Floats) -> Floats:
    """Precision of the first point with this recall, 0 where there is none."""
    reached = recall >= level
    first = np.argmax(reached, axis=-1)[..., None]
    result: Floats = np.where(reached.any(-1), np.take_along_axis(precision, first, -1)[..., 0], 0.0)
    return result
