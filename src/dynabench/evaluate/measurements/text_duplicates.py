"""Texts that occur more than once."""

from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.states.list_state import ListState
from dynabench.evaluate.texts.near_duplicates import near_duplicate_groups


class TextDuplicates(Measurement):
    """The share of texts that repeat an earlier one."""

    columns = {"data": Texts()}

    def update(self, data: list[str]) -> ListState[str]:
        """The texts."""
        return ListState(tuple(data))

    def result(
        self, state: Any, *, list_duplicates: bool = False, near: float | None = None, **options: Any
    ) -> dict[str, Any]:
        """Return shares of duplicates; with `list_duplicates` also the texts that repeat."""
        n = len(state)
        stripped = Counter(map(str.strip, state.rows))
        result: dict[str, Any] = {"duplicate_fraction": (n - len(stripped)) / n}
        if list_duplicates:
            counts = Counter(state.rows) if self.compat else stripped
            result["duplicates_dict"] = {text: times for text, times in counts.items() if times > 1}
        if near is not None:
            near_groups = near_duplicate_groups(state.rows, near)
            result["near_duplicate_fraction"] = sum(len(rows) - 1 for rows in near_groups) / n
            if list_duplicates:
                result["near_duplicates"] = near_groups
        return result

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return for each text whether it repeats an earlier one, 0 or 1."""
        first: dict[str, int] = {}
        for row, text in enumerate(state.rows):
            first.setdefault(text.strip(), row)
        is_repeat = np.ones(len(state), np.int64)
        is_repeat[list(first.values())] = 0
        return {"duplicate_fraction": is_repeat}
