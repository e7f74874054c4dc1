"""Counting what the ledger says, as it is written: one `Standing` per example, sums of them in `Tally`, and changes.

Every function runs in the transaction that writes the ledger, so that counts and ledger never part. Sums are
added to in the database itself: two people counting at once lose nothing. `dynabench.validation.rebuild` counts
the same figures again from the ledger alone, and tests hold the two equal. What search and the breakdowns need is one
row of `ExampleChange`, which the worker folds into them.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from functools import cache
from typing import Any, cast

from sqlalchemy import Executable, Select, Table, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection import queries
from dynabench.collection.queries import Place, place_of
from dynabench.collection.tables import Example, ExampleChange, ExampleSource, Standing, Tally
from dynabench.collection.terms import WRITTEN, describe, facet, joined
from dynabench.kit.db import PreparedStatement
from dynabench.rounds import plan
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict, model_was_wrong
from dynabench.tasks import TaskConfig

SOURCES = tuple(ExampleSource)
CONTROL = len(SOURCES)  # added to the source's number where no model was asked, since headline rates leave those out
COUNTS = ("examples", "fooled", "validated", "resolved", "retracted", "hidden", "unknown")
_TABLE = cast(Table, ExampleChange.__table__)
KEY = ("round_id", "person_id", "day", "start", "arm", "source")

Counted = tuple[Example, Place, dict[str, int], list[str]]
"""An example, where it belongs, what is added to counts, and the terms that came to it."""


def draw(example_id: int) -> int:
    """The example's place in the validators' queue, 0 to 2**31 - 1: scattered as if at random, the same each time."""
    return int.from_bytes(hashlib.blake2b(example_id.to_bytes(8, "big"), digest_size=4).digest(), "big") >> 1


def wants_votes(config: TaskConfig, fooled: bool | None, targets: int) -> bool:
    """Return whether examples with this outcome are put before validators.

    Always where no model was asked or where the validators are the judges. An example whose author has yet
    to judge the answers is not: nobody claims a model error.
    """
    if not targets or config.fooled.judged_by == "validators":
        return True
    return fooled is not None and (fooled or config.validation.also_not_fooled)


def is_open(
    config: TaskConfig, *, fooled: bool | None, verdict: str, retracted: bool, hidden: bool, targets: int
) -> bool:
    """Return whether an example on which `targets` models were asked may be handed to validators now."""
    return wants_votes(config, fooled, targets) and verdict == Verdict.PENDING and not retracted and not hidden


def tally_key(example: Example) -> dict[str, Any]:
    """The `Tally` row that an example is counted in."""
    day = example.at.astimezone(UTC).date().isoformat()
    origin = {"start": example.start, "arm": example.arm, "source": example.source}
    return {"round_id": example.round_id, "person_id": example.author_id, "day": day, **origin}


def tally_counts(*, fooled: bool | None, verdict: str, retracted: bool, hidden: bool) -> dict[str, int]:
    """Return the counts that one example adds to its `Tally` row."""
    if retracted:
        return dict.fromkeys(COUNTS, 0) | {"retracted": 1}
    if hidden:
        return dict.fromkeys(COUNTS, 0) | {"hidden": 1}
    return {
        "examples": 1,
        "fooled": int(fooled is True),
        "validated": int(fooled is True and verdict == Verdict.CORRECT),
        "resolved": int(fooled is True and verdict != Verdict.PENDING),
        "retracted": 0,
        "hidden": 0,
        "unknown": int(fooled is None),
    }


def count_example(
    session: Session,
    example: Example,
    *,
    targets: int,
    targets_right: int,
    config: TaskConfig,
    place: Place | None = None,
    doubt: int | None = None,
) -> None:
    """Count an example that was just written.

    `targets` predictions were made on it, and of `targets_right` of them it is known that they were right. `place` is
    where it belongs; it is looked up where it is not given. `doubt` is that of the targets.
    """
    session.flush()
    place = place or place_of(session, example)
    state: dict[str, Any] = {
        "fooled": example.fooled,
        "verdict": str(Verdict.PENDING),
        "retracted": False,
        "hidden": False,
    }
    standing = {
        "example_id": example.id,
        "round_id": example.round_id,
        "author_id": example.author_id,
        "votes": 0,
        "open": is_open(config, targets=targets, **state),
        "draw": draw(example.id),
        "blind": 0,
        "blind_right": 0,
        "targets": targets,
        "targets_right": targets_right,
        "withheld": False,
    }
    used = {"context": example.context_id, "and_fooled": int(example.fooled is True), "doubt": doubt}
    # Standings, contexts, tallies, changes: in the order of voters and of `rebuild`, so that nobody waits in a circle.
    queries.NEW_STANDING.run(session, standing | state)
    queries.CONTEXT_USED.run(session, used)
    row = tally_key(example) | tally_counts(**state)
    _ADD_TO_TALLY.run(session, row)
    line = describe_counts(row | {"tag": place.tag}, place.arms)
    note_change(session, example.id, None, example.round_id, line)
    if example.made_from is not None:
        note_change(session, example.made_from, [facet("perturbed", True)])


def count_retraction(session: Session, *examples: Example) -> None:
    """Count examples out. Takes the locks that voters take, so that a vote comes either before or not at all."""
    # All standings first, in order, and sums after them, as voters do: nobody waits in a circle.
    standings = [locked(session, example.id) for example in sorted(examples, key=lambda example: example.id)]
    counted = []
    for standing in standings:
        if standing is not None and not standing.retracted:
            before = _counts(standing)
            standing.retracted, standing.open = True, False
            counted.append(_change(session, standing, before))
    _add(session, counted)


def count_hiding(session: Session, standing: Standing, hidden: bool, config: TaskConfig) -> None:
    """Count that an example, whose standing is locked, was hidden by a moderator or shown again."""
    before = _counts(standing)
    standing.hidden = hidden
    standing.open = _may_be_checked(standing, config)
    _add(session, [_change(session, standing, before)])


def count_verdict(session: Session, standing: Standing, new: str, config: TaskConfig) -> None:
    """Count the new verdict on an example whose standing is locked; it may say whether a model was fooled."""
    before = _counts(standing)
    standing.verdict = new
    if standing.targets and config.fooled.judged_by == "validators":
        _set_fooled(session, standing, model_was_wrong(Verdict(new)))
        standing.targets_right = int(standing.targets == 1 and standing.fooled is False)
    standing.open = _may_be_checked(standing, config)
    _add(session, [_change(session, standing, before)])


def count_judgement(
    session: Session, standing: Standing, fooled: bool | None, targets_right: int, config: TaskConfig
) -> None:
    """Count that it is known now whether the models were fooled by an example whose standing is locked."""
    before = _counts(standing)
    standing.targets_right = targets_right
    _set_fooled(session, standing, fooled)
    standing.open = _may_be_checked(standing, config)
    _add(session, [_change(session, standing, before)])


def _set_fooled(session: Session, standing: Standing, fooled: bool | None) -> None:
    more = (fooled is True) - (standing.fooled is True)
    standing.fooled = fooled
    if more:
        context = session.get_one(Example, standing.example_id).context_id
        session.execute(update(Context).where(Context.id == context).values(fooled=Context.fooled + more))


def _may_be_checked(standing: Standing, config: TaskConfig) -> bool:
    names = ("fooled", "verdict", "retracted", "hidden", "targets")
    return is_open(config, **{name: getattr(standing, name) for name in names})


def locked(session: Session, example_id: int) -> Standing | None:
    """The standing of an example, locked until the transaction ends and read afresh."""
    # SQLite has no row locks and leaves FOR UPDATE out: there the whole writing transaction is alone.
    statement = select(Standing).where(Standing.example_id == example_id).with_for_update()
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()


def _counts(standing: Standing) -> dict[str, int]:
    return tally_counts(
        fooled=standing.fooled,
        verdict=standing.verdict,
        retracted=standing.retracted,
        hidden=standing.hidden,
    )


def _change(session: Session, standing: Standing, before: dict[str, int]) -> Counted:
    example, after = session.get_one(Example, standing.example_id), _counts(standing)
    state = {name: getattr(standing, name) for name in ("fooled", "verdict", "retracted", "hidden")}
    facets = [facet(name, value) for name, value in state.items()]
    return example, place_of(session, example), {name: after[name] - before[name] for name in COUNTS}, facets


def _add(session: Session, counted: Iterable[Counted]) -> None:
    rows = list(counted)
    some = [row for row in rows if any(row[2].values())]
    judge_contexts(session, [(example.context_id, counts) for example, _, counts, _ in some])
    add_to_tallies(session, [tally_key(example) | counts for example, _, counts, _ in some])
    for example, place, counts, new_terms in rows:
        line = ""
        if any(counts.values()):
            line = describe_counts(tally_key(example) | {"tag": place.tag} | counts, place.arms)
        note_change(session, example.id, new_terms, example.round_id, line)


def judge_contexts(session: Session, judged: Iterable[tuple[int, dict[str, int]]]) -> None:
    """Add to what became of the fooling examples of contexts. Before the tallies and in the order of ids, as whoever
    records an example does, so that nobody waits in a circle."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for context_id, counts in judged:
        failed = counts["resolved"] - counts["validated"]
        sums[context_id][0] += counts["fooled"] - failed
        sums[context_id][1] += failed
    rows = [{"context": id, "and_good": sums[id][0], "and_failed": sums[id][1]} for id in sorted(sums)]
    if rows := [row for row in rows if row["and_good"] or row["and_failed"]]:
        session.connection().execute(queries.CONTEXT_JUDGED, rows)


def add_to_tallies(session: Session, rows: Iterable[dict[str, Any]]) -> None:
    """Add counts to rows of `Tally`, each made if absent.

    A row holds the columns of `KEY` and of `COUNTS`. Rows are locked in the order of their keys, so that nobody waits
    in a circle.
    """
    sums: dict[tuple[Any, ...], dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for row in rows:
        total = sums[tuple(row[name] for name in KEY)]
        for name in COUNTS:
            total[name] += row[name]
    values = [dict(zip(KEY, key, strict=True)) | sums[key] for key in sorted(sums)]
    if values:
        connection = session.connection()
        connection.execute(_upsert(connection.dialect.name), values)


@cache  # putting the statement together takes longer than running it
def _upsert(dialect: str) -> Executable:
    columns = Tally.__table__.c
    write = (postgresql if dialect == "postgresql" else sqlite).insert(Tally.__table__)
    sums = {name: columns[name] + write.excluded[name] for name in COUNTS}
    statement: Executable = write.on_conflict_do_update(index_elements=list(KEY), set_=sums)
    return statement


_ADD_TO_TALLY = PreparedStatement(_upsert, (*KEY, *COUNTS))


def note_change(
    session: Session,
    example_id: int | None,
    changed_terms: Iterable[str] | None = (),
    round_id: int | None = None,
    counts: str = "",
) -> None:
    """Write a change of an example; `changed_terms` is None where it is new, and all its terms are in the ledger."""
    queries.NEW_CHANGE.run(session, _row(example_id, changed_terms, round_id, counts))


def note_changes(session: Session, rows: Iterable[tuple[int | None, Iterable[str], int | None, str]]) -> None:
    """Write many changes at once, each as the arguments of `note_change`."""
    if values := [_row(*row) for row in rows]:
        session.connection().execute(insert(_TABLE), values)


def _row(
    example_id: int | None, changed_terms: Iterable[str] | None, round_id: int | None, counts: str
) -> dict[str, Any]:
    text = None if changed_terms is None else joined(changed_terms)
    return {"example_id": example_id, "round_id": round_id, "terms": text, "counts": counts}


def describe_counts(change: Mapping[str, Any], conditions: list[Any]) -> str:
    """Write a change of a `Tally` row as a line: its key, the tag of the examples' contexts, and what is added.

    `conditions` are the round's arms.
    """
    kind = kind_of(conditions, change["source"], change["arm"])
    values = [change["person_id"], kind, *(change[name] for name in ("day", "start", "arm", "tag"))]
    return json.dumps([*values, *(change[name] for name in COUNTS)], separators=(",", ":"))


def kind_of(conditions: list[Any], source: str, arm: str) -> int:
    """Return the number of a source, told apart by whether models are asked in the arm."""
    control = bool(conditions) and arm in plan.arms_without_targets(conditions)
    return SOURCES.index(source) + CONTROL * control


def read_terms(session: Session) -> list[tuple[int, Sequence[str]]]:
    """Return the examples' ids and terms of changes that are not folded, in their order."""
    return [(example_id, new_terms) for _, example_id, new_terms, *_ in read_changes(session) if example_id is not None]


def read_changes(
    session: Session, limit: int | None = None
) -> list[tuple[int, int | None, Sequence[str], int | None, str]]:
    """Return the first changes that are not folded: id, example, terms, round, counts. One statement, one moment."""
    return [
        (
            row.id,
            row.example_id,
            describe(row) if row.terms is None else row.terms.split(),
            row.round_id,
            row.counts,
        )
        for row in session.execute(_changes().limit(limit))
    ]


def _changes() -> Select[Any]:
    return (
        select(
            *(ExampleChange.id, ExampleChange.example_id, ExampleChange.round_id, ExampleChange.terms),
            ExampleChange.counts,
            *(getattr(Example, name) for name in WRITTEN),
            *(Round.task_id, Round.number.label("round")),
            *(Context.values.label("context"), Context.tag),
        )
        .outerjoin(Example, (Example.id == ExampleChange.example_id) & ExampleChange.terms.is_(None))
        .outerjoin(Round, Round.id == Example.round_id)
        .outerjoin(Context, Context.id == Example.context_id)
        .order_by(ExampleChange.id)
    )


def drop_counts(session: Session, round_id: int) -> None:
    """Forget what changes say of the counts of a round."""
    session.execute(update(_TABLE).where(_TABLE.c.round_id == round_id).values(counts=""))
