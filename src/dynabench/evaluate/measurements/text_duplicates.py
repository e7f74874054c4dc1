"""Texts that occur more than once."""

from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.states.listed import Listed
from dynabench.evaluate.texts.near_duplicates import groups


class TextDuplicates(Measurement):
    """The share of texts that repeat an earlier one."""

    columns = {"data": Texts()}

    def update(self, data: list[str]) -> Listed[str]:
        """The texts."""
        return Listed(tuple(data))

    def result(
        self, state: Any, *, list_duplicates: bool = False, near: float | None = None, **options: Any
    ) -> dict[str, Any]:
        """Shares, and where asked for what repeats."""
        n = len(state)
        stripped = Counter(map(str.strip, state.rows))
        found: dict[str, Any] = {"duplicate_fraction": (n - len(stripped)) / n}
        if list_duplicates:
            counts = Counter(state.rows) if self.compat else stripped
            found["duplicates_dict"] = {text: times for text, times in counts.items() if times > 1}
        if near is not None:
            alike = groups(state.rows, near)
            found["near_duplicate_fraction"] = sum(len(rows) - 1 for rows in alike) / n
            if list_duplicates:
                found["near_duplicates"] = alike
        return found

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Whether each text repeats an earlier one, 0 or 1."""
        first: dict[str, int] = {}
        for row, text in enumerate(state.rows):
            first.setdefault(text.strip(), row)
        again = np.ones(len(state), np.int64)
        again[list(first.values())] = 0
        return {"duplicate_fraction": again}
