"""Daily spending on served models: reserved before a call, settled after it, never above the limits."""

import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from dynabench.kit.errors import Unavailable

FILE = "spending.sqlite"
UNIT = 10**9
"""Money is counted in whole billionths, since sums of fractions drift."""
_TABLE = "CREATE TABLE IF NOT EXISTS spent (day TEXT, model TEXT, amount INTEGER NOT NULL, PRIMARY KEY (day, model))"


class Spent(Unavailable):
    """A limit on spending is reached."""


@dataclass
class Bill:
    """One call: what was reserved for it, and what it cost, as far as that is known."""

    reserved: float
    cost: float | None = None


class Spending:
    """A file of amounts by day (UTC) and model; several threads and processes may share it."""

    def __init__(self, path: Path, total: float = 0.0) -> None:
        self._path = path
        self._total = total
        with self._writing() as file:
            file.execute(_TABLE)

    @contextmanager
    def reserved(self, model: str, most: float, limit: float | None) -> Iterator[Bill]:
        """Set `most` aside for one call; raises `Spent` where that would pass the model's `limit` or the total.

        The bill's `cost` is booked instead when it is set. Without it all stays reserved, as after a call that broke
        off: nobody knows what that will be charged at.
        """
        day, bill = datetime.now(UTC).date().isoformat(), Bill(most)
        held = math.ceil(most * UNIT)
        self._reserve(day, model, held, limit)
        try:
            yield bill
        finally:
            if bill.cost is not None:
                self._add(day, model, math.ceil(bill.cost * UNIT) - held)

    def spent(self, model: str | None = None) -> float:
        """Return the amount spent or reserved today, by one model or by all."""
        with self._writing() as file:
            return _spent(file, datetime.now(UTC).date().isoformat(), model) / UNIT

    def _reserve(self, day: str, model: str, held: int, limit: float | None) -> None:
        with self._writing() as file:
            if limit is not None and _spent(file, day, model) + held > round(limit * UNIT):
                raise _reached(f"{model} has reached its limit of {limit:g} a day")
            if self._total and _spent(file, day, None) + held > round(self._total * UNIT):
                raise _reached(f"Served models have reached the operator's limit of {self._total:g} a day")
            _book(file, day, model, held)

    def _add(self, day: str, model: str, amount: int) -> None:
        with self._writing() as file:
            _book(file, day, model, amount)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the file from its start, so that no two reservations see the same sum."""
        file = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        try:
            file.execute("BEGIN IMMEDIATE")
            yield file
            file.execute("COMMIT")
        finally:
            file.close()


@lru_cache
def spending(folder: Path, total: float) -> Spending:
    """The accounts of a home folder, under the operator's limit a day (0 for none)."""
    return Spending(folder / FILE, total)


def _book(file: sqlite3.Connection, day: str, model: str, amount: int) -> None:
    told = "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET amount = amount + excluded.amount"
    file.execute(told, (day, model, amount))


def _spent(file: sqlite3.Connection, day: str, model: str | None) -> int:
    told = "SELECT coalesce(sum(amount), 0) FROM spent WHERE day = ? AND (? IS NULL OR model = ?)"
    return int(file.execute(told, (day, model, model)).fetchone()[0])


def _reached(told: str) -> Spent:
    now = datetime.now(UTC)
    until = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
    return Spent(
        f"{told}; it answers again on {until:%Y-%m-%d at 00:00 UTC}.",
        retry_after=int((until - now).total_seconds()) + 1,
    )
