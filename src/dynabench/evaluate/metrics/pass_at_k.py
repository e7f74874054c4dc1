"""pass@k from counts or results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Numbers, as_list
from dynabench.evaluate.module import Metric
from dynabench.evaluate.programs.passing import KS, check_ks, means_by_name, pass_at_k_table
from dynabench.evaluate.states import Sums

Outcome = tuple[int, int | None]  # how many passed, of how many


class AttemptOutcomes(Column):
    """The number of attempts at each problem that passed, or a list with True or False for each attempt."""

    dtype = "int or list of bool"
    text = "number of attempts that passed, or a list that says of each attempt whether it passed"

    def clean(self, values: Any, name: str) -> list[Outcome]:
        """Return the outcomes. Raises ValueError for anything but whole numbers from 0 and lists of true and false."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(as_list(values, name))]

    def _row(self, item: Any, where: str) -> Outcome:
        if isinstance(item, list | tuple | np.ndarray):
            array = np.asarray(item)
            if array.ndim != 1 or not len(array) or not np.isin(array, (0, 1)).all():
                raise ValueError(f"{where} is {item!r}; give a list that says True or False of each attempt")
            return int(array.sum()), len(array)
        if (
            isinstance(item, bool)
            or not isinstance(item, int | float | np.number)
            or not 0 <= item < 2**53
            or float(item) % 1
        ):
            raise ValueError(f"{where} is {item!r}; give how many attempts passed, or a list of whether each did")
        return int(item), None


class PassAtK(Metric):
    """Probability that one of k attempts at a problem passes."""

    columns = {"correct": AttemptOutcomes()}
    optional = {"total": Numbers()}

    def update(self, correct: list[Outcome], total: Floats | None = None, *, k: int | Sequence[int] = KS) -> Sums:
        """The estimate of each problem for each k."""
        pairs = [_attempts(outcome, row, total) for row, outcome in enumerate(correct)]
        passed, tried = np.array(pairs, np.int64).reshape(-1, 2).T
        return Sums(pass_at_k_table(tried, passed, check_ks(k)))

    def formula(self, total: Floats, *, k: int | Sequence[int] = KS) -> dict[str, Floats]:
        """Means over problems."""
        return means_by_name(total[..., :-1] / np.maximum(total[..., -1:], 1), check_ks(k))


def _attempts(outcome: Outcome, row: int, total: Floats | None) -> tuple[int, int]:
    passed, tried = outcome
    if tried is None and total is None:
        raise ValueError(f"correct: row {row} is a number; say in total how many attempts were made, or give a list")
    stated = None if total is None else float(total[row])
    if tried is not None and stated not in (None, tried):
        raise ValueError(f"total: row {row} says {stated:g}, but correct lists {tried} attempts")
    attempts = stated if tried is None else tried
    if attempts is None or attempts % 1 or not max(passed, 1) <= attempts < 2**53:
        raise ValueError(f"row {row} says that {passed} of {attempts:g} passed; give whole numbers, from 1 attempt")
    return passed, int(attempts)
