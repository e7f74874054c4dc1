"""Counts by person for each day, start, arm and tag of a round, so that owners' figures read kilobytes, not rows.

`Tally` has a row for each person, day, start, arm and source: half a million of them in a large round, which takes a
second to sum up. Here the rows of one value stand together in one packed array, as numpy reads it. A change is written
as one row of news in the transaction that counts it; every `FOLD` rows the writer adds them to the arrays. Readers add
what is not in them yet. See docs/decisions/figures.md.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Executable, delete, func, insert, literal, null, select, union_all
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection.breakdown_tables import Breakdown, TallyNews
from dynabench.collection.tables import TagTally, Tally

NAMES = ("all", "day", "start", "arm", "tag")
SOURCES = ("person", "expert", "owner", "program")
COUNTS = ("examples", "fooled", "validated", "resolved", "retracted", "hidden")
ROW = np.dtype([("person", "<i8"), ("source", "u1"), *((name, "<i4") for name in COUNTS)])
FOLD = 512
LOCK = 7267420  # on PostgreSQL one transaction at a time counts news in

Rows = NDArray[np.void]
Groups = dict[tuple[str, str], Rows]


def tell(session: Session, key: Mapping[str, Any], tag: str, counts: Mapping[str, int]) -> None:
    """Count a change of the `Tally` row with this key, of an example whose context has this tag."""
    known = [key["person_id"], SOURCES.index(key["source"]), key["day"], key["start"], key["arm"], tag]
    told = json.dumps([*known, *(counts[name] for name in COUNTS)], separators=(",", ":"))
    row = insert(TallyNews).values(round_id=key["round_id"], told=told).returning(TallyNews.id)
    if session.execute(row).scalar_one() % FOLD == 0:
        fold(session)


def read(session: Session, round_id: int, names: Sequence[str] = NAMES) -> Groups:
    """The counts of a round by (name, value), for each a row for a person and source; one statement, one moment."""
    known = select(Breakdown.name, Breakdown.value, Breakdown.counts, null().label("told"))
    news = select(literal(""), literal(""), null(), TallyNews.told).where(TallyNews.round_id == round_id)
    here = known.where(Breakdown.round_id == round_id, Breakdown.name.in_(names))
    found: Groups = {}
    told = []
    for row in session.execute(union_all(here, news)):
        if row.told is None:
            found[row.name, row.value] = np.frombuffer(row.counts, ROW)
        else:
            told.append(row.told)
    for group, rows in _grouped(told).items():
        if group[0] in names:
            found[group] = _sum([found[group], rows]) if group in found else rows
    return found


def fold(session: Session) -> int:
    """Count the news in; how many rows there were. Does nothing while another transaction does it."""
    alone = select(func.pg_try_advisory_xact_lock(LOCK))
    if session.get_bind().dialect.name == "postgresql" and not session.scalar(alone):
        return 0
    rows = session.execute(select(TallyNews.id, TallyNews.round_id, TallyNews.told)).all()
    by_round: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        by_round[row.round_id].append(row.told)
    for round_id, told in by_round.items():
        _put(session, round_id, _grouped(told))
    ids = [row.id for row in rows]
    for start in range(0, len(ids), FOLD):
        gone = delete(TallyNews).where(TallyNews.id.in_(ids[start : start + FOLD]))
        session.execute(gone.execution_options(synchronize_session=False))
    return len(rows)


def rebuild(session: Session, round_id: int) -> None:
    """Make the arrays of a round anew from its `Tally` and `TagTally` rows."""
    session.execute(delete(TallyNews).where(TallyNews.round_id == round_id))
    session.execute(delete(Breakdown).where(Breakdown.round_id == round_id))
    counts = [getattr(Tally, name) for name in COUNTS]
    columns = (Tally.person_id, Tally.source, Tally.day, Tally.start, Tally.arm)
    made: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for person, source, day, start, arm, *numbers in session.execute(
        select(*columns, *counts).where(Tally.round_id == round_id)
    ):
        row = (person, SOURCES.index(source), *numbers)
        for group in (("all", ""), ("day", day), ("start", start), ("arm", arm)):
            made[group].append(row)
    tags = select(TagTally.tag, TagTally.person_id, TagTally.source, *(getattr(TagTally, name) for name in COUNTS))
    for tag, person, source, *numbers in session.execute(tags.where(TagTally.round_id == round_id)):
        made["tag", tag].append((person, SOURCES.index(source), *numbers))
    _put(session, round_id, {group: _sum([np.array(rows, ROW)]) for group, rows in made.items()})


def _grouped(told: Iterable[str]) -> Groups:
    """News as rows of each group that they belong to."""
    made: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for line in told:
        person, source, day, start, arm, tag, *numbers = json.loads(line)
        for group in (("all", ""), ("day", day), ("start", start), ("arm", arm), ("tag", tag)):
            made[group].append((person, source, *numbers))
    return {group: _sum([np.array(rows, ROW)]) for group, rows in made.items()}


def _sum(parts: Sequence[Rows]) -> Rows:
    """Rows of the same person and source added up, in order of both."""
    rows = np.concatenate(parts)
    keys = rows["person"] * len(SOURCES) + rows["source"]
    known, place = np.unique(keys, return_inverse=True)
    result = np.zeros(known.size, ROW)
    result["person"], result["source"] = np.divmod(known, len(SOURCES))
    for name in COUNTS:
        result[name] = np.bincount(place, rows[name], known.size)
    return result


def _put(session: Session, round_id: int, groups: Groups) -> None:
    known = select(Breakdown.name, Breakdown.value, Breakdown.counts).where(
        Breakdown.round_id == round_id, Breakdown.value.in_({value for _, value in groups})
    )
    before = {(row.name, row.value): np.frombuffer(row.counts, ROW) for row in session.execute(known)}
    rows = [
        {"round_id": round_id, "name": group[0], "value": group[1], "counts": _sum([*_one(before, group), new]).tobytes()}
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
