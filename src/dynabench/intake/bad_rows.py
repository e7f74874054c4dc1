"""The report of rows that were refused: which ones, why, and what stood in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CELLS, CELL_LENGTH, NAME_LENGTH = 50, 500, 100
"""What is kept of the values of a refused row."""


@dataclass(frozen=True)
class BadRow:
    """A row that was left out: its number from 1 (0 for the whole file), the reason, and what stood in it."""

    number: int
    message: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class BadRowReport:
    """The outcome of a file: `rows` that can be used, and of `count` refused rows the first `limit` with reasons."""

    limit: int
    rows: int = 0
    count: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)

    def add(self, number: int, message: str, values: Mapping[str, Any] | None = None) -> None:
        """Note a refused row; 0 as its number means the whole file."""
        self.count += 1
        if len(self.bad_rows) < self.limit:
            self.bad_rows.append(BadRow(number, message, values or {}))

    def lines(self) -> list[str]:
        """Return the reasons in the order of the rows, each with its number, and how many more there are."""
        ordered = sorted(self.bad_rows, key=lambda row: (row.number, row.message))
        named = [f"line {row.number}: {row.message}" if row.number else row.message for row in ordered]
        return [*named, f"and {self.count - len(named):,} more"] if self.count > len(named) else named


def shorten_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row for a report: the first columns, long cells cut."""
    return {
        str(name)[:NAME_LENGTH]: value if isinstance(value, int | float) else str(value)[:CELL_LENGTH]
        for name, value in list(values.items())[:CELLS]
    }
