"""Rows that are kept as they are, for measures of all of them together."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Listed(Generic[Row]):
    """Any rows, in order. It can be merged, but has no intervals."""

    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "Listed[Row]") -> "Listed[Row]":
        return Listed(self.rows + other.rows)

    def total(self) -> tuple[Row, ...]:
        """The rows."""
        return self.rows
