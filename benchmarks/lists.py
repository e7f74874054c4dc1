"""The owner's lists page by page, with a million acts in the log and 100,000 people with a role, on both databases.

Lists of contexts are in `context_items`, of examples in `examples`. The anchor is one row fetched by its key.
"""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from sqlalchemy import text
from sqlalchemy.orm import Session

from benchmarks.bulk import load
from benchmarks.row import Row, median_ms
from benchmarks.validation_items import SOURCE
from benchmarks.world import databases
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Act, Person
from dynabench.rounds import owner_lists, people
from dynabench.rounds.tables import Task, TaskVersion

ACTS, PEOPLE, BANS = 1_000_000, 100_000, 5_000
KINDS = [f"kind.{number}" for number in range(30)]
RARE = "task.created"
BUDGET_MS = 50.0
PAGE = 50


def setting(session: Session) -> None:
    """A task."""
    session.add(Task(id="bench"))
    session.flush()
    session.add(TaskVersion(id=1, task_id="bench", number=1, source=SOURCE))
    session.flush()


def fill(db: Database) -> None:
    """The task's people, their roles, and its log."""
    db.write(setting)
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    stamp, rng = begun.isoformat(), random.Random(0)
    rest = ("", "", False, "1", stamp, stamp)
    columns = ("id", "username", "email", "password_hash", "pseudonym", "admin", "terms", "agreed_at", "created_at")
    load(db, "people", columns, ((i, f"person{i}", f"{i}@example.org", *rest) for i in range(1, PEOPLE + 1)))
    roles = ((i, "bench", "owner" if i == 1 else "annotator") for i in range(1, PEOPLE + 1))
    load(db, "roles", ("person_id", "task_id", "role"), roles)
    every = PEOPLE // BANS
    bans = ((i, "bench", "spam", stamp) for i in range(every, PEOPLE + 1, every))
    load(db, "bans", ("person_id", "task_id", "reason", "at"), bans)

    def acts() -> Iterator[tuple[object, ...]]:
        for id in range(1, ACTS + 1):
            kind = RARE if id in (1, ACTS // 2) else rng.choice(KINDS)
            at = (begun + timedelta(seconds=id)).isoformat()
            yield (
                id,
                at,
                rng.randint(1, PEOPLE),
                kind,
                "bench",
                json.dumps({"task": "bench", "person": id % PEOPLE + 1}),
            )

    load(db, "acts", ("id", "at", "person_id", "kind", "task_id", "subject"), acts())


def cases(session: Session) -> dict[str, Callable[[], object]]:
    """Name and call of each list."""
    owner = session.get_one(Person, 1)

    def log(kind: str = "", after: int | None = None) -> object:
        return owner_lists.list_acts(session, "bench", kind, after, PAGE)

    return {
        "log of 1e6 acts: the newest": log,
        "log of 1e6 acts: 800,000 acts down": lambda: log(after=200_000),
        "log of 1e6 acts: of one kind": lambda: log(KINDS[3]),
        "log of 1e6 acts: of a rare kind": lambda: log(RARE),
        "log of 1e6 acts: which kinds there are": lambda: owner_lists.list_act_kinds(session, "bench"),
        "roles and bans of 100,000 people: the first": lambda: people.list_members(session, owner, "bench"),
        "roles and bans of 100,000 people: 80,000 down": lambda: people.list_members(session, owner, "bench", 80_000),
    }


def rows() -> list[Row]:
    """One row per list and database."""
    result = []
    rng = random.Random(1)
    with databases() as both:
        for name, db in both.items():
            fill(db)
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("ANALYZE"))
            anchor = median_ms(lambda db=db: db.read(lambda s: s.get(Act, rng.randint(1, ACTS))), 100)  # type: ignore[misc]
            for subject in db.read(cases):
                used = median_ms(lambda db=db, subject=subject: db.read(lambda s: cases(s)[subject]()), 15)  # type: ignore[misc]
                rest = used < BUDGET_MS
                result.append(Row(f"{subject}, {name}", used, "ms", "one probe by key", anchor, "50 ms", rest))
    return result
