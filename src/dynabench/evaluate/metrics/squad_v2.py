"""SQuAD 2.0: answers to questions of which some have none."""

from itertools import groupby
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

# Columns of the state: exact match and F1 at the threshold, of which for questions with an answer, whether there is
# one; then what choosing a threshold needs: exact match and F1 without one, the probability of no answer, whether a
# text was predicted.
EXACT, F1, EXACT_HAS, F1_HAS, HAS, RAW_EXACT, RAW_F1, NO_ANSWER, PREDICTED = range(9)


class SquadV2(Metric):
    """Exact match and word F1 where some questions have no answer."""

    columns = {"predictions": PredictedAnswers(), "references": RightAnswers()}

    def update(
        self,
        predictions: list[PredictedAnswer],
        references: list[QuestionReference],
        *,
        no_answer_threshold: float = 1.0,
    ) -> Sums:
        """The nine numbers of each question."""
        pairs = zip(match_predictions(predictions, references), references, strict=True)
        return Sums(
            np.array([_row(predicted, question, no_answer_threshold) for predicted, question in pairs]).reshape(-1, 9)
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Means in percent; NaN where no question is of the kind."""
        exact, f1, exact_has, f1_has, has = np.moveaxis(total[..., : HAS + 1], -1, 0)
        n = total[..., -1]
        return {
            "exact": 100 * ratio(exact, n),
            "f1": 100 * ratio(f1, n),
            "HasAns_exact": 100 * ratio(exact_has, has, np.nan),
            "HasAns_f1": 100 * ratio(f1_has, has, np.nan),
            "NoAns_exact": 100 * ratio(exact - exact_has, n - has, np.nan),
            "NoAns_f1": 100 * ratio(f1 - f1_has, n - has, np.nan),
        }

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """All keys; HasAns and NoAns only where such questions are."""
        means = super().result(state, **options)
        n, has = len(state), int(state.rows[:, HAS].sum())
        scores = {"exact": means["exact"], "f1": means["f1"], "total": n}
        for kind, count in (("HasAns", has), ("NoAns", n - has)):
            if count:
                scores |= {f"{kind}_{key}": means[f"{kind}_{key}"] for key in ("exact", "f1")}
                scores[f"{kind}_total"] = count
        for key, column in (("exact", RAW_EXACT), ("f1", RAW_F1)):
            scores[f"best_{key}"], scores[f"best_{key}_thresh"] = _best(state.rows, column, as_script=self.compat)
        return scores


def _row(predicted: PredictedAnswer, question: QuestionReference, threshold: float) -> tuple[float, ...]:
    answer = normalize_answer(predicted.text)
    right = {normalize_answer(text) for text in question.texts} - {""} or {""}
    exact = float(answer in right)
    f1 = max(word_f1(answer, text) if answer and text else float(answer == text) for text in right)
    has = float(bool(question.texts))
    silent = predicted.no_answer > threshold
    at_exact, at_f1 = (1 - has, 1 - has) if silent else (exact, f1)
    return (
        at_exact,
        at_f1,
        at_exact * has,
        at_f1 * has,
        has,
        exact,
        f1,
        predicted.no_answer,
        float(bool(predicted.text)),
    )


def _best(rows: Floats, column: int, as_script: bool) -> tuple[float, float]:
    """The highest score in percent over all thresholds, and the lowest threshold that reaches it.

    All questions are unanswered at first; one after the other, from the lowest probability of no answer, is answered.
    As the original script has it thresholds may part equal probabilities, and a predicted text of nothing but articles
    is wrong here where there is no answer, though it counts as empty elsewhere.
    """
    order = np.argsort(rows[:, NO_ANSWER], kind="stable")
    rows = rows[order]
    unanswerable = -rows[:, PREDICTED] if as_script else rows[:, column] - 1
    gains = np.where(rows[:, HAS] > 0, rows[:, column], unanswerable).tolist()
    chances = rows[:, NO_ANSWER].tolist()
    score = float(len(rows) - rows[:, HAS].sum())
    best = score if as_script or chances[0] > 0 else -np.inf  # at probability 0 no threshold leaves a question open
    threshold = 0.0
    for _, group in groupby(range(len(rows)), key=(lambda place: place) if as_script else chances.__getitem__):
        members = list(group)
        score += sum(gains[place] for place in members)
        if score > best:
            best, threshold = score, chances[members[0]]
    return 100 * best / len(rows), threshold
