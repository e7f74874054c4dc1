"""Answers to questions about a text: SQuAD and CUAD.

Source: Rajpurkar, Zhang, Lopyrev and Liang, SQuAD: 100,000+ Questions for Machine Comprehension of Text, EMNLP
2016, section 6.1.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dynabench.evaluate.columns import Floats, RowColumn
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows, Sums
from dynabench.evaluate.values import ratio

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)

RowType = TypeVar("RowType")


@lru_cache(1 << 16)  # reference answers repeat
def normalize_answer(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, words separated by one space."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def word_f1(prediction: str, reference: str) -> float:
    """F1 over the words of two normalised answers, repeated words counted; 0 where they share none."""
    if prediction == reference:
        return float(bool(prediction))
    predicted, true = prediction.split(), reference.split()
    common = sum((Counter(predicted) & Counter(true)).values())
    return 2 * common / (len(predicted) + len(true)) if common else 0.0


class PredictedAnswer(NamedTuple):
    """One prediction: its question's id if it has one, its texts, and the probability that there is no answer."""

    id: str | None
    texts: tuple[str, ...]
    no_answer: float = 0.0

    @property
    def text(self) -> str:
        """The only text."""
        return self.texts[0]


class QuestionReference(NamedTuple):
    """One question: its id if it has one, and the texts of which any is right; none where there is no answer."""

    id: str | None
    texts: tuple[str, ...]


class PredictedAnswers(RowColumn):
    """A text for each question, or a dictionary {id, prediction_text}, perhaps with no_answer_probability."""

    dtype = "string or {id, prediction_text}"
    text = "answer to each question: a text, or a dictionary with its id and prediction_text"

    def _row(self, item: Any, where: str) -> PredictedAnswer:
        if isinstance(item, str):
            return PredictedAnswer(None, (item,))
        if not isinstance(item, Mapping) or "prediction_text" not in item:
            raise ValueError(f"{where} is {item!r}; give a text or {{id, prediction_text}}")
        chance = item.get("no_answer_probability", 0.0)
        if not isinstance(chance, int | float | np.number) or not 0 <= chance <= 1:
            raise ValueError(f"{where} has no_answer_probability {chance!r}; give a number from 0 to 1")
        return PredictedAnswer(_id(item, where), self._texts(item["prediction_text"], where), float(chance))

    def _texts(self, text: Any, where: str) -> tuple[str, ...]:
        if not isinstance(text, str):
            raise ValueError(f"{where} predicts {text!r}, not a text; give '' where there is no answer")
        return (text,)


class PredictedLists(PredictedAnswers):
    """As `PredictedAnswers`, but any number of texts for each question."""

    dtype = "list of strings or {id, prediction_text}"
    text = "answers to each question: a list of texts, or a dictionary with its id and such a prediction_text"

    def _row(self, item: Any, where: str) -> PredictedAnswer:
        if isinstance(item, Mapping):
            return super()._row(item, where)
        return PredictedAnswer(None, _texts(item, where))

    def _texts(self, texts: Any, where: str) -> tuple[str, ...]:
        return _texts(texts, where)


class RightAnswers(RowColumn):
    """Right answers: a text, a list of texts, or a dictionary {id, answers: {text: [...]}}; perhaps none.

    `answers` may also be a list of {text: ...}, as in SQuAD's own files.
    """

    dtype = "string, list of strings or {id, answers}"
    text = "right answers to each question: a text, a list of texts, or a dictionary with its id and answers"

    def _row(self, item: Any, where: str) -> QuestionReference:
        if not isinstance(item, Mapping):
            return QuestionReference(None, _texts([item] if isinstance(item, str) else item, where))
        if "answers" not in item:
            raise ValueError(f"{where} lacks answers; give {{id, answers: {{text: [...]}}}}")
        answers = item["answers"]
        if isinstance(answers, Mapping):
            answers = answers.get("text")
        elif isinstance(answers, Sequence) and not isinstance(answers, str):
            answers = [answer.get("text") if isinstance(answer, Mapping) else answer for answer in answers]
        return QuestionReference(_id(item, where), _texts([answers] if isinstance(answers, str) else answers, where))


def match_predictions(predictions: list[PredictedAnswer], references: list[QuestionReference]) -> list[PredictedAnswer]:
    """Return the prediction for each reference: by id where all have one, else by place.

    Raises ValueError for a question without a prediction, and for repeated ids in another order.
    """
    ids = [item.id for item in predictions]
    reference_ids = [item.id for item in references]
    if None in ids or None in reference_ids or ids == reference_ids:
        return predictions
    by_id = {item.id: item for item in predictions}
    if len(by_id) < len(ids):
        raise ValueError("predictions: some ids come twice and not in the order of the references; give each once")
    for row, item in enumerate(reference_ids):
        if item not in by_id:
            raise ValueError(
                f"references: row {row} asks {item!r}, which has no prediction; predict '' where there is no answer"
            )
    return [by_id[item] for item in reference_ids]


def _id(item: Mapping[str, Any], where: str) -> str:
    if "id" not in item or isinstance(item["id"], Mapping | list) or item["id"] is None:
        raise ValueError(f"{where} lacks its question's id")
    return str(item["id"])


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise ValueError(f"{where} has {value!r} for answers; give a list of texts")
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{where} has the answer {text!r}, not a text")
    return texts


class Squad(Metric, name="squad"):
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


# Columns of the state: exact match and F1 at the threshold, of which for questions with an answer, whether there is
# one; then what choosing a threshold needs: exact match and F1 without one, the probability of no answer, whether a
# text was predicted.
EXACT, F1, EXACT_HAS, F1_HAS, HAS, RAW_EXACT, RAW_F1, NO_ANSWER, PREDICTED = range(9)


class SquadV2(Metric, name="squad_v2"):
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


OVERLAP = 0.5  # Jaccard similarity from which a predicted clause counts as found
LOOSE = str.maketrans({**dict.fromkeys(".,;:", ""), "/": " "})


class Cuad(Metric, name="cuad"):
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
