"""Rows that are kept as they are, for measures of all of them together."""

from dataclasses import dataclass
from typing import Generic, TypeVar

RowType = TypeVar("RowType")


@dataclass(frozen=True)
class ListState(Generic[RowType]):
    """Any rows, in order. It can be merged, but has no intervals."""

    rows: tuple[RowType, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "ListState[RowType]") -> "ListState[RowType]":
        return ListState(self.rows + other.rows)

    def total(self) -> tuple[RowType, ...]:
        """The rows."""
        return self.rows
