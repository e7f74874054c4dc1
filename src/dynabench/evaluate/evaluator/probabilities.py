"""From a model's answers to a probability of each label in each row, for metrics of calibration and ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.evaluator.mapping import Label, Labels


@dataclass(frozen=True)
class Probabilities:
    """A probability of each of K labels, sorted, in each row, shape (n, K), beside the right labels."""

    rows: Floats
    references: Sequence[Label]
    labels: tuple[Label, ...]


def probabilities(
    answers: Sequence[Any], references: Sequence[Label], model: Sequence[str], mapped: Labels
) -> Probabilities:
    """The probabilities that `answers` give, with the data's labels.

    An answer is a list of `{label, score}` of every label, or one of them where the `model` has two labels. Labels that
    mean one label of the data add up; a label that only the data has gets 0. Raises ValueError for an answer without
    probabilities of all labels.
    """
    given = [_of_model(answer, model, row) for row, answer in enumerate(answers)]
    found: list[dict[Label, float]] = []
    for row, chances in enumerate(given):
        sums: dict[Label, float] = {}
        for label, chance in chances.items():
            name = mapped(label, row)
            sums[name] = sums.get(name, 0.0) + chance
        found.append(sums)
    labels = tuple(sorted({*references, *(label for sums in found for label in sums)}))
    return Probabilities(np.array([[sums.get(label, 0.0) for label in labels] for sums in found]), references, labels)


def _of_model(answer: Any, model: Sequence[str], row: int) -> dict[str, float]:
    listed = [answer] if isinstance(answer, Mapping) else answer
    if not isinstance(listed, list | tuple) or not all(_scored(one) for one in listed):
        raise ValueError(_lacking(answer, row))
    chances = {one["label"]: float(one["score"]) for one in listed}
    if len(chances) == 1 and len(model) == 2:
        ((label, chance),) = chances.items()
        chances |= {other: 1 - chance for other in model if other != label}
    if abs(sum(chances.values()) - 1) > 1e-3:
        raise ValueError(_lacking(answer, row))
    return chances


def _scored(one: Any) -> bool:
    return isinstance(one, Mapping) and "label" in one and one.get("score") is not None


def _lacking(answer: Any, row: int) -> str:
    return (
        f"row {row}: the model answered {answer!r}, but the metric takes a probability of every label; let it answer "
        "with a list of {label, score} that add up to 1, as pipelines do with top_k=None"
    )
