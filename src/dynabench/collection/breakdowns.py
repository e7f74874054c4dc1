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
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Executable, Select, Table, case, delete, func, insert, literal, null, select, union_all
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection.breakdown_tables import Breakdown, TallyNews
from dynabench.collection.tables import Example, Standing, Tally
from dynabench.db import PACKED
from dynabench.language import _
from dynabench.rounds import arms
from dynabench.rounds.tables import Context
from dynabench.stats.verdict import Verdict

NAMES = ("all", "day", "start", "arm", "tag")
SOURCES = ("person", "expert", "owner", "program")
STARTS = {"blank": _("blank"), "prompt": _("prompt"), "seed": _("seed"), "perturb": _("perturb")}
"""What examples begin with, as pages name it."""
CONTROL = len(SOURCES)  # added to the source's number where no model was asked, since headline rates leave those out
COUNTS = ("examples", "fooled", "validated", "resolved", "retracted", "hidden", "unknown")
ROW = np.dtype([("person", "<i8"), ("kind", "u1"), *((name, "<i4") for name in COUNTS)])
FOLD = 512
LOCK = 7267420  # on PostgreSQL one transaction at a time counts news in

_TABLE = cast(Table, TallyNews.__table__)
_NEWS = insert(_TABLE).returning(_TABLE.c.id)  # built once: putting it together takes longer than running it

Rows = NDArray[np.void]
Groups = dict[tuple[str, str], Rows]


Change = Mapping[str, Any]  # the key of a `Tally` row, the tag of the examples' contexts, and what is added


def tell(session: Session, change: Change, conditions: list[Any]) -> None:
    """Count a change of a `Tally` row; `conditions` are the round's arms."""
    if session.connection().execute(_NEWS, _news(change, conditions)).scalar_one() % FOLD == 0:
        fold(session)


def tell_all(session: Session, changes: Iterable[Change], conditions: list[Any]) -> None:
    """As `tell`, of many at once."""
    if rows := [_news(change, conditions) for change in changes]:
        session.connection().execute(insert(_TABLE), rows)
        if (session.scalar(select(func.count()).select_from(_TABLE)) or 0) >= FOLD:
            fold(session)


def _news(change: Change, conditions: list[Any]) -> dict[str, Any]:
    kind = _kind(conditions, change["source"], change["arm"])
    known = [change["person_id"], kind, *(change[name] for name in ("day", "start", "arm", "tag"))]
    told = json.dumps([*known, *(change[name] for name in COUNTS)], separators=(",", ":"))
    return {"round_id": change["round_id"], "told": told}


def _kind(conditions: list[Any], source: str, arm: str) -> int:
    return SOURCES.index(source) + CONTROL * (arm in arms.without_targets(conditions))


def read(session: Session, round_id: int, names: Sequence[str] = NAMES) -> Groups:
    """The counts of a round by (name, value), as rows by person and kind; one statement, one moment."""
    known = select(Breakdown.name, Breakdown.value, Breakdown.counts, null().label("told"))
    news = select(literal(""), literal(""), null(), TallyNews.told).where(TallyNews.round_id == round_id)
    here = known.where(Breakdown.round_id == round_id, Breakdown.name.in_(names))
    found: Groups = {}
    told: list[str] = []
    rows: Iterable[Any] = session.execute(union_all(here, news), execution_options=PACKED)
    for row in rows:
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


def rebuild(session: Session, round_id: int, conditions: list[Any]) -> None:
    """Make the arrays of a round with these arms anew: from its `Tally` rows, and those of tags from the ledger."""
    session.execute(delete(TallyNews).where(TallyNews.round_id == round_id))
    session.execute(delete(Breakdown).where(Breakdown.round_id == round_id))
    made: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for person, source, day, start, arm, *numbers in session.execute(_tallies(round_id)):
        row = (person, _kind(conditions, source, arm), *numbers)
        for group in (("all", ""), ("day", day), ("start", start), ("arm", arm)):
            made[group].append(row)
    for tag, person, source, arm, *numbers in session.execute(_tags(round_id)):
        made["tag", tag].append((person, _kind(conditions, source, arm), *numbers))
    _put(session, round_id, {group: _sum([np.array(rows, ROW)]) for group, rows in made.items()})


def _tallies(round_id: int) -> Select[*tuple[Any, ...]]:
    """All tallies of a round: one range of the primary key."""
    key = (Tally.person_id, Tally.source, Tally.day, Tally.start, Tally.arm)
    return select(*key, *(getattr(Tally, name) for name in COUNTS)).where(Tally.round_id == round_id)


def _tags(round_id: int) -> Select[*tuple[Any, ...]]:
    """What `Tally` counts, by tag: reads all examples of the round."""
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


def _grouped(told: Iterable[str]) -> Groups:
    """News as rows of each group that they belong to."""
    made: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for line in told:
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
