"""The stores of served models: answers that were paid for, and daily spending."""

import hashlib
import json
import logging
import math
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Unavailable
from dynabench.models.protocol import Inputs, ModelOutput

log = logging.getLogger("dynabench.served")

MOST = 64 * 2**20
"""Bytes of the file."""
ANSWERS_FILE = "responses.sqlite"
_ANSWERS_TABLE = """
CREATE TABLE IF NOT EXISTS responses (key BLOB PRIMARY KEY, output TEXT NOT NULL, used REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS responses_used ON responses (used);
"""


class Cache:
    """A file of outputs; several threads and processes may share it. Where it fails, calls are made."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        self._path = path
        self._most = most
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None

    def get(self, version: str, inputs: Inputs) -> ModelOutput | None:
        """Return what this model version answered to the same inputs; a row that cannot be read is forgotten."""
        key = _key(version, inputs)
        rows = self._run("UPDATE responses SET used = ? WHERE key = ? RETURNING output", (time.time(), key))
        try:
            return _output(rows[0][0]) if rows else None
        except (ValueError, TypeError, RecursionError):
            self.forget(version, inputs)
            return None

    def forget(self, version: str, inputs: Inputs) -> None:
        """Remove what is kept for these inputs, so that the endpoint is asked again."""
        self._run("DELETE FROM responses WHERE key = ?", (_key(version, inputs),))

    def put(self, version: str, inputs: Inputs, output: ModelOutput) -> None:
        """Remember an output; when the file is full, a tenth of what it holds goes."""
        text = json.dumps([output.answer, output.probabilities, output.extras], ensure_ascii=False)
        self._run("INSERT OR REPLACE INTO responses VALUES (?, ?, ?)", (_key(version, inputs), text, time.time()))
        if self.size() > self._most:
            least = "SELECT key FROM responses ORDER BY used LIMIT 1 + (SELECT count(*) FROM responses) / 10"
            self._run(f"DELETE FROM responses WHERE key IN ({least})")  # noqa: S608 - a constant

    def size(self) -> int:
        """Bytes in use."""
        pages, free, page_size = (self._run(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
        return (pages[0][0] - free[0][0]) * page_size[0][0] if pages and free and page_size else 0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._opened().execute(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                log.warning("answers of endpoints are not cached: %s: %s", self._path, error)
                self._discard_if_damaged(error)
                return []

    def _discard_if_damaged(self, error: sqlite3.DatabaseError) -> None:
        """Delete a file that is no database any more (a power cut, a full disk); the next call makes a new one."""
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return
        if self._file is not None:
            self._file.close()
            self._file = None
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            file = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
            try:
                file.execute("PRAGMA journal_mode = WAL")
                file.execute("PRAGMA synchronous = OFF")  # what a power cut loses is asked for again
                file.executescript(_ANSWERS_TABLE)
            except sqlite3.DatabaseError:
                file.close()
                raise
            self._file = file
        return self._file


@lru_cache
def cache(folder: Path) -> Cache:
    """The cache of a home folder."""
    return Cache(folder / ANSWERS_FILE)


def _key(version: str, inputs: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(json.dumps([version, inputs], sort_keys=True).encode()).digest()


def _output(text: str) -> ModelOutput:
    answer, probabilities, extras = json.loads(text)
    return ModelOutput(answer, probabilities, extras)


SPENDING_FILE = "spending.sqlite"
UNIT = 10**9
"""Money is counted in whole billionths, since sums of fractions drift."""
_SPENDING_TABLE = (
    "CREATE TABLE IF NOT EXISTS spent (day TEXT, model TEXT, amount INTEGER NOT NULL, PRIMARY KEY (day, model))"
)


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
            file.execute(_SPENDING_TABLE)

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
                with self._writing() as file:
                    _book(file, day, model, math.ceil(bill.cost * UNIT) - held)

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
    return Spending(folder / SPENDING_FILE, total)


def _book(file: sqlite3.Connection, day: str, model: str, amount: int) -> None:
    statement = (
        "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET amount = amount + excluded.amount"
    )
    file.execute(statement, (day, model, amount))


def _spent(file: sqlite3.Connection, day: str, model: str | None) -> int:
    statement = "SELECT coalesce(sum(amount), 0) FROM spent WHERE day = ? AND (? IS NULL OR model = ?)"
    return int(file.execute(statement, (day, model, model)).fetchone()[0])


def _reached(reason: str) -> Spent:
    now = datetime.now(UTC)
    until = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
    return Spent(
        f"{reason}; it answers again on {until:%Y-%m-%d at 00:00 UTC}.",
        retry_after=int((until - now).total_seconds()) + 1,
    )
