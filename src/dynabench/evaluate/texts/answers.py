"""Answers to questions: SQuAD's comparison of two answers, and the columns that hold answers.

Source: Rajpurkar, Zhang, Lopyrev and Liang, SQuAD: 100,000+ Questions for Machine Comprehension of Text, EMNLP
2016, section 6.1.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dynabench.evaluate.columns import Column, as_list

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


class PredictedAnswers(Column):
    """A text for each question, or a dictionary {id, prediction_text}, perhaps with no_answer_probability."""

    dtype = "string or {id, prediction_text}"
    text = "answer to each question: a text, or a dictionary with its id and prediction_text"

    def clean(self, values: Any, name: str) -> list[PredictedAnswer]:
        """Return the predictions. Raises ValueError for probabilities outside 0 to 1 and for anything but texts."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(as_list(values, name))]

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


class RightAnswers(Column):
    """Right answers: a text, a list of texts, or a dictionary {id, answers: {text: [...]}}; perhaps none."""

    dtype = "string, list of strings or {id, answers}"
    text = "right answers to each question: a text, a list of texts, or a dictionary with its id and answers"

    def clean(self, values: Any, name: str) -> list[QuestionReference]:
        """`answers` may also be a list of {text: ...}, as in SQuAD's own files."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(as_list(values, name))]

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
