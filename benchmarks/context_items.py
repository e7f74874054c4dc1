"""Drawing one of a million contexts by each strategy, on SQLite and PostgreSQL.

The anchor is one row fetched by its key, in a transaction of its own as each draw is.
"""

import random

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from benchmarks.row import Row, median_ms
from benchmarks.validation_items import SOURCE
from benchmarks.world import databases
from dynabench.db import Database
from dynabench.rounds import contexts, queries
from dynabench.rounds.samplers import samplers
from dynabench.rounds.tables import Context, Task, TaskVersion

ITEMS = 1_000_000
PAGE = 20_000
BUDGET_MS = 5.0


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
                    "tag": "",
                }
                for key in range(first, first + PAGE)
            ],
        )


def drawing(db: Database, strategy: str) -> float:
    """Median milliseconds of drawing a context other than the last one."""
    rng = random.Random(1)

    def draw(session: Session) -> int:
        return contexts.pick(session, "bench", strategy, rng, but=rng.randint(1, ITEMS), person_id=1).id

    return median_ms(lambda: db.read(draw), 200)


def fetching(db: Database) -> float:
    """Median milliseconds of fetching a context by its key."""
    rng = random.Random(2)
    return median_ms(lambda: db.read(lambda session: session.get(Context, rng.randint(1, ITEMS))), 200)


def rows() -> list[Row]:
    """One row per strategy and database."""
    found = []
    with databases() as both:
        for name, db in both.items():
            db.write(fill)
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("ANALYZE"))
            anchor = fetching(db)
            for strategy in samplers():
                taken = drawing(db, strategy)
                what = f"context from 1e6, {name}, {strategy}"
                found.append(Row(what, taken, "ms", "one probe by key", anchor, "5 ms", taken < BUDGET_MS))
    return found
