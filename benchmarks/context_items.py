"""Drawing one of a million contexts by each strategy, and lists of them, on SQLite and PostgreSQL.

The anchor is one row fetched by its key, in a transaction of its own as each draw is.
"""

import random

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from benchmarks.row import Row, median_ms
from benchmarks.validation_items import SOURCE
from benchmarks.world import databases
from dynabench.kit.db import Database, now
from dynabench.rounds import contexts, owner_lists, queries
from dynabench.rounds.owner_lists import ContextFilter
from dynabench.rounds.samplers import all_samplers
from dynabench.rounds.tables import Context, Task, TaskVersion

ITEMS = 1_000_000
PAGE = 20_000
TAGS = 40
BUDGET_MS, LIST_MS = 5.0, 50.0


def fill(session: Session) -> None:
    """A million contexts: most were never used, some fooled."""
    session.add(Task(id="bench"))
    session.flush()
    session.add(TaskVersion(id=1, task_id="bench", number=1, source=SOURCE))
    session.flush()
    rng = random.Random(0)
    for first in range(0, ITEMS, PAGE):
        session.execute(
            insert(Context),
            [
                {
                    "task_id": "bench",
                    "values": {"premise": f"Premise {key}."},
                    "digest": f"{key:064d}",
                    "draw": rng.randint(0, queries.KEYS),
                    "used": rng.choice((0, 0, 0, 1, 2)),
                    "fooled": rng.choice((0, 0, 0, 1)),
                    "failed": int(key % 1000 == 0),
                    "doubt": rng.randint(0, 1000),
                    "tag": f"tag {key % TAGS}" if key else "rare",
                    "retired_at": now() if key % 10_000 == 1 else None,
                }
                for key in range(first, first + PAGE)
            ],
        )


def drawing(db: Database, strategy: str) -> float:
    """Median milliseconds of drawing a context other than the last one."""
    rng = random.Random(1)

    def draw(session: Session) -> int:
        return contexts.pick_context(session, "bench", strategy, rng, but=rng.randint(1, ITEMS), person_id=1).id

    return median_ms(lambda: db.read(draw), 200)


def fetching(db: Database) -> float:
    """Median milliseconds of fetching a context by its key."""
    rng = random.Random(2)
    return median_ms(lambda: db.read(lambda session: session.get(Context, rng.randint(1, ITEMS))), 200)


LISTS = {
    "the newest": (ContextFilter(), None),
    "800,000 down": (ContextFilter(), 200_000),
    "of a common tag": (ContextFilter(tag="tag 3"), None),
    "of a rare tag": (ContextFilter(tag="rare"), None),
    "retired": (ContextFilter(retired=True), None),
    "by words, as far as one page looks": (ContextFilter("nowhere"), None),
}
"""What an owner asks of the list, and the cursor."""


def listed(db: Database, sought: ContextFilter, after: int | None) -> float:
    """Median milliseconds of a page of the list with the tags beside it."""

    def read(session: Session) -> object:
        return owner_lists.find_contexts(session, "bench", sought, after, 25), owner_lists.list_tags(session, "bench")

    return median_ms(lambda: db.read(read), 15)


def rows() -> list[Row]:
    """One row per strategy, per list, and database."""
    result = []
    with databases() as both:
        for name, db in both.items():
            db.write(fill)
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("ANALYZE"))
            anchor = fetching(db)
            for strategy in all_samplers():
                used = drawing(db, strategy)
                subject = f"context from 1e6, {name}, {strategy}"
                result.append(Row(subject, used, "ms", "one probe by key", anchor, "5 ms", used < BUDGET_MS))
            for which, (sought, after) in LISTS.items():
                used = listed(db, sought, after)
                subject = f"contexts of 1e6 listed, {name}, {which}"
                result.append(Row(subject, used, "ms", "one probe by key", anchor, "50 ms", used < LIST_MS))
    return result
