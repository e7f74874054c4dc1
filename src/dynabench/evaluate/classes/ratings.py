"""Answers of several people to each item: the column, and what measures of agreement remember of it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, listed, native
from dynabench.evaluate.labels import MIXED, Ints
from dynabench.evaluate.states import Additive, Sums

Answer = float | str
LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True, repr=False)
class Ratings(Column):
    """Items with the answers that each was given, in any order; a list of n lists, without missing answers."""

    dtype = "list of labels or numbers"
    text = "answers of all people to each item"
    missing: bool = False  # whether people may leave out items

    def clean(self, values: Any, name: str) -> list[list[Answer]]:
        """Texts or numbers, not both. None and NaN are left out if they are allowed, else refused."""
        values = native(values)
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
        for row, item in enumerate(listed(values, name)):
            item = native(item)
            if not isinstance(item, list | tuple | np.ndarray):
                raise ValueError(f"{name}: row {row} is {item!r}; give a list with the answers to each item")
            answers = [_answer(one, name, row) for one in (item.tolist() if isinstance(item, np.ndarray) else item)]
            given = [one for one in answers if one is not None]
            if len(given) < len(answers) and not self.missing:
                raise ValueError(f"{name}: row {row} lacks an answer; drop the item, or take krippendorff_alpha")
            kinds.update(isinstance(one, str) for one in given)
            if len(kinds) > 1:
                raise ValueError(f"{name}: row {row}: {MIXED}")
            rows.append(given)
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
class Counted:
    """Items (U, K) by how often each answer was given, their weights (..., U) and the sorted answers."""

    counts: NDArray[Any]
    weights: NDArray[Any]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Tables(Additive):
    """How often each of K answers was given to each of n items, shape (n, K), and the sorted answers."""

    counts: Ints
    answers: tuple[Answer, ...] = field(default=())

    @classmethod
    def of(cls, rows: list[list[Answer]]) -> "Tables":
        """From a clean column."""
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

    def __add__(self, other: "Tables") -> "Tables":
        seen: set[Any] = {*self.answers, *other.answers}
        if len({isinstance(answer, str) for answer in seen}) > 1:
            raise ValueError(MIXED)
        answers = tuple(sorted(seen))
        return Tables(np.concatenate([one._over(answers) for one in (self, other)]), answers)

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

    def weighed(self, counts: NDArray[Any]) -> Counted:
        """See `Additive`."""
        return Counted(self._kept.values, counts, self.answers)
