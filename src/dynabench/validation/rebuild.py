"""Counting everything again from the ledger: what the projections must equal at any time.

A page of examples or contexts, the sums of a round, and a block of the search index are a transaction each, which
writes only what was wrong. Others read and write between them, and wherever a process dies, the next begins again.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Table,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    not_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session, aliased

from dynabench.collection import folding, projections, search
from dynabench.collection.projections import COUNTS, KEY
from dynabench.collection.tables import (
    WITHHELD,
    Example,
    Hiding,
    Prediction,
    ReleasedExample,
    Retraction,
    Standing,
    Tally,
)
from dynabench.kit.db import Database, replace_rows
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict, Vote, model_was_wrong, verdict
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules.base import EnsembleRule, ensemble_fooled
from dynabench.validation.queries import CONTROL
from dynabench.validation.rebuild_index import PAGE, Advance, Some, index_block, index_written
from dynabench.validation.tables import Undo, Validation

CONTEXTS = 1024
"""Contexts that are counted at once."""
BREATH = 0.11
"""Seconds between two transactions on SQLite, at most, where those who wait try again every tenth of a second."""
STANDINGS, TALLIES, CONTEXT_ROWS = (cast(Table, entity.__table__) for entity in (Standing, Tally, Context))


class _Step:
    def __init__(self, progress: Callable[[str, int, int], None], name: str, total: int) -> None:
        self._tell, self._done, self._total = partial(progress, name), 0, total
        self.advance(0)

    def advance(self, more: int) -> None:
        self._done += more
        self._tell(min(self._done, self._total), self._total)


def rebuild_all(
    database: Database, progress: Callable[[str, int, int], None] = lambda step, done, of: None
) -> tuple[int, int]:
    """Make all that is counted anew, and the search index; how many examples and rounds there are.

    `progress` is told the step, what is done of it, and of how much. Memory: a page of examples or a block of the
    index, and the tallies of a round.
    """

    def write(function: Callable[..., None], *arguments: Any) -> None:
        begun = time.monotonic()
        database.write(function, *arguments)
        time.sleep(min(BREATH, time.monotonic() - begun) if database.is_sqlite else 0)

    ids, examples, last, contexts, last_context = database.read(_sizes)
    counting = _Step(progress, "Counting votes", examples)
    for first in range(0, last + 1, PAGE):
        write(count_page, first, min(first + PAGE - 1, last), counting.advance)
    summing = _Step(progress, "Adding up", examples)
    for round_id in ids:
        write(sum_round, round_id, summing.advance)
    judging = _Step(progress, "Counting by context", contexts)
    for first in range(0, last_context + 1, CONTEXTS):
        write(count_contexts, first, first + CONTEXTS - 1, judging.advance)
    indexing = _Step(progress, "Indexing", examples)
    for block in range(last // search.SIZE + 1):
        write(index_block, block, indexing.advance)
    write(search.drop_blocks, last // search.SIZE)
    return examples, len(ids)


def _sizes(session: Session) -> tuple[list[int], int, int, int, int]:
    return (
        list(session.scalars(select(Round.id).order_by(Round.id))),
        session.scalar(select(func.count()).select_from(Example)) or 0,
        session.scalar(select(func.max(Example.id))) or 0,
        session.scalar(select(func.count()).select_from(Context)) or 0,
        session.scalar(select(func.max(Context.id))) or 0,
    )


def count_page(session: Session, first: int, last: int, advance: Advance) -> None:
    """Make the standings of the examples with the ids `first` to `last` anew."""
    ids = session.scalars(select(Example.id).where(Example.id.between(first, last))).all()
    if not ids:
        return
    # Voters lock a standing before they write: what is read after the locks is all that they wrote.
    stored = select(STANDINGS).where(STANDINGS.c.example_id.between(first, last)).order_by(STANDINGS.c.example_id)
    before = {(row[0],): tuple(row[1:]) for row in session.execute(stored.with_for_update())}
    names = [column.name for column in STANDINGS.columns][1:]
    present_ids = set(ids)  # not those that others recorded meanwhile
    rows = _standings(session, lambda column: column.between(first, last))
    after = {
        (row["example_id"],): tuple(row[name] for name in names) for row in rows if row["example_id"] in present_ids
    }
    replace_rows(session, STANDINGS, before, after)
    advance(len(ids))


def sum_round(session: Session, round_id: int, advance: Advance) -> None:
    """Make the tallies and breakdowns of a round anew from its standings; others cannot count meanwhile."""
    folding.keep_from_folding(session)
    if session.get_bind().dialect.name == "postgresql":  # voters lock rows before they write any: they wait outside
        session.execute(text("LOCK TABLE standings, tallies, breakdowns IN EXCLUSIVE MODE"))
    arms = session.get_one(Round, round_id).arms
    sums: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0] * len(COUNTS))
    groups: folding.Groups = {}
    for first, last in _ranges(session, round_id):
        rows = session.execute(_sums(session, round_id, first, last)).all()
        for row in rows:
            total = sums[(round_id, *row[1:6])]
            for place, number in enumerate(row[6:]):
                total[place] += number
        lines = ((row[1], projections.kind_of(arms, row[5], row[4]), *row[2:5], row[0], *row[6:]) for row in rows)
        for group, counts in folding.group_counts(lines).items():
            groups[group] = folding.add_up([groups[group], counts]) if group in groups else counts
        advance(sum(row[6] + row[10] + row[11] for row in rows))  # live, retracted, hidden
    stored = session.execute(select(TALLIES).where(TALLIES.c.round_id == round_id))
    before = {tuple(row[: len(KEY)]): tuple(row[len(KEY) :]) for row in stored}
    replace_rows(session, TALLIES, before, {key: tuple(total) for key, total in sums.items()})
    folding.replace(session, round_id, groups)


def _ranges(session: Session, round_id: int) -> list[tuple[int, int]]:
    first, last = session.execute(
        select(func.min(Example.id), func.max(Example.id)).where(Example.round_id == round_id)
    ).one()
    return [] if first is None else [(id, id + search.SIZE - 1) for id in range(first, last + 1, search.SIZE)]


def _sums(session: Session, round_id: int, first: int, last: int) -> Select[*tuple[Any, ...]]:
    """Sum tags, the rest of a tally's key, and its counts."""
    live = ~Standing.retracted & ~Standing.hidden
    fooled = live & Standing.fooled
    counted = (
        *(live, fooled, fooled & (Standing.verdict == Verdict.CORRECT), fooled & (Standing.verdict != Verdict.PENDING)),
        *(Standing.retracted, ~Standing.retracted & Standing.hidden, live & Standing.fooled.is_(None)),
    )
    if session.get_bind().dialect.name == "postgresql":
        day: ColumnElement[str] = literal_column("to_char(examples.at AT TIME ZONE 'UTC', 'YYYY-MM-DD')")
    else:
        day = literal_column("substr(examples.at, 1, 10)")
    key = (Context.tag, Example.author_id, day, Example.start, Example.arm, Example.source)
    return (
        select(*key, *(func.sum(case((condition, 1), else_=0)) for condition in counted))
        .select_from(Example)
        .join(Context, Context.id == Example.context_id)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.round_id == round_id, Example.id.between(first, last))
        .group_by(*key)
    )


def count_contexts(session: Session, first: int, last: int, advance: Advance) -> None:
    """Write to contexts how often they were used, how often models were fooled there, and what became of that.

    The counts are over the examples of all rounds.
    """
    in_range = Context.id.between(first, last)
    # A request that counts has the standings and then locks the context: what is read after the locks is whole.
    session.execute(select(Context.id).where(in_range).order_by(Context.id).with_for_update(key_share=True)).all()
    fooled = Standing.fooled & ~Standing.retracted & ~Standing.hidden
    good = Standing.verdict.in_((Verdict.PENDING, Verdict.CORRECT))
    names = ("used", "fooled", "good", "failed")
    counted = (Standing.fooled.is_(True), fooled & good, fooled & not_(good))
    sums = (func.sum(case((condition, 1), else_=0)) for condition in counted)
    statement = (
        select(Context.id, *(getattr(Context, name) for name in names), func.count(Example.id), *sums)
        .outerjoin(Example, Example.context_id == Context.id)
        .outerjoin(Standing, Standing.example_id == Example.id)
        .where(in_range)
        .group_by(Context.id)
    )
    rows = session.execute(statement).all()
    wrong = [dict(zip(("this", *names), (row[0], *row[5:]), strict=True)) for row in rows if row[1:5] != row[5:]]
    if wrong:
        values: dict[str, Any] = {name: bindparam(name) for name in names}
        session.connection().execute(
            update(CONTEXT_ROWS).where(CONTEXT_ROWS.c.id == bindparam("this")).values(values), wrong
        )
    advance(len(rows))


def count_written(session: Session, examples: Sequence[Example]) -> dict[int, str]:
    """Count examples of a round that were just written with all that belongs to them, as imports do, and let them be
    found; their verdicts by id.

    Nobody else knows of them before this transaction ends, so nothing is locked.
    """
    if not examples:
        return {}
    ids = [example.id for example in examples]
    rows = {row["example_id"]: row for row in _standings(session, lambda column: column.in_(ids))}
    session.execute(insert(Standing), list(rows.values()))
    counts = [(example, _counts(rows[example.id])) for example in examples]
    contexts = select(Context.id, Context.tag).where(Context.id.in_({example.context_id for example in examples}))
    tags = {row.id: row.tag for row in session.execute(contexts)}
    sums: dict[tuple[tuple[str, Any], ...], dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for example, numbers in counts:
        total = sums[tuple((projections.tally_key(example) | {"tag": tags[example.context_id]}).items())]
        for name, number in numbers.items():
            total[name] += number
    tallies = [dict(key) | total for key, total in sums.items()]
    projections.judge_contexts(session, [(example.context_id, numbers) for example, numbers in counts])
    projections.add_to_tallies(session, tallies)
    arms = session.get_one(Round, examples[0].round_id).arms
    lines = ((row["round_id"], projections.describe_counts(row, arms)) for row in tallies)
    projections.note_changes(session, ((None, (), round_id, line) for round_id, line in lines))
    index_written(session, ids)
    return {id: row["verdict"] for id, row in rows.items()}


def _standings(session: Session, some: Some) -> list[dict[str, Any]]:
    configs: dict[int, tuple[TaskConfig, str]] = {}
    hidings = select(Hiding.example_id, Hiding.hidden).where(some(Hiding.example_id)).order_by(Hiding.id)
    hidden = {row.example_id: row.hidden for row in session.execute(hidings)}  # the latest counts
    retracted = set(session.scalars(select(Retraction.example_id).where(some(Retraction.example_id))))
    away = select(ReleasedExample.example_id).where(ReleasedExample.part.in_(WITHHELD))
    withheld = set(session.scalars(away.where(some(ReleasedExample.example_id))))
    flags: dict[int, list[bool | None]] = defaultdict(list)
    predictions = select(Prediction.example_id, Prediction.errs).where(some(Prediction.example_id))
    for example_id, flag in session.execute(predictions):
        flags[example_id].append(flag)
    votes: dict[int, list[Row[Any]]] = defaultdict(list)
    for vote in session.execute(_votes(some)):
        votes[vote.example_id].append(vote)
    columns = (Example.id, Example.round_id, Example.author_id, Example.fooled)
    rows = []
    selected: Select[*tuple[Any, ...]] = select(*columns).where(some(Example.id)).order_by(Example.id)
    for example in session.execute(selected):
        if example.round_id not in configs:
            round = session.get_one(Round, example.round_id)
            configs[round.id] = rounds.config_of(session, round.version_id), round.fooled_when
        row = _standing(
            *configs[example.round_id],
            example,
            flags.get(example.id, []),
            votes.get(example.id, []),
            retracted=example.id in retracted,
            hidden=hidden.get(example.id, False),
        )
        rows.append(row | {"withheld": example.id in withheld})
    return rows


def _votes(some: Some) -> Select[*tuple[Any, ...]]:
    """Select all votes on some examples with whether they were undone, in order: index ranges."""
    undone = aliased(Undo)
    names = ("example_id", "person_id", "vote", "by_owner", "weight", "blind_answer")
    return (
        select(*(getattr(Validation, name) for name in names), undone.validation_id.is_not(None).label("undone"))
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(some(Validation.example_id), ~CONTROL)
        .order_by(Validation.id)
    )


def _standing(
    config: TaskConfig,
    together: str,
    example: Row[Any],
    flags: list[bool | None],
    votes: list[Row[Any]],
    *,
    retracted: bool,
    hidden: bool,
) -> dict[str, Any]:
    rule = config.validation
    counted = [vote for vote in votes if not vote.undone]
    ballots = [Vote(vote.vote, vote.by_owner, vote.weight) for vote in counted]
    decided = str(verdict(ballots, rule.votes, rule.adjudicate_up_to))
    blind = _blind(votes)
    fooled = _fooled(config, together, example, flags, decided)
    state: dict[str, Any] = {"fooled": fooled, "verdict": decided, "retracted": retracted, "hidden": hidden}
    return state | {
        "example_id": example.id,
        "round_id": example.round_id,
        "author_id": example.author_id,
        "votes": len(counted),
        "open": projections.is_open(config, targets=len(flags), **state),
        "draw": projections.draw(example.id),
        "blind": len(blind),
        "blind_right": sum(vote.vote == Verdict.CORRECT for vote in blind),
        "targets": len(flags),
        "targets_right": flags.count(False),
    }


def _fooled(
    config: TaskConfig, together: str, example: Row[Any], flags: list[bool | None], decided: str
) -> bool | None:
    """Return whether an example fooled the models, None where that is not known.

    Depending on the task, the rule decides at once, or the author by judging each answer, or the verdict.
    """
    if not flags or config.fooled.judged_by is None:
        return cast(bool | None, example.fooled)
    if config.fooled.judged_by == "validators":
        return model_was_wrong(Verdict(decided))
    return ensemble_fooled(cast(EnsembleRule, together), flags)


def _blind(votes: list[Row[Any]]) -> list[Row[Any]]:
    first: dict[int, Row[Any]] = {}
    for vote in votes:
        first.setdefault(vote.person_id, vote)
    return [vote for vote in first.values() if vote.blind_answer is not None and not vote.undone]


def _counts(row: dict[str, Any]) -> dict[str, int]:
    names = ("fooled", "verdict", "retracted", "hidden")
    return projections.tally_counts(**{name: row[name] for name in names})
