"""The reading tasks of SuperGLUE: answers to questions of ReCoRD, and lists of answers of MultiRC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.states.summed import Summed
from dynabench.evaluate.texts.answers import normalised, word_f1


def best_match(text: str, answers: Sequence[str]) -> tuple[float, float]:
    """Exact match and word F1 with the answer that each is best with. ReCoRD, section 5.1, after SQuAD."""
    said, right = normalised(text), [normalised(one) for one in answers]
    return float(said in right), max(word_f1(said, one) for one in right)


def rows_of(predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> list[Any]:
    """(text, right answers) of each reference, matched by idx. Raises ValueError where they do not match one to one."""
    said: dict[tuple[Any, Any], str] = {}
    for row, one in enumerate(predictions):
        key, text = _place(one["idx"], row, "passage", "query"), one["prediction_text"]
        if not isinstance(text, str):
            raise ValueError(f"predictions: row {row} has the prediction_text {text!r}, not a text")
        if key in said:
            raise ValueError(f"predictions: row {row} answers the idx {one['idx']} again")
        said[key] = text
    pairs = []
    for row, one in enumerate(references):
        key, answers = _place(one["idx"], row, "passage", "query"), one["answers"]
        whole = isinstance(answers, list | tuple | np.ndarray) and len(answers) > 0
        if not whole or not all(isinstance(answer, str) for answer in answers):
            raise ValueError(f"references: row {row} has the answers {answers!r}; give a list of at least one text")
        if key not in said:
            raise ValueError(f"references: row {row}: no prediction has the idx {one['idx']}; give '' for none")
        pairs.append((said[key], answers))
    return pairs


def question_of(idx: Any, row: int) -> tuple[Any, Any]:
    """The question of an answer of MultiRC."""
    return _place(idx, row, "paragraph", "question", "predictions")


def _place(idx: Any, row: int, first: str, second: str, name: str = "row") -> tuple[Any, Any]:
    if not isinstance(idx, Mapping) or first not in idx or second not in idx:
        raise ValueError(f"{name} {row} has the idx {idx!r}; give {{{first}, {second}}}")
    return idx[first], idx[second]


@dataclass(frozen=True)
class Questions(Summed):
    """Answers of MultiRC: the question, the right and the predicted label of each. An example is a question."""

    keys: tuple[tuple[Any, Any], ...]
    true: Ints
    said: Ints

    @classmethod
    def of(cls, keys: Sequence[tuple[Any, Any]], true: Any, said: Any) -> "Questions":
        """From clean columns. Raises ValueError for other labels than 0 and 1."""
        for name, labels in (("references", true), ("predictions", said)):
            strange = [row for row, label in enumerate(labels) if label not in (0, 1)]
            if strange:
                raise ValueError(f"{name}: row {strange[0]} is {labels[strange[0]]!r}; multirc has the labels 0 and 1")
        return cls(tuple(keys), np.asarray(true, np.int64), np.asarray(said, np.int64))

    def __add__(self, other: "Questions") -> "Questions":
        true, said = np.concatenate([self.true, other.true]), np.concatenate([self.said, other.said])
        return Questions(self.keys + other.keys, true, said)

    @cached_property
    def sums(self) -> Sums:
        """Of each question: all right, macro F1 over its labels, hits of 1, and how often 1 is true or said."""
        place = {key: code for code, key in enumerate(dict.fromkeys(self.keys))}
        of = np.array([place[key] for key in self.keys])
        cells = np.bincount(of * 4 + self.true * 2 + self.said, minlength=4 * len(place)).reshape(-1, 2, 2)
        hits, each = np.diagonal(cells, axis1=1, axis2=2), cells.sum(1) + cells.sum(2)
        within = ratio(ratio(2 * hits, each).sum(1), (each > 0).sum(1))
        exact = hits.sum(1) == cells.sum((1, 2))
        return Sums(np.stack([exact, within, hits[:, 1], each[:, 1]], 1))
