"""Answers to questions: how SQuAD compares two, and the columns in which they come.

Source: Rajpurkar, Zhang, Lopyrev and Liang, SQuAD: 100,000+ Questions for Machine Comprehension of Text, EMNLP 2016,
section 6.1.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dynabench.evaluate.columns import Column, listed

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)

Row = TypeVar("Row")


@lru_cache(1 << 16)  # reference answers repeat
def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, words separated by one space."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def word_f1(prediction: str, reference: str) -> float:
    """F1 over the words of two normalised answers, repeated words counted; 0 where they share none."""
    if prediction == reference:
        return float(bool(prediction))
    said, true = prediction.split(), reference.split()
    common = sum((Counter(said) & Counter(true)).values())
    return 2 * common / (len(said) + len(true)) if common else 0.0


class Predicted(NamedTuple):
    """One prediction: its question's id if it has one, its texts, and how likely there is no answer."""

    id: str | None
    texts: tuple[str, ...]
    no_answer: float = 0.0

    @property
    def text(self) -> str:
        """The only text."""
        return self.texts[0]


class Asked(NamedTuple):
    """One question: its id if it has one, and the texts of which any is right; none where there is no answer."""

    id: str | None
    texts: tuple[str, ...]


class PredictedAnswers(Column):
    """A text for each question, or a dictionary {id, prediction_text}, perhaps with no_answer_probability."""

    dtype = "string or {id, prediction_text}"
    text = "answer to each question: a text, or a dictionary with its id and prediction_text"

    def clean(self, values: Any, name: str) -> list[Predicted]:
        """Probabilities outside 0 to 1 and anything but texts are refused."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(listed(values, name))]

    def _row(self, item: Any, where: str) -> Predicted:
        if isinstance(item, str):
            return Predicted(None, (item,))
        if not isinstance(item, Mapping) or "prediction_text" not in item:
            raise ValueError(f"{where} is {item!r}; give a text or {{id, prediction_text}}")
        chance = item.get("no_answer_probability", 0.0)
        if not isinstance(chance, int | float | np.number) or not 0 <= chance <= 1:
            raise ValueError(f"{where} has no_answer_probability {chance!r}; give a number from 0 to 1")
        return Predicted(_id(item, where), self._texts(item["prediction_text"], where), float(chance))

    def _texts(self, given: Any, where: str) -> tuple[str, ...]:
        if not isinstance(given, str):
            raise ValueError(f"{where} predicts {given!r}, not a text; give '' where there is no answer")
        return (given,)


class PredictedLists(PredictedAnswers):
    """As `PredictedAnswers`, but any number of texts for each question."""

    dtype = "list of strings or {id, prediction_text}"
    text = "answers to each question: a list of texts, or a dictionary with its id and such a prediction_text"

    def _row(self, item: Any, where: str) -> Predicted:
        if isinstance(item, Mapping):
            return super()._row(item, where)
        return Predicted(None, _texts(item, where))

    def _texts(self, given: Any, where: str) -> tuple[str, ...]:
        return _texts(given, where)


class RightAnswers(Column):
    """Right answers: a text, a list of texts, or a dictionary {id, answers: {text: [...]}}; perhaps none."""

    dtype = "string, list of strings or {id, answers}"
    text = "right answers to each question: a text, a list of texts, or a dictionary with its id and answers"

    def clean(self, values: Any, name: str) -> list[Asked]:
        """`answers` may also be a list of {text: ...}, as in SQuAD's own files."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(listed(values, name))]

    def _row(self, item: Any, where: str) -> Asked:
        if not isinstance(item, Mapping):
            return Asked(None, _texts([item] if isinstance(item, str) else item, where))
        if "answers" not in item:
            raise ValueError(f"{where} lacks answers; give {{id, answers: {{text: [...]}}}}")
        answers = item["answers"]
        if isinstance(answers, Mapping):
            answers = answers.get("text")
        elif isinstance(answers, Sequence) and not isinstance(answers, str):
            answers = [one.get("text") if isinstance(one, Mapping) else one for one in answers]
        return Asked(_id(item, where), _texts([answers] if isinstance(answers, str) else answers, where))


def matched(predictions: list[Predicted], references: list[Asked]) -> list[Predicted]:
    """The prediction for each reference: by id where all have one, else by place.

    Raises ValueError for a question without a prediction, and for two with one id in another order.
    """
    ids = [one.id for one in predictions]
    wanted = [one.id for one in references]
    if None in ids or None in wanted or ids == wanted:
        return predictions
    by_id = {one.id: one for one in predictions}
    if len(by_id) < len(ids):
        raise ValueError("predictions: some ids come twice and not in the order of the references; give each once")
    for row, one in enumerate(wanted):
        if one not in by_id:
            raise ValueError(
                f"references: row {row} asks {one!r}, which has no prediction; predict '' where there is no answer"
            )
    return [by_id[one] for one in wanted]


def _id(item: Mapping[str, Any], where: str) -> str:
    if "id" not in item or isinstance(item["id"], Mapping | list) or item["id"] is None:
        raise ValueError(f"{where} lacks its question's id")
    return str(item["id"])


def _texts(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(f"{where} has {given!r} for answers; give a list of texts")
    texts = tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{where} has the answer {text!r}, not a text")
    return texts
