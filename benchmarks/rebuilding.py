"""Counting a platform anew from its ledger, by `dynabench db rebuild`; its index is written from nothing.

The anchor reads a part of the same ledger through the driver's cursor and writes it as JSON.
"""

import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.export import plain
from benchmarks.row import Row
from benchmarks.world import databases, fill
from dynabench.collection.tables import Standing, Tally
from dynabench.kit.db import Database
from dynabench.rounds.tables import Context
from dynabench.validation.rebuild import rebuild_all

ITEMS = 50_000
PER_SECOND = 3_333
"""A million in five minutes."""


def rows() -> list[Row]:
    """Examples a second on each database."""
    result = []
    for kind in ("SQLite", "PostgreSQL"):
        with databases(kind) as held:
            db = held[kind]
            fill(db, ITEMS)
            anchor, rate = plain(db), measure_rate(db)
            result.append(
                Row(
                    f"rebuild of {ITEMS:,} examples, {kind}", rate, "rows/s",
                    "cursor and json.dumps, no votes or predictions", anchor,
                    f">= {PER_SECOND:,} rows/s", rate >= PER_SECOND,
                )
            )  # fmt: skip
    return result


def measure_rate(db: Database) -> float:
    """Examples a second of a rebuild that finds all counters right."""
    before = db.read(counters)
    begun = time.perf_counter()
    examples, _ = rebuild_all(db)
    seconds = time.perf_counter() - begun
    assert db.read(counters) == before
    return examples / seconds


def counters(session: Session) -> list[Any]:
    """Return the rows that count by example, by person and by context."""
    tables = (Standing.__table__, Tally.__table__, Context.__table__)
    return [session.execute(select(table).order_by(*table.primary_key)).all() for table in tables]
