"""Probabilities of each label in each row from a model's answers, for metrics of calibration and ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.evaluator.mapping import Label, LabelMapping


@dataclass(frozen=True)
class LabelProbabilities:
    """A probability of each of K labels, sorted, in each row, shape (n, K), beside the right labels."""

    rows: Floats
    references: Sequence[Label]
    labels: tuple[Label, ...]


def label_probabilities(
    answers: Sequence[Any], references: Sequence[Label], model: Sequence[str], mapping: LabelMapping
) -> LabelProbabilities:
    """Return the probabilities in `answers`, with the data's labels.

    An answer is a list of `{label, score}` of every label, or one of them where the model has two labels
    (`model`). Model labels that mean the same label of the data add up; a label that only the data has gets 0.
    Raises ValueError for an answer without probabilities of all labels.
    """
    answer_probabilities = [_answer_probabilities(answer, model, row) for row, answer in enumerate(answers)]
    row_probabilities: list[dict[Label, float]] = []
    for row, chances in enumerate(answer_probabilities):
        sums: dict[Label, float] = {}
        for label, chance in chances.items():
            name = mapping(label, row)
            sums[name] = sums.get(name, 0.0) + chance
        row_probabilities.append(sums)
    labels = tuple(sorted({*references, *(label for sums in row_probabilities for label in sums)}))
    return LabelProbabilities(
        np.array([[sums.get(label, 0.0) for label in labels] for sums in row_probabilities]), references, labels
    )


def _answer_probabilities(answer: Any, model: Sequence[str], row: int) -> dict[str, float]:
    listed = [answer] if isinstance(answer, Mapping) else answer
    if not isinstance(listed, list | tuple) or not all(_has_score(entry) for entry in listed):
        raise ValueError(_refusal(answer, row))
    chances = {entry["label"]: float(entry["score"]) for entry in listed}
    if len(chances) == 1 and len(model) == 2:
        ((label, chance),) = chances.items()
        chances |= {other: 1 - chance for other in model if other != label}
    if abs(sum(chances.values()) - 1) > 1e-3:
        raise ValueError(_refusal(answer, row))
    return chances


def _has_score(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "label" in entry and entry.get("score") is not None


def _refusal(answer: Any, row: int) -> str:
    return (
        f"row {row}: the model answered {answer!r}, but the metric takes a probability of every label; let it answer "
        "with a list of {label, score} that add up to 1, as pipelines do with top_k=None"
    )
