"""Agreement of raters: kappa and alpha."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Labels, Weights, as_list, to_numpy
from dynabench.evaluate.confusion import Cells, Confusion
from dynabench.evaluate.labels import MIXED, Ints, Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Additive, Sums
from dynabench.evaluate.values import ratio

Answer = float | str
LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True, repr=False)
class Ratings(Column):
    """Items with the ratings that people gave to each, in any order; a list of n lists, without missing ratings."""

    dtype = "list of labels or numbers"
    text = "answers of all people to each item"
    missing: bool = False  # whether people may leave out items

    def clean(self, values: Any, name: str) -> list[list[Answer]]:
        """Texts or numbers, not both. None and NaN are left out if they are allowed, else refused."""
        values = to_numpy(values)
        if (
            isinstance(values, np.ndarray)
            and values.dtype.kind in "iufb"
            and values.ndim == 2
            and np.isfinite(values).all()
        ):
            table: list[list[Answer]] = values.astype(float).tolist()
            return table
        rows: list[list[Answer]] = []
        kinds: set[bool] = set()
        for row, item in enumerate(as_list(values, name)):
            item = to_numpy(item)
            if not isinstance(item, list | tuple | np.ndarray):
                raise ValueError(f"{name}: row {row} is {item!r}; give a list with the answers to each item")
            answers = [
                _answer(rating, name, row) for rating in (item.tolist() if isinstance(item, np.ndarray) else item)
            ]
            present = [rating for rating in answers if rating is not None]
            if len(present) < len(answers) and not self.missing:
                raise ValueError(f"{name}: row {row} lacks an answer; drop the item, or take krippendorff_alpha")
            kinds.update(isinstance(rating, str) for rating in present)
            if len(kinds) > 1:
                raise ValueError(f"{name}: row {row}: {MIXED}")
            rows.append(present)
        return rows


def _answer(value: Any, name: str, row: int) -> Answer | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        raise ValueError(f"{name}: row {row} holds {value!r}, which is neither a text nor a number")
    if isinstance(value, float | np.floating) and np.isnan(value):
        return None
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{name}: row {row} holds {value}; give finite numbers")
    return float(value)


@dataclass(frozen=True)
class RatingCounts:
    """Counts of each rating for each item (U, K), weights of the items (..., U), and the sorted ratings."""

    counts: NDArray[Any]
    weights: NDArray[Any]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class RatingTables(Additive):
    """Counts of K ratings for each of n items, shape (n, K), and the sorted ratings."""

    counts: Ints
    answers: tuple[Answer, ...] = field(default=())

    @classmethod
    def of(cls, rows: list[list[Answer]]) -> "RatingTables":
        """Return the state of a clean column."""
        seen: set[Any] = set().union(*rows)
        answers = tuple(sorted(seen))
        place: dict[Answer, int] = {answer: code for code, answer in enumerate(answers)}
        codes = np.array([place[answer] for row in rows for answer in row], np.int64)
        items = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        counts = np.zeros((len(rows), len(answers)), np.int64)
        np.add.at(counts, (items, codes), 1)
        return cls(counts, answers)

    def __len__(self) -> int:
        return len(self.counts)

    def __add__(self, other: "RatingTables") -> "RatingTables":
        seen: set[Any] = {*self.answers, *other.answers}
        if len({isinstance(answer, str) for answer in seen}) > 1:
            raise ValueError(MIXED)
        answers = tuple(sorted(seen))
        return RatingTables(np.concatenate([side._over(answers) for side in (self, other)]), answers)

    def _over(self, answers: tuple[Answer, ...]) -> Ints:
        place: dict[Answer, int] = {answer: code for code, answer in enumerate(answers)}
        wide = np.zeros((len(self.counts), len(answers)), np.int64)
        wide[:, [place[answer] for answer in self.answers]] = self.counts
        return wide

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """One atom for each different row of counts, or for each row where most of them differ."""
        return self._atom_sums.atoms

    @cached_property
    def _atom_sums(self) -> Sums:
        return Sums(self.counts)

    def weighed(self, weights: NDArray[Any]) -> RatingCounts:
        """See `Additive`."""
        return RatingCounts(self._atom_sums.values, weights, self.answers)


class CohenKappa(Metric, name="cohen_kappa"):
    """Agreement of two raters beyond chance."""

    columns = {"predictions": Labels(), "references": Labels()}
    optional = {"sample_weight": Weights()}

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells:
        """The cell of each row."""
        return Cells.of(references, predictions, sample_weight)

    def formula(
        self, total: Confusion, *, weights: str | None = None, labels: Sequence[Label] | None = None
    ) -> dict[str, Floats]:
        """1 - disagreement / disagreement by chance, shape (...); NaN where chance cannot disagree."""
        if weights not in (None, "linear", "quadratic"):
            raise ValueError(f"weights is None, 'linear' or 'quadratic', not {weights!r}")
        if weights and labels is None and any(isinstance(label, str) for label in total.labels):
            raise ValueError(f"weights={weights!r} over texts: give labels=, in the order of the scale")
        scale = list(total.labels if labels is None else labels)
        codes = [code for code, label in enumerate(total.labels) if label in scale]
        if not codes:
            raise ValueError(f"none of labels={scale} occurs; there are {', '.join(map(repr, total.labels))}")
        cells = total.counts[..., codes, :][..., codes].astype(float)
        place = np.array([scale.index(total.labels[code]) for code in codes], float)
        steps = np.abs(place[:, None] - place)
        distances = (steps > 0).astype(float) if weights is None else steps if weights == "linear" else steps**2
        true, predicted, n = cells.sum(-1), cells.sum(-2), cells.sum((-1, -2))
        chance = ratio(((true @ distances) * predicted).sum(-1), n)
        return {"cohen_kappa": 1 - ratio((cells * distances).sum((-1, -2)), chance, np.nan)}

    def result(self, state: Cells, **options: Any) -> dict[str, Any]:
        """Return kappa. Raises ValueError where it is undefined."""
        scores = super().result(state, **options)
        if scores["cohen_kappa"] is None:
            raise ValueError("kappa is undefined: both raters use one and the same class throughout")
        return scores


class FleissKappa(Metric, name="fleiss_kappa"):
    """Agreement of several raters beyond chance."""

    columns = {"ratings": Ratings()}

    def update(self, ratings: list[list[Answer]]) -> RatingTables:
        """Return counts of each class for each item."""
        sizes = [len(row) for row in ratings]
        for row, size in enumerate(sizes):
            if size != sizes[0]:
                raise ValueError(
                    f"ratings: row {row} has {size} ratings, row 0 has {sizes[0]}; kappa needs as many for each item, "
                    "krippendorff_alpha does not"
                )
        if sizes and sizes[0] < 2:
            raise ValueError("ratings: agreement needs two ratings or more of each item")
        return RatingTables.of(ratings)

    def formula(self, total: RatingCounts) -> dict[str, Floats]:
        """Observed beyond expected agreement, shape (...); NaN where chance cannot disagree."""
        raters = total.counts.sum(1)
        pairs = ratio((total.counts * (total.counts - 1)).sum(1), raters * (raters - 1))
        observed = ratio(total.weights @ pairs, total.weights.sum(-1))
        shares = ratio(total.weights @ total.counts, (total.weights @ raters)[..., None])
        several = (shares > 0).sum(-1) > 1
        expected = np.where(several, (shares**2).sum(-1), 1)
        return {"fleiss_kappa": ratio(observed - expected, 1 - expected, np.nan)}

    def result(self, state: RatingTables, **options: Any) -> dict[str, Any]:
        """Return kappa. Raises ValueError where it is undefined."""
        if len(set(state.counts.sum(1).tolist())) > 1:
            raise ValueError("the batches have different numbers of ratings for an item; kappa needs as many for each")
        scores = super().result(state, **options)
        if scores["fleiss_kappa"] is None:
            raise ValueError("kappa is undefined: all ratings are of one class")
        return scores


LEVELS = ("nominal", "ordinal", "interval", "ratio")


class KrippendorffAlpha(Metric, name="krippendorff_alpha"):
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
