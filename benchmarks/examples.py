"""Searching a million examples, awkward questions among them, and an owner's figures of them, on both databases.

Every answer is compared with a look through all columns. The anchor is one row fetched by its key.
"""

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from benchmarks.million import FIRST, PEOPLE, Million, N, draw, fill
from benchmarks.row import Row, median_ms
from benchmarks.world import databases
from dynabench.collection import figures, folding, projections, search
from dynabench.collection.queries import place_of
from dynabench.collection.search import Filters
from dynabench.collection.tables import Example
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round

SEARCH_MS, FIGURES_MS, PAGE = 50.0, 100.0, 50


def questions(million: Million) -> dict[str, tuple[Filters, Any, int | None]]:
    """Name, filters, what a look through the columns finds, and the cursor."""

    def has(*words: int) -> Any:
        return np.logical_and.reduce([(million.words == word).any(1) for word in words])

    day = FIRST + timedelta(days=10)
    within = (million.day >= 10) & (million.day <= 40)
    return {
        "no question": (Filters(), np.ones(N, bool), None),
        "a common word": (Filters(q="w0"), has(0), None),
        "a rare word": (Filters(q="w49000"), has(49000), None),
        "a common word, rarely flagged": (Filters(q="w0", flagged=True), has(0) & (million.verdict == 3), None),
        "no word, flagged and by a program": (
            Filters(flagged=True, source="program"),
            (million.verdict == 3) & (million.source == 3),
            None,
        ),
        "common words, a verdict that only old ones have": (
            Filters(q="w0 w1", verdict="correct", start="seed"),
            has(0, 1) & (million.verdict == 1) & (million.start == 1),
            None,
        ),
        "eight common words": (Filters(q="w0 w1 w2 w3 w4 w5 w6 w7"), has(*range(8)), None),
        "nothing: common, but never together": (
            Filters(q="w0", verdict="correct", fooled=False),
            has(0) & (million.verdict == 1) & (million.fooled == 0),
            None,
        ),
        "one author's, a tag, 31 days": (
            Filters(author="person7", tag="tag 3", since=day, until=date(2026, 2, 10)),
            (million.author == 7) & (million.tag == 3) & within,
            None,
        ),
        "a common word, 800,000 rows down": (Filters(q="w0"), has(0), 200_000),
    }


def searching(db: Database, owner: Person, filters: Filters, expected: Any, before: int | None) -> float:
    """Median milliseconds of one page of answers with all that it shows."""

    def ask() -> list[int]:
        page = db.read(search.find, owner, "bench", filters, before=before, limit=PAGE)
        return [item.example.id for item in page.items]

    ids = np.flatnonzero(expected) + 1
    ids = ids if before is None else ids[ids < before]
    assert ask() == ids[::-1][:PAGE].tolist(), filters
    return median_ms(ask, 9)


def measured(db: Database, million: Million) -> dict[str, tuple[float, float]]:
    """Milliseconds and budget of each case."""
    owner = db.read(lambda session: session.get_one(Person, PEOPLE + 1))
    result = {
        f"example search in 1e6: {name}": (searching(db, owner, filters, expected, before), SEARCH_MS)
        for name, (filters, expected, before) in questions(million).items()
    }

    def reading(query: Callable[[Session, Round], object]) -> float:
        return median_ms(lambda: db.read(lambda session: query(session, session.get_one(Round, 1))), 9)

    for name in ("arm", "start", "source", "tag", "day"):
        result[f"owner's figures of 1e6 by {name}"] = (
            reading(lambda s, r, n=name: figures.figures(s, r, [n])),
            FIGURES_MS,
        )  # type: ignore[misc]
    result["owner's figures of 1e6, all breakdowns"] = (reading(figures.figures), FIGURES_MS)
    result["owner's figures of 1e6 by annotator, page 20"] = (
        reading(lambda s, r: figures.annotators(s, r, sort="vmer", after=950)),
        FIGURES_MS,
    )
    return result


def writing(db: Database) -> tuple[float, float]:
    """Milliseconds that an example's terms and counts take to write, and of putting 512 of them into the sets."""
    session = db._writes()
    try:
        example = session.get_one(Example, N)
        held = session.get_one(Round, 1)  # as recording an example holds it
        assert held.number == 1
        change = projections.tally_key(example) | {"tag": "tag 3"} | dict.fromkeys(projections.COUNTS, 1)
        where = place_of(session, example)

        def record_change() -> None:
            line = projections.describe_counts(change, where.arms)
            projections.note_change(session, example.id, None, example.round_id, line)

        row = median_ms(record_change, 100)

        for _ in range(300):
            record_change()
        fold = median_ms(lambda: folding.fold(session), 1, warm=0)
        return row, fold
    finally:
        session.rollback()
        session.close()


def rows() -> list[Row]:
    """One row per case and database."""
    result = []
    source = draw()
    rng = random.Random(0)
    with databases() as both:
        for name, db in both.items():
            fill(db, source)
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("ANALYZE" if db.is_sqlite else "VACUUM ANALYZE"))
            anchor = median_ms(lambda db=db: db.read(lambda s: s.get(Example, rng.randint(1, N))), 100)  # type: ignore[misc]
            for subject, (used, budget) in measured(db, source).items():
                result.append(
                    Row(f"{subject}, {name}", used, "ms", "one probe by key", anchor, f"{budget:.0f} ms", used < budget)
                )
            row, fold = writing(db)
            result.append(Row(f"writing what an example is found by, {name}", row, "ms", "one probe by key", anchor))
            result.append(Row(f"putting some 400 of them into the sets, {name}", fold, "ms"))
    return result
