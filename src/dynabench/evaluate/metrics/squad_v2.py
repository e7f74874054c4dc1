"""SQuAD 2.0: answers to questions of which some have none."""

from itertools import groupby
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

# Columns of the state: exact match and F1 at the threshold, of which for questions with an answer, whether there is
# one; then what choosing a threshold needs: exact match and F1 without one, the probability of no answer, whether a
# text was predicted.
EXACT, F1, EXACT_HAS, F1_HAS, HAS, RAW_EXACT, RAW_F1, NO_ANSWER, SAID = range(9)


class SquadV2(Metric):
    """Exact match and word F1 where some questions have no answer."""

    card = Card(
        description=N_(
            "As squad, for questions of which some have no answer: there only an empty answer is right. Scores at a "
            "threshold of the predicted probability of no answer, apart for questions with and without an answer, "
            "and at the best thresholds."
        ),
        formula=(
            r"s_i(t) = [p_i \le t]\, s_i + [p_i > t]\,[A_i = \emptyset], \quad "
            r"\frac{100}{n} \sum_i s_i(t), \quad \max_t \frac{100}{n} \sum_i s_i(t)"
        ),
        inputs={
            "predictions": "a text for each question ('' for no answer), or {id, prediction_text, "
            "no_answer_probability}; the probability is 0 where it is left out",
            "references": "a list of texts for each question, empty where it has no answer, or "
            "{id, answers: {text: [...]}}",
        },
        options={"no_answer_threshold": "a prediction counts as no answer where its probability of that is higher"},
        outputs=(
            Output("exact", "answers that equal a right one, in percent", 0, 100, "higher"),
            Output("f1", "mean F1 of the words, in percent", 0, 100, "higher"),
            Output("total", "number of questions", 0),
            Output("HasAns_exact", "exact, of questions with an answer", 0, 100, "higher"),
            Output("HasAns_f1", "F1, of questions with an answer", 0, 100, "higher"),
            Output("HasAns_total", "number of questions with an answer", 0),
            Output("NoAns_exact", "exact, of questions without an answer", 0, 100, "higher"),
            Output("NoAns_f1", "F1, of questions without an answer", 0, 100, "higher"),
            Output("NoAns_total", "number of questions without an answer", 0),
            Output("best_exact", "exact at the threshold where it is highest", 0, 100, "higher"),
            Output("best_exact_thresh", "that threshold", 0, 1),
            Output("best_f1", "F1 at the threshold where it is highest", 0, 100, "higher"),
            Output("best_f1_thresh", "that threshold", 0, 1),
        ),
        examples=(
            Example(
                "One answered, one rightly left open, one not",
                {"predictions": ["1976", "", "Paris"], "references": [["1976"], [], []]},
                {"exact": 200 / 3, "f1": 200 / 3, "total": 3, "HasAns_exact": 100.0, "NoAns_exact": 50.0},
            ),
            Example(
                "A threshold between the two finds both",
                {
                    "predictions": [
                        {"id": "a", "prediction_text": "1976", "no_answer_probability": 0.2},
                        {"id": "b", "prediction_text": "Paris", "no_answer_probability": 0.7},
                    ],
                    "references": [{"id": "a", "answers": {"text": ["1976"]}}, {"id": "b", "answers": {"text": []}}],
                },
                {"exact": 50.0, "best_exact": 100.0, "best_exact_thresh": 0.2, "best_f1_thresh": 0.2},
            ),
            Example(
                "A probability is from 0 to 1",
                {
                    "predictions": [{"id": "a", "prediction_text": "1976", "no_answer_probability": 7}],
                    "references": [{"id": "a", "answers": {"text": ["1976"]}}],
                },
                error="give a number from 0 to 1",
            ),
        ),
        limits=(
            "The best thresholds are chosen on the very questions that they are scored on, so these scores flatter "
            "and have no interval. A threshold cannot part questions of equal probability: the original script does "
            "so, in the order of the rows, and can report a score that no threshold reaches; compat=True gives its "
            "numbers. HasAns and NoAns keys are there only where such questions are. Made for short English answers."
        ),
        citation=(
            "Rajpurkar, Jia and Liang, Know What You Don't Know: Unanswerable Questions for SQuAD, ACL 2018, "
            "with its evaluation script."
        ),
        tasks=("question-answering",),
    )
    columns = {"predictions": PredictedAnswers(), "references": RightAnswers()}

    def update(
        self, predictions: list[Predicted], references: list[Asked], *, no_answer_threshold: float = 1.0
    ) -> Sums:
        """The nine numbers of each question."""
        pairs = zip(matched(predictions, references), references, strict=True)
        return Sums(np.array([_row(said, asked, no_answer_threshold) for said, asked in pairs]).reshape(-1, 9))

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
        found = {"exact": means["exact"], "f1": means["f1"], "total": n}
        for kind, count in (("HasAns", has), ("NoAns", n - has)):
            if count:
                found |= {f"{kind}_{key}": means[f"{kind}_{key}"] for key in ("exact", "f1")}
                found[f"{kind}_total"] = count
        for key, column in (("exact", RAW_EXACT), ("f1", RAW_F1)):
            found[f"best_{key}"], found[f"best_{key}_thresh"] = _best(state.rows, column, as_script=self.compat)
        return found


def _row(said: Predicted, asked: Asked, threshold: float) -> tuple[float, ...]:
    answer = normalised(said.text)
    right = {normalised(text) for text in asked.texts} - {""} or {""}
    exact = float(answer in right)
    f1 = max(word_f1(answer, text) if answer and text else float(answer == text) for text in right)
    has = float(bool(asked.texts))
    silent = said.no_answer > threshold
    at_exact, at_f1 = (1 - has, 1 - has) if silent else (exact, f1)
    return at_exact, at_f1, at_exact * has, at_f1 * has, has, exact, f1, said.no_answer, float(bool(said.text))


def _best(rows: Floats, column: int, as_script: bool) -> tuple[float, float]:
    """The highest score in percent over all thresholds, and the lowest threshold that reaches it.

    All questions are unanswered at first; one after the other, from the lowest probability of no answer, is answered.
    As the original script has it thresholds may part equal probabilities, and a predicted text of nothing but articles
    is wrong here where there is no answer, though it counts as empty elsewhere.
    """
    order = np.argsort(rows[:, NO_ANSWER], kind="stable")
    rows = rows[order]
    unanswerable = -rows[:, SAID] if as_script else rows[:, column] - 1
    gains = np.where(rows[:, HAS] > 0, rows[:, column], unanswerable).tolist()
    chances = rows[:, NO_ANSWER].tolist()
    now = float(len(rows) - rows[:, HAS].sum())
    best = now if as_script or chances[0] > 0 else -np.inf  # at probability 0 no threshold leaves a question open
    where = 0.0
    for _, group in groupby(range(len(rows)), key=(lambda place: place) if as_script else chances.__getitem__):
        members = list(group)
        now += sum(gains[place] for place in members)
        if now > best:
            best, where = now, chances[members[0]]
    return 100 * best / len(rows), where
