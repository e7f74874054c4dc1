"""The fold: changes of examples go into the search index and the breakdowns, by the worker within a second.

Recording an example or a vote writes a row of `ExampleChange` in its transaction. A fold takes the oldest of them, adds
them to the index and the breakdowns and deletes them, all in one transaction: one that dies changes nothing, and the
next begins where it began. Readers look at what is folded and at what is not yet.
"""

import json
import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Executable, Select, case, delete, func, literal, null, select, text, union_all
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection import projections, search
from dynabench.collection.projections import CONTROL, COUNTS, kind_of
from dynabench.collection.tables import Breakdown, Example, ExampleChange, Standing, Tally
from dynabench.kit.db import PACKED, Database
from dynabench.kit.language import _
from dynabench.rounds.tables import Context
from dynabench.stats.verdict import Verdict

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
    rows = projections.read_changes(session, BATCH)
    search.put(session, ((row[1], row[2]) for row in rows if row[1] is not None))
    by_round: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        round_id, counts = row[3:]
        if round_id is not None and counts:
            by_round[round_id].append(counts)
    for round_id, lines in sorted(by_round.items()):
        put(session, round_id, lines)
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


NAMES = ("all", "day", "start", "arm", "tag")
STARTS = {"blank": _("blank"), "prompt": _("prompt"), "seed": _("seed"), "perturb": _("perturb")}
"""What examples begin with, as pages name it."""
ROW = np.dtype([("person", "<i8"), ("kind", "u1"), *((name, "<i4") for name in COUNTS)])

Rows = NDArray[np.void]
Groups = dict[tuple[str, str], Rows]


def read(session: Session, round_id: int, names: Sequence[str] = NAMES) -> Groups:
    """The counts of a round by (name, value), as rows by person and kind; one statement, one moment."""
    known = select(Breakdown.name, Breakdown.value, Breakdown.counts, null().label("line"))
    unfolded = select(literal(""), literal(""), null(), ExampleChange.counts).where(
        ExampleChange.round_id == round_id, ExampleChange.counts != ""
    )
    here = known.where(Breakdown.round_id == round_id, Breakdown.name.in_(names))
    found: Groups = {}
    lines: list[str] = []
    rows: Iterable[Any] = session.execute(union_all(here, unfolded), execution_options=PACKED)
    for row in rows:
        if row.line is None:
            found[row.name, row.value] = np.frombuffer(row.counts, ROW)
        else:
            lines.append(row.line)
    for group, rows in _grouped(lines).items():
        if group[0] in names:
            found[group] = _sum([found[group], rows]) if group in found else rows
    return found


def put(session: Session, round_id: int, lines: Iterable[str]) -> None:
    """Add changes to the arrays of a round, each as `projections.describe_counts` wrote it."""
    _put(session, round_id, _grouped(lines))


def rebuild(session: Session, round_id: int, conditions: list[Any]) -> None:
    """Make the arrays of a round with these arms anew: from its `Tally` rows, and those of tags from the ledger."""
    projections.drop_counts(session, round_id)
    session.execute(delete(Breakdown).where(Breakdown.round_id == round_id))
    made: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for person, source, day, start, arm, *numbers in session.execute(_tallies(round_id)):
        row = (person, kind_of(conditions, source, arm), *numbers)
        for group in (("all", ""), ("day", day), ("start", start), ("arm", arm)):
            made[group].append(row)
    for tag, person, source, arm, *numbers in session.execute(_tags(round_id)):
        made["tag", tag].append((person, kind_of(conditions, source, arm), *numbers))
    _put(session, round_id, {group: _sum([np.array(rows, ROW)]) for group, rows in made.items()})


def _tallies(round_id: int) -> Select[*tuple[Any, ...]]:
    key = (Tally.person_id, Tally.source, Tally.day, Tally.start, Tally.arm)
    return select(*key, *(getattr(Tally, name) for name in COUNTS)).where(Tally.round_id == round_id)


def _tags(round_id: int) -> Select[*tuple[Any, ...]]:
    live = ~Standing.retracted & ~Standing.hidden
    fooled = live & Standing.fooled
    counted = (
        *(live, fooled, fooled & (Standing.verdict == Verdict.CORRECT), fooled & (Standing.verdict != Verdict.PENDING)),
        *(Standing.retracted, ~Standing.retracted & Standing.hidden, live & Standing.fooled.is_(None)),
    )
    key = (Context.tag, Example.author_id, Example.source, Example.arm)
    return (
        select(*key, *(func.sum(case((each, 1), else_=0)) for each in counted))
        .select_from(Example)
        .join(Context, Context.id == Example.context_id)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.round_id == round_id)
        .group_by(*key)
    )


def _grouped(lines: Iterable[str]) -> Groups:
    made: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for line in lines:
        person, kind, day, start, arm, tag, *numbers = json.loads(line)
        for group in (("all", ""), ("day", day), ("start", start), ("arm", arm), ("tag", tag)):
            made[group].append((person, kind, *numbers))
    return {group: _sum([np.array(rows, ROW)]) for group, rows in made.items()}


def _sum(parts: Sequence[Rows]) -> Rows:
    """Rows of the same person and kind added up, in order of both."""
    rows = np.concatenate(parts)
    keys = rows["person"] * (2 * CONTROL) + rows["kind"]
    known, place = np.unique(keys, return_inverse=True)
    result = np.zeros(known.size, ROW)
    result["person"], result["kind"] = np.divmod(known, 2 * CONTROL)
    for name in COUNTS:
        result[name] = np.bincount(place, rows[name], known.size)
    return result


def _put(session: Session, round_id: int, groups: Groups) -> None:
    known = select(Breakdown.name, Breakdown.value, Breakdown.counts).where(
        Breakdown.round_id == round_id, Breakdown.value.in_({value for _, value in groups})
    )
    before = {
        (row.name, row.value): np.frombuffer(row.counts, ROW)
        for row in session.execute(known, execution_options=PACKED)
    }
    rows = [
        {
            "round_id": round_id,
            "name": group[0],
            "value": group[1],
            "counts": _sum([*_one(before, group), new]).tobytes(),
        }
        for group, new in sorted(groups.items())
    ]
    if rows:
        session.execute(_upsert(session.get_bind().dialect.name), rows)


def _one(known: Groups, group: tuple[str, str]) -> list[Rows]:
    return [known[group]] if group in known else []


@cache
def _upsert(dialect: str) -> Executable:
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(Breakdown.__table__)
    counts = {"counts": insert.excluded.counts}
    statement: Executable = insert.on_conflict_do_update(index_elements=["round_id", "name", "value"], set_=counts)
    return statement
