"""States that are more than rows of numbers, but whose formula takes sums over examples."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.states import Additive, Sums


class SummedState(Additive):
    """A state whose `sums` has one row for each example; `wrapped` makes the formula's argument from sums."""

    quick: ClassVar[bool] = True

    @cached_property
    def sums(self) -> Sums:
        """Numbers of each example that add up."""
        raise NotImplementedError

    def wrapped(self, total: Floats) -> Any:
        """The formula's argument from sums of shape (..., S + 1), of which the last counts examples."""
        return total

    def __len__(self) -> int:
        return len(self.sums)

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """See `Additive`."""
        return self.sums.atoms

    def weighed(self, counts: NDArray[Any]) -> Any:
        """See `Additive`."""
        return self.wrapped(self.sums.weighed(counts))

    def total(self) -> Any:
        """See `State`."""
        return self.wrapped(self.sums.total())

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `State`."""
        return ((self.wrapped(block), counts) for block, counts in self.sums.left_out())
