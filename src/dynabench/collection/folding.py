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
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Table, delete, func, literal, null, select, union_all
from sqlalchemy.orm import Session

from dynabench.collection import projections, search
from dynabench.collection.projections import CONTROL, COUNTS
from dynabench.collection.tables import Breakdown, ExampleChange
from dynabench.kit.db import PACKED, Database, lock_until_commit, replace_rows
from dynabench.kit.language import _
from dynabench.people.contributions import note_examples

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
    if session.get_bind().dialect.name == "postgresql" and not session.scalar(
        select(func.pg_try_advisory_xact_lock(LOCK))
    ):
        return 0
    rows = projections.read_changes(session, BATCH)
    search.put(session, ((row[1], row[2]) for row in rows if row[1] is not None))
    by_round: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        round_id, counts = row[3:]
        if round_id is not None and counts:
            by_round[round_id].append(counts)
    for round_id, lines in sorted(by_round.items()):
        put(session, round_id, lines)
    note_examples(session, (row[1] for row in rows if row[1] is not None))
    ids = [row[0] for row in rows]
    for start in range(0, len(ids), MOST_IDS):
        gone = delete(ExampleChange).where(ExampleChange.id.in_(ids[start : start + MOST_IDS]))
        session.execute(gone.execution_options(synchronize_session=False))
    return len(rows)


def keep_from_folding(session: Session) -> None:
    """Let nobody fold until this transaction, which writes, ends. On SQLite it is alone anyway."""
    lock_until_commit(session, LOCK)


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
TABLE = cast(Table, Breakdown.__table__)


def read(session: Session, round_id: int, names: Sequence[str] = NAMES) -> Groups:
    """The counts of a round by (name, value), as rows by person and kind; one statement, one moment."""
    folded = select(Breakdown.name, Breakdown.value, Breakdown.counts, null().label("line"))
    unfolded = select(literal(""), literal(""), null(), ExampleChange.counts).where(
        ExampleChange.round_id == round_id, ExampleChange.counts != ""
    )
    here = folded.where(Breakdown.round_id == round_id, Breakdown.name.in_(names))
    groups: Groups = {}
    lines: list[str] = []
    rows: Iterable[Any] = session.execute(union_all(here, unfolded), execution_options=PACKED)
    for row in rows:
        if row.line is None:
            groups[row.name, row.value] = np.frombuffer(row.counts, ROW)
        else:
            lines.append(row.line)
    for group, rows in group_counts(map(json.loads, lines)).items():
        if group[0] in names:
            groups[group] = add_up([groups[group], rows]) if group in groups else rows
    return groups


def put(session: Session, round_id: int, lines: Iterable[str]) -> None:
    """Add changes to the arrays of a round, each as `projections.describe_counts` wrote it."""
    groups = group_counts(map(json.loads, lines))
    stored = select(Breakdown.name, Breakdown.value, Breakdown.counts).where(
        Breakdown.round_id == round_id, Breakdown.value.in_({value for _, value in groups})
    )
    before = {
        (row.name, row.value): np.frombuffer(row.counts, ROW)
        for row in session.execute(stored, execution_options=PACKED)
    }
    for group, rows in groups.items():
        groups[group] = add_up([before[group], rows]) if group in before else rows
    replace_rows(session, TABLE, {}, _packed(round_id, groups))


def replace(session: Session, round_id: int, groups: Groups) -> None:
    """Make the arrays of a round these. Nobody else may count in the round, or fold, meanwhile."""
    projections.drop_counts(session, round_id)
    stored = select(TABLE).where(TABLE.c.round_id == round_id)
    before = {
        (row.round_id, row.name, row.value): (row.counts,) for row in session.execute(stored, execution_options=PACKED)
    }
    replace_rows(session, TABLE, before, _packed(round_id, groups))


def group_counts(counts: Iterable[Sequence[Any]]) -> Groups:
    """Add up counts by person and kind in each group; each begins with person, kind, day, start, arm and tag."""
    members: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for person, kind, day, start, arm, tag, *numbers in counts:
        row = (person, kind, *numbers)
        for group in (("all", ""), ("day", day), ("start", start), ("arm", arm), ("tag", tag)):
            members[group].append(row)
    return {group: add_up([np.array(rows, ROW)]) for group, rows in members.items()}


def _packed(round_id: int, groups: Groups) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    return {(round_id, *group): (rows.tobytes(),) for group, rows in groups.items()}


def add_up(parts: Sequence[Rows]) -> Rows:
    """Add up rows of the same person and kind; they are in the order of both."""
    rows = np.concatenate(parts)
    keys = rows["person"] * (2 * CONTROL) + rows["kind"]
    distinct_keys, place = np.unique(keys, return_inverse=True)
    result = np.zeros(distinct_keys.size, ROW)
    result["person"], result["kind"] = np.divmod(distinct_keys, 2 * CONTROL)
    for name in COUNTS:
        result[name] = np.bincount(place, rows[name], distinct_keys.size)
    return result
