"""Handing out one of a million items to a validator, ordinary cases and bad ones, on SQLite and PostgreSQL.

The anchor is the same transaction around one trivial statement: what any write costs on that database. Rows are
written straight into the tables, since a million of them through the services would take an hour.
"""

import random
from typing import Any

from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.orm import Session

from benchmarks.row import Row, median_ms
from benchmarks.world import databases
from dynabench.collection import projections
from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import Database, now
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Context, Round, Task, TaskVersion
from dynabench.validation import places
from dynabench.validation.tables import Reservation, Validation

ITEMS = 1_000_000
PAGE = 20_000
BUDGET_MS = 5.0
SOURCE = """
id: bench
name: Bench
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer: {name: label, type: choice, options: [a, b, c]}
"""
PEOPLE = {1: "fresh", 2: "wrote", 3: "voted", 4: "busy", 5: "nearly", 6: "crowd"}


def fill(session: Session) -> None:
    """A million open examples: half by person 2; person 3 has voted on nine in ten of the others' and of theirs."""
    session.add(Task(id="bench"))
    session.flush()
    session.add(TaskVersion(id=1, task_id="bench", number=1, source=SOURCE))
    names = {"password_hash": "", "terms": "1", "agreed_at": now()}
    session.add_all(Person(id=key, username=name, email=f"{name}@example.org", **names) for key, name in PEOPLE.items())
    session.flush()
    session.add(Context(id=1, task_id="bench", values={"premise": "It rains."}, digest="0", draw=1))
    session.add(Round(id=1, task_id="bench", number=1, version_id=1, state="open"))
    session.flush()
    session.add(Handout(id=1, round_id=1, context_id=1, person_id=6, start="blank", initial={}))
    session.flush()
    rng = random.Random(0)
    for first in range(1, ITEMS + 1, PAGE):
        _page(session, range(first, min(first + PAGE, ITEMS + 1)), rng)


def _page(session: Session, ids: range, rng: random.Random) -> None:
    same: dict[str, Any] = {
        "round_id": 1,
        "context_id": 1,
        "handout_id": 1,
        "version_id": 1,
        "answer": {"label": "a"},
        "fooled": True,
        "source": "person",
        "start": "blank",
        "attempt": 1,
        "seconds": 1.0,
        "latency_ms": 1.0,
        "request": "0" * 64,
        "at": now(),
    }
    author = {key: 2 if rng.random() < 0.5 else 6 for key in ids}
    voted = {key: rng.random() < 0.9 for key in ids}
    session.execute(
        insert(Example),
        [
            same | {"id": key, "author_id": author[key], "key": str(key), "input": {"hypothesis": str(key)}}
            for key in ids
        ],
    )
    standing = {"round_id": 1, "fooled": True, "open": True, "targets": 1, "targets_right": 0, "verdict": "pending"}
    session.execute(
        insert(Standing),
        [
            standing
            | {"example_id": key, "author_id": author[key], "draw": projections.draw(key), "votes": int(voted[key])}
            for key in ids
        ],
    )
    ballot = {"person_id": 3, "vote": "correct", "by_owner": False, "values": {}, "blind_answer": None, "at": now()}
    session.execute(insert(Validation), [ballot | {"example_id": key} for key in ids if voted[key]])


def asking(db: Database, person_id: int) -> float:
    """Median milliseconds of handing a new item to a person, transaction and commit included."""
    person = db.read(lambda session: session.get_one(Person, person_id))

    def ask() -> None:
        assert db.write(places.next_item, person, "bench", seconds=600) is not None

    used = []
    for _ in range(60):
        db.write(lambda session: session.execute(delete(Reservation).where(Reservation.person_id == person_id)))
        used.append(median_ms(ask, 1, warm=0))
    return sorted(used)[len(used) // 2]


def nothing_left(db: Database) -> float:
    """Median milliseconds of telling person 3 that none of `open` items is for them: each of them is passed over."""
    person = db.read(lambda session: session.get_one(Person, 3))

    def ask() -> None:
        assert db.write(places.next_item, person, "bench", seconds=600) is None

    return median_ms(ask, 9)


def leave_open(session: Session, count: int) -> None:
    """Decide all but `count` items, all of which person 3 has voted on."""
    chosen = select(Validation.example_id).where(Validation.person_id == 3).order_by(Validation.id).limit(count)
    keep = set(session.scalars(chosen))
    session.execute(update(Standing).where(Standing.example_id > max(keep)).values(open=False, verdict="correct"))
    low = [key for key in range(1, max(keep) + 1) if key not in keep]
    for start in range(0, len(low), PAGE):
        part = low[start : start + PAGE]
        session.execute(update(Standing).where(Standing.example_id.in_(part)).values(open=False, verdict="correct"))


def rows() -> list[Row]:
    """One row per case and database."""
    result = []
    with databases() as both:
        for name, db in both.items():
            db.write(fill)
            _analyse(db)
            anchor = median_ms(
                lambda db=db: db.write(  # type: ignore[misc]
                    lambda s: s.execute(update(Person).where(Person.id == 4).values(terms=str(random.random())[:8]))
                ),
                60,
            )
            cases = {
                "a new validator": asking(db, 1),
                "the author of half of them": asking(db, 2),
                "a voter on 900,000 of them": asking(db, 3),
            }
            db.write(leave_open, 1000)
            cases["a voter on all 1,000 open ones"] = nothing_left(db)
            result += [
                Row(
                    f"validation item from 1e6, {name}, for {case}",
                    value,
                    "ms",
                    "one-row commit",
                    anchor,
                    "5 ms",
                    value < BUDGET_MS,
                )
                for case, value in cases.items()
            ]
    return result


def _analyse(db: Database) -> None:
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE" if db.is_sqlite else "VACUUM ANALYZE"))
