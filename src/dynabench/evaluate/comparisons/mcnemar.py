"""McNemar's test."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Labels
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.plain_values import to_plain
from dynabench.evaluate.states import Sums
from dynabench.evaluate.systems.significance import SignificanceTest


class McNemar(SignificanceTest):
    """Test of whether two systems are right equally often."""

    columns = {"predictions1": Labels(), "predictions2": Labels(), "references": Labels()}

    def update(
        self, predictions1: Ints | list[str], predictions2: Ints | list[str], references: Ints | list[str]
    ) -> Sums:
        """Return for each row whether only the first system is right, and whether only the second is."""
        first, second = same(predictions1, references), same(predictions2, references)
        return Sums(np.stack([first & ~second, second & ~first], 1))

    def result(self, state: Sums, *, exact: bool = False, correction: bool = False, **options: Any) -> dict[str, Any]:
        """Return statistic and p value."""
        from scipy.special import bdtr, chdtrc

        first, second = (int(count) for count in state.total()[:2])
        differ, fewer = first + second, min(first, second)
        if exact:
            return {"stat": float(fewer), "p": min(2 * float(bdtr(fewer, differ, 0.5)), 1.0)}
        excess = max(abs(first - second) - bool(correction), 0)
        stat = excess**2 / differ if differ else 0.0
        result: dict[str, Any] = to_plain({"stat": float(stat), "p": float(chdtrc(1, stat))})
        return result
