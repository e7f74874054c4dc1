"""CUAD: clauses found in contracts."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows
from dynabench.evaluate.texts.answers import Asked, Predicted, PredictedLists, RightAnswers, matched, normalised
from dynabench.language import N_

OVERLAP = 0.5  # Jaccard similarity from which a predicted clause counts as found
LOOSE = str.maketrans({**dict.fromkeys(".,;:", ""), "/": " "})


class Cuad(Metric):
    """Clauses found in contracts, and how precise the search is at a high recall."""

    card = Card(
        description=N_(
            "For questions with any number of right clauses and of predicted ones: exact match, F1 of clauses (one "
            "is found where its words overlap by half), the area under the curve of the questions' precision and "
            "recall, and precision at 80 and 90 percent recall."
        ),
        formula=(
            r"F_1 = \frac{2\,TP}{2\,TP + FP + FN}, \quad TP = \#\{a : \max_{\hat a} J(\hat a, a) \ge 0.5\}, \quad "
            r"\mathrm{AUPR} = \int \max_{r' \ge r} P(r')\,dr"
        ),
        inputs={
            "predictions": "list of texts for each question, or {id, prediction_text: list of texts}",
            "references": "list of right texts for each question, perhaps empty, or {id, answers: {text: [...]}}",
        },
        outputs=(
            Output(
                "exact_match", "questions with a prediction that equals a right clause, in percent", 0, 100, "higher"
            ),
            Output("f1", "mean F1 of clauses, in percent", 0, 100, "higher"),
            Output("aupr", "area under the precision-recall curve", 0, 1, "higher"),
            Output("prec_at_80_recall", "precision at 80 percent recall", 0, 1, "higher"),
            Output("prec_at_90_recall", "precision at 90 percent recall", 0, 1, "higher"),
        ),
        examples=(
            Example(
                "Both clauses found",
                {
                    "predictions": [{"id": "x__Parties", "prediction_text": ["The seller:", "The buyer: Acme Ltd."]}],
                    "references": [{"id": "x__Parties", "answers": {"text": ["The seller:", "The buyer: Acme Ltd."]}}],
                },
                {
                    "exact_match": 100.0,
                    "f1": 100.0,
                    "aupr": 0.0,
                    "prec_at_80_recall": 1.0,
                    "prec_at_90_recall": 1.0,
                },
            ),
            Example(
                "One of two clauses found, with a false one; and a contract that has none",
                {
                    "predictions": [["this lease ends in May", "rent is due"], []],
                    "references": [["this lease ends in June", "the deposit stays"], []],
                },
                {"exact_match": 50.0, "f1": 75.0},
            ),
            Example(
                "An empty clause",
                {"predictions": [["a"]], "references": [[""]]},
                error="row 0 has an empty clause",
            ),
        ),
        limits=(
            "Each question is one point of the curve, so that with one question its area is 0. Where nothing is to "
            "be found, saying nothing scores 1 and anything else 0, and the question is no point of the curve, for "
            "it has no recall; where nothing was said its precision counts as 0. The original script gives NaN there. "
            "Questions whose id contains 'Parties' also accept a prediction that contains the clause."
        ),
        citation=(
            "Hendrycks, Burns, Chen and Ball, CUAD: An Expert-Annotated NLP Dataset for Legal Contract Review, "
            "arXiv:2103.06268, 2021, with its evaluation script."
        ),
        tasks=("question-answering",),
    )
    columns = {"predictions": PredictedLists(), "references": RightAnswers()}

    def update(self, predictions: list[Predicted], references: list[Asked]) -> Rows:
        """Exact match, F1, precision and recall of each question; recall is NaN where nothing is to be found."""
        rows = []
        for row, (said, asked) in enumerate(zip(matched(predictions, references), references, strict=True)):
            if not all(asked.texts):
                raise ValueError(f"references: row {row} has an empty clause; leave the list empty where there is none")
            same = {normalised(text) for text in said.texts} & {normalised(text) for text in asked.texts}
            exact = bool(same) or not (said.texts or asked.texts)
            rows.append((exact, *_found(said.texts, asked.texts, "Parties" in (said.id or asked.id or ""))))
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


def _found(said: tuple[str, ...], true: tuple[str, ...], within: bool) -> tuple[float, float, float]:
    """F1, precision and recall of one question's clauses."""
    words = [_words(text) for text in said]
    hits = np.zeros((len(true), len(said)), bool)
    for row, clause in enumerate(true):
        its = _words(clause)
        for column, text in enumerate(said):
            near = len(its & words[column]) >= OVERLAP * len(its | words[column])
            hits[row, column] = near or (within and clause in text)
    right, wrong, missed = hits.any(1).sum(), (~hits.any(0)).sum(), (~hits.any(1)).sum()
    if not true:
        return float(not said), float(not said), np.nan
    precision = right / (right + wrong) if said else 0.0
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
