"""The reading tasks of SuperGLUE: answers to questions of ReCoRD, and lists of answers of MultiRC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.states.summed import SummedState
from dynabench.evaluate.texts.answers import normalize_answer, word_f1


def best_match(text: str, answers: Sequence[str]) -> tuple[float, float]:
    """Return exact match and word F1, each with its best answer. ReCoRD, section 5.1, after SQuAD."""
    predicted, right = normalize_answer(text), [normalize_answer(answer) for answer in answers]
    return float(predicted in right), max(word_f1(predicted, answer) for answer in right)


def match_record_rows(predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> list[Any]:
    """(text, right answers) of each reference, matched by idx. Raises ValueError where they do not match one to one."""
    texts_by_idx: dict[tuple[Any, Any], str] = {}
    for row, record in enumerate(predictions):
        key, text = _place(record["idx"], row, "passage", "query"), record["prediction_text"]
        if not isinstance(text, str):
            raise ValueError(f"predictions: row {row} has the prediction_text {text!r}, not a text")
        if key in texts_by_idx:
            raise ValueError(f"predictions: row {row} answers the idx {record['idx']} again")
        texts_by_idx[key] = text
    pairs = []
    for row, record in enumerate(references):
        key, answers = _place(record["idx"], row, "passage", "query"), record["answers"]
        whole = isinstance(answers, list | tuple | np.ndarray) and len(answers) > 0
        if not whole or not all(isinstance(answer, str) for answer in answers):
            raise ValueError(f"references: row {row} has the answers {answers!r}; give a list of at least one text")
        if key not in texts_by_idx:
            raise ValueError(f"references: row {row}: no prediction has the idx {record['idx']}; give '' for none")
        pairs.append((texts_by_idx[key], answers))
    return pairs


def multirc_question(idx: Any, row: int) -> tuple[Any, Any]:
    """Return the question of an answer of MultiRC. Raises ValueError for an idx without paragraph or question."""
    return _place(idx, row, "paragraph", "question", "predictions")


def _place(idx: Any, row: int, first: str, second: str, name: str = "row") -> tuple[Any, Any]:
    if not isinstance(idx, Mapping) or first not in idx or second not in idx:
        raise ValueError(f"{name} {row} has the idx {idx!r}; give {{{first}, {second}}}")
    return idx[first], idx[second]


@dataclass(frozen=True)
class MultircQuestions(SummedState):
    """Answers of MultiRC: the question, the right and the predicted label of each. An example is a question."""

    keys: tuple[tuple[Any, Any], ...]
    true: Ints
    predicted: Ints

    @classmethod
    def of(cls, keys: Sequence[tuple[Any, Any]], true: Any, predicted: Any) -> "MultircQuestions":
        """Return the state of clean columns. Raises ValueError for other labels than 0 and 1."""
        for name, labels in (("references", true), ("predictions", predicted)):
            strange = [row for row, label in enumerate(labels) if label not in (0, 1)]
            if strange:
                raise ValueError(f"{name}: row {strange[0]} is {labels[strange[0]]!r}; multirc has the labels 0 and 1")
        return cls(tuple(keys), np.asarray(true, np.int64), np.asarray(predicted, np.int64))

    def __add__(self, other: "MultircQuestions") -> "MultircQuestions":
        true, predicted = np.concatenate([self.true, other.true]), np.concatenate([self.predicted, other.predicted])
        return MultircQuestions(self.keys + other.keys, true, predicted)

    @cached_property
    def sums(self) -> Sums:
        """All answers right, macro F1 over the labels, hits of 1, true and predicted labels 1, for each question."""
        place = {key: code for code, key in enumerate(dict.fromkeys(self.keys))}
        question_codes = np.array([place[key] for key in self.keys])
        cells = np.bincount(question_codes * 4 + self.true * 2 + self.predicted, minlength=4 * len(place)).reshape(
            -1, 2, 2
        )
        hits, label_counts = np.diagonal(cells, axis1=1, axis2=2), cells.sum(1) + cells.sum(2)
        within = ratio(ratio(2 * hits, label_counts).sum(1), (label_counts > 0).sum(1))
        exact = hits.sum(1) == cells.sum((1, 2))
        return Sums(np.stack([exact, within, hits[:, 1], label_counts[:, 1]], 1))
