"""The fold: changes of examples go into the search index and the breakdowns, by the worker within a second.

Recording an example or a vote writes a row of `ExampleChange` in its transaction. A fold takes the oldest of them, adds
them to the index and the breakdowns and deletes them, all in one transaction: one that dies changes nothing, and the
next begins where it began. Readers look at what is folded and at what is not yet.
"""

import logging
import threading
from collections import defaultdict

from sqlalchemy import delete, func, select, text
from sqlalchemy.orm import Session

from dynabench.collection import breakdowns, changes, search_index
from dynabench.collection.fold_tables import ExampleChange
from dynabench.kit.db import Database

log = logging.getLogger(__name__)
BATCH = 1024
"""Changes that one fold takes: a quarter of a second of work at most."""
PAUSE = 0.5
"""Seconds between two looks at whether there is something to fold."""
LOCK = 7267419
"""Number of PostgreSQL's advisory lock that one fold holds at a time."""
MOST_IDS = 500  # named in one statement


def fold(session: Session) -> int:
    """Fold the oldest changes; returns how many. Does nothing while another transaction folds."""
    if session.get_bind().dialect.name == "postgresql":
        if not session.scalar(select(func.pg_try_advisory_xact_lock(LOCK))):
            return 0
        # Before it reads, and in the order of `rebuild` and `reindex`, which keep others out: else what they count
        # anew would be added once more.
        session.execute(text("LOCK TABLE breakdowns, example_changes, search_postings IN ROW EXCLUSIVE MODE"))
    rows = changes.read(session, BATCH)
    search_index.put(session, ((example_id, terms) for _, example_id, terms, *_ in rows if example_id is not None))
    by_round: dict[int, list[str]] = defaultdict(list)
    for *_, round_id, counts in rows:
        if round_id is not None and counts:
            by_round[round_id].append(counts)
    for round_id, lines in sorted(by_round.items()):
        breakdowns.put(session, round_id, lines)
    ids = [row[0] for row in rows]
    for start in range(0, len(ids), MOST_IDS):
        gone = delete(ExampleChange).where(ExampleChange.id.in_(ids[start : start + MOST_IDS]))
        session.execute(gone.execution_options(synchronize_session=False))
    return len(rows)


def fold_all(database: Database) -> int:
    """Fold until nothing is left; returns how many changes there were. Each batch is a transaction of its own."""
    total = 0
    while database.read(_is_waiting) and (count := database.write(fold)):
        total += count
    return total


def _is_waiting(session: Session) -> bool:
    return session.scalar(select(ExampleChange.id).limit(1)) is not None


def fold_until(database: Database, stop: threading.Event) -> None:
    """Fold what comes until `stop` is set. An error is logged and tried again: nothing is lost meanwhile."""
    while not stop.wait(PAUSE):
        try:
            fold_all(database)
        except Exception:
            log.exception("Folding changes of examples failed.")
