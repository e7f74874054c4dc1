"""Ratings of several people for each item: the column, and the state that measures of agreement keep of it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, as_list, to_numpy
from dynabench.evaluate.labels import MIXED, Ints
from dynabench.evaluate.states import Additive, Sums

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
        return self._kept.atoms

    @cached_property
    def _kept(self) -> Sums:
        return Sums(self.counts)

    def weighed(self, weights: NDArray[Any]) -> RatingCounts:
        """See `Additive`."""
        return RatingCounts(self._kept.values, weights, self.answers)
