"""States that are more than rows of numbers, but whose formula takes sums over examples."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dynabench.evaluate.labels import Ints
from dynabench.evaluate.states import Floats, Sums


class Summed:
    """A state of which `sums` has one row for each example; `of` makes the formula's argument from sums over rows."""

    @cached_property
    def sums(self) -> Sums:
        """Numbers of each example that add up."""
        raise NotImplementedError

    def of(self, total: Floats) -> Any:
        """The formula's argument from sums of shape (..., S + 1), of which the last counts examples."""
        return total

    def __len__(self) -> int:
        return len(self.sums)

    def total(self) -> Any:
        """See `State`."""
        return self.of(self.sums.total())

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Any]:
        """See `State`."""
        return (self.of(block) for block in self.sums.resamples(rng, times))

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `State`."""
        return ((self.of(block), counts) for block, counts in self.sums.left_out())

    def at(self, rows: Ints) -> Any:
        """See `State`."""
        return self.of(self.sums.at(rows))
