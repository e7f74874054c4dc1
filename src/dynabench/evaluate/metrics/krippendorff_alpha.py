"""Krippendorff's alpha."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.classes.ratings import Answer, RatingCounts, Ratings, RatingTables
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio

LEVELS = ("nominal", "ordinal", "interval", "ratio")


class KrippendorffAlpha(Metric):
    """Agreement of any number of raters, on any scale, with missing answers."""

    columns = {"ratings": Ratings(missing=True)}

    def update(self, ratings: list[list[Answer]]) -> RatingTables:
        """Return counts of each answer for each item."""
        return RatingTables.of(ratings)

    def formula(
        self, total: RatingCounts, *, level: str = "nominal", labels: Sequence[Answer] | None = None
    ) -> dict[str, Floats]:
        """1 - observed / expected disagreement, shape (...); NaN where nothing can disagree."""
        if level not in LEVELS:
            raise ValueError(f"level is one of {', '.join(LEVELS)}, not {level!r}")
        counts, answers = _ordered(total, level, labels)
        size = counts.sum(1)
        paired = size > 1  # an item with one answer says nothing of agreement
        counts, size, weights = counts[paired], size[paired], total.weights[..., paired]
        answer_weights = weights @ counts
        n = answer_weights.sum(-1)
        if level in ("ordinal", "interval"):
            values = _midranks(answer_weights) if level == "ordinal" else answers - answers.mean()
            within, over = _within(counts, values), _over_all(answer_weights, values)
        else:
            distances = _distances(level, answers, counts.shape[1])
            within = ((counts @ distances) * counts).sum(1)
            over = ((answer_weights @ distances) * answer_weights).sum(-1)
        observed = (weights * ratio(within, size - 1)).sum(-1)
        varied = (answer_weights > 0).sum(-1) > 1
        return {"krippendorff_alpha": 1 - ratio(observed * (n - 1), np.where(varied, over, 0), np.nan)}

    def result(self, state: RatingTables, **options: Any) -> dict[str, Any]:
        """Return alpha. Raises ValueError where it is undefined."""
        if not (state.counts.sum(1) > 1).any():
            raise ValueError("alpha is undefined: no item has two answers")
        scores = super().result(state, **options)
        if scores["krippendorff_alpha"] is None:
            raise ValueError("alpha is undefined: all answers are equal")
        return scores


def _ordered(total: RatingCounts, level: str, labels: Sequence[Answer] | None) -> tuple[NDArray[Any], Floats]:
    """Counts with answers in the order of the scale, and the answers as numbers, where they are."""
    texts = any(isinstance(answer, str) for answer in total.answers)
    if texts and level in ("interval", "ratio"):
        raise ValueError(f"level={level!r} needs numbers, the answers are texts")
    if texts and level == "ordinal" and labels is None:
        raise ValueError("level='ordinal' over texts: give labels=, in the order of the scale")
    answers = np.zeros(0) if texts else np.array(total.answers, float)
    if level == "ratio" and (answers < 0).any():
        raise ValueError(f"level='ratio' needs numbers from 0, not {answers.min():g}")
    if labels is None or level != "ordinal":
        return total.counts, answers
    place: dict[Answer, int] = {label: code for code, label in enumerate(labels)}
    strange = [answer for answer in total.answers if answer not in place]
    if strange:
        raise ValueError(f"the answer {strange[0]!r} is none of labels={list(labels)}")
    order = sorted(range(len(total.answers)), key=lambda code: place[total.answers[code]])
    return total.counts[:, order], answers


def _distances(level: str, answers: Floats, size: int) -> Floats:
    """Squared distances of answers, shape (K, K)."""
    if level == "nominal":
        return 1 - np.eye(size)
    return ratio(answers[:, None] - answers, answers[:, None] + answers) ** 2


def _midranks(answer_weights: Floats) -> Floats:
    """The mean rank of each answer among all: the distance of two is that of ordinal data. Shape (..., K)."""
    result: Floats = np.cumsum(answer_weights, axis=-1) - answer_weights / 2 - answer_weights.sum(-1, keepdims=True) / 2
    return result


def _within(counts: NDArray[Any], values: Floats) -> Floats:
    """Of each item the sum over pairs of its answers of (x - y)^2, (..., U), for counts (U, K), values (..., K)."""
    result: Floats = 2 * np.clip(counts.sum(1) * (values**2 @ counts.T) - (values @ counts.T) ** 2, 0, None)
    return result


def _over_all(answer_weights: Floats, values: Floats) -> Floats:
    """The sum over pairs of all answers of (x - y)^2, (...), for answers with these weights (..., K)."""
    result: Floats = 2 * (
        answer_weights.sum(-1) * (answer_weights * values**2).sum(-1) - (answer_weights * values).sum(-1) ** 2
    )
    return result
