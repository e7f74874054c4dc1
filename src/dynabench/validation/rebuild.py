"""Counting everything again from the ledger: what the projections must equal at any time."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, delete, func, insert, select, text, update
from sqlalchemy.orm import Session

from dynabench.collection import folding, notes, projections, search, terms
from dynabench.collection.tables import (
    WITHHELD,
    Example,
    Explanation,
    FlagReview,
    Prediction,
    ReleasedExample,
    Retraction,
    Standing,
    Tally,
)
from dynabench.kit.db import Database
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict, model_was_wrong, verdict
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules.base import EnsembleRule, ensemble_fooled
from dynabench.validation import moderation, places, queries
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Dismissal, Validation

PAGE = 1000


class Sums:
    """Counts by key, as they grow."""

    def __init__(self) -> None:
        self._by: dict[tuple[tuple[str, Any], ...], dict[str, int]] = defaultdict(
            lambda: dict.fromkeys(projections.COUNTS, 0)
        )

    def add(self, key: dict[str, Any], counts: dict[str, int]) -> None:
        """Add counts to those of `key`."""
        total = self._by[tuple(key.items())]
        for name, amount in counts.items():
            total[name] += amount

    def rows(self) -> list[dict[str, Any]]:
        """Keys with their sums."""
        return [dict(key) | counts for key, counts in self._by.items()]


def rebuild(session: Session, round_id: int) -> int:
    """Make the standings, tallies and breakdowns of a round anew from examples and all that was done to them.

    One pass in the order of ids, `PAGE` examples in memory at a time; others cannot count meanwhile. Returns how many
    examples there are.
    """
    if session.get_bind().dialect.name == "postgresql":  # voters lock rows before they write any: they wait outside
        session.execute(text("LOCK TABLE standings, tallies, breakdowns, example_changes IN EXCLUSIVE MODE"))
    config = rounds.config_of(session, session.get_one(Round, round_id).version_id)
    session.flush()
    session.execute(delete(Standing).where(Standing.round_id == round_id))
    session.execute(delete(Tally).where(Tally.round_id == round_id))
    tallies, total = Sums(), 0
    for page in _pages(session, round_id):
        for example, row in zip(page, _count(session, config, page), strict=True):
            tallies.add(projections.tally_key(example), _counts(row))
        total += len(page)
        session.expire_all()
    projections.add_to_tallies(session, tallies.rows())
    _judge_contexts(session, round_id)
    folding.rebuild(session, round_id, session.get_one(Round, round_id).arms)
    return total


def rebuild_all(database: Database, progress: Callable[[int, int], None] = lambda done, of: None) -> tuple[int, int]:
    """Make all that is counted anew, and the search index; how many examples and rounds there are.

    Each round in a transaction of its own, then the index in one, in which others can write nothing that it holds.
    `progress` is told the examples that are done, each of them twice.
    """
    counts = select(Round.id, func.count(Example.id)).outerjoin(Example, Example.round_id == Round.id)
    found = database.read(lambda session: session.execute(counts.group_by(Round.id).order_by(Round.id)).all())
    of, done = sum(size for _, size in found), 0
    for round_id, size in found:
        database.write(rebuild, round_id)
        done += size
        progress(done, 2 * of)
    database.write(reindex, lambda id, last: progress(of + of * id // max(last, 1), 2 * of))
    progress(2 * of, 2 * of)
    return of, len(found)


def _judge_contexts(session: Session, round_id: int) -> None:
    """Write the counts of good and failed fooling examples to the contexts of a round's examples.

    The counts are over the examples of all rounds.
    """
    session.flush()

    def counted(*verdicts: Verdict) -> Any:
        mine = select(func.count()).join(Example, Example.id == Standing.example_id).select_from(Standing)
        counts = (Standing.fooled.is_(True), ~Standing.retracted, ~Standing.hidden, Standing.verdict.in_(verdicts))
        return mine.where(Example.context_id == Context.id, *counts).correlate(Context).scalar_subquery()

    good = (Verdict.PENDING, Verdict.CORRECT)
    failed = [each for each in Verdict if each not in good]
    of_round = select(Example.context_id).where(Example.round_id == round_id)
    session.execute(
        update(Context)
        .where(Context.id.in_(of_round))
        .values(good=counted(*good), failed=counted(*failed))
        .execution_options(synchronize_session=False)
    )


def count_written(session: Session, config: TaskConfig, examples: Sequence[Example]) -> dict[int, str]:
    """Count examples of a round that were just written with all that belongs to them, as imports do, and let them be
    found; their verdicts by id.

    `config` is that of the round. Nobody else knows of them before this transaction ends, so nothing is locked.
    """
    rows, tags, sums = _count(session, config, examples), _tags(session, examples), Sums()
    for example, row in zip(examples, rows, strict=True):
        sums.add(projections.tally_key(example) | {"tag": tags[example.context_id]}, _counts(row))
    projections.judge_contexts(
        session, [(example.context_id, _counts(row)) for example, row in zip(examples, rows, strict=True)]
    )
    projections.add_to_tallies(session, sums.rows())
    if examples:
        arms = session.get_one(Round, examples[0].round_id).arms
        lines = ((row["round_id"], projections.describe_counts(row, arms)) for row in sums.rows())
        projections.note_changes(session, ((None, (), round_id, line) for round_id, line in lines))
    index_written(session, [example.id for example in examples])
    return {row["example_id"]: row["verdict"] for row in rows}


def _count(session: Session, config: TaskConfig, page: Sequence[Example]) -> list[dict[str, Any]]:
    rows = _standings(session, config, page)
    session.execute(insert(Standing), rows)
    return rows


def _pages(session: Session, round_id: int) -> Iterator[Sequence[Example]]:
    after = 0
    while page := session.scalars(queries.ledger_page(round_id, after, PAGE)).all():
        after = page[-1].id
        yield page


def _standings(session: Session, config: TaskConfig, page: Sequence[Example]) -> list[dict[str, Any]]:
    ids = [example.id for example in page]
    together = session.get_one(Round, page[0].round_id).fooled_when if page else "any"
    retracted = set(session.scalars(select(Retraction.example_id).where(Retraction.example_id.in_(ids))))
    hidden = {row.example_id: row.hidden for row in session.scalars(queries.ledger_hidings(ids))}  # the latest counts
    away = select(ReleasedExample.example_id).where(ReleasedExample.part.in_(WITHHELD))
    withheld = set(session.scalars(away.where(ReleasedExample.example_id.in_(ids))))
    wrong: dict[int, list[bool | None]] = defaultdict(list)
    predictions = select(Prediction.example_id, Prediction.errs).where(Prediction.example_id.in_(ids))
    for example_id, flag in session.execute(predictions):
        wrong[example_id].append(flag)
    votes: dict[int, list[tuple[Validation, bool]]] = defaultdict(list)
    for vote, undone in session.execute(queries.ledger_votes(ids)):
        votes[vote.example_id].append((vote, undone))
    return [
        _standing(
            config,
            together,
            example,
            wrong[example.id],
            votes[example.id],
            retracted=example.id in retracted,
            hidden=hidden.get(example.id, False),
        )
        | {"withheld": example.id in withheld}
        for example in page
    ]


def _standing(
    config: TaskConfig,
    together: str,
    example: Example,
    flags: list[bool | None],
    votes: list[tuple[Validation, bool]],
    *,
    retracted: bool,
    hidden: bool,
) -> dict[str, Any]:
    rule = config.validation
    counted = [vote for vote, undone in votes if not undone]
    decided = str(verdict(places.ballots(counted), rule.votes, rule.adjudicate_up_to))
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


def _fooled(config: TaskConfig, together: str, example: Example, flags: list[bool | None], decided: str) -> bool | None:
    """Return whether an example fooled the models, None where that is not known.

    Depending on the task, the rule decides at once, or the author by judging each answer, or the verdict.
    """
    if not flags or config.fooled.judged_by is None:
        return example.fooled
    if config.fooled.judged_by == "validators":
        return model_was_wrong(Verdict(decided))
    return ensemble_fooled(cast(EnsembleRule, together), flags)


def _blind(votes: list[tuple[Validation, bool]]) -> list[Validation]:
    first: dict[int, tuple[Validation, bool]] = {}
    for vote, undone in votes:
        first.setdefault(vote.person_id, (vote, undone))
    return [vote for vote, undone in first.values() if vote.blind_answer is not None and not undone]


def _counts(row: dict[str, Any]) -> dict[str, int]:
    names = ("fooled", "verdict", "retracted", "hidden")
    return projections.tally_counts(**{name: row[name] for name in names})


def _tags(session: Session, page: Sequence[Example]) -> dict[int, str]:
    ids = {example.context_id for example in page}
    found = session.execute(select(Context.id, Context.tag).where(Context.id.in_(ids)))
    return {row.id: row.tag for row in found}


BLOCK = 8192  # examples at once: a part of one block of the index

Some = Callable[[Any], ColumnElement[bool]]  # whether a column with ids of examples holds one of those meant


def reindex(session: Session, progress: Callable[[int, int], None] = lambda done, last: None) -> int:
    """Make all sets of the index anew; returns how many examples there are.

    One pass in the order of ids, `BLOCK` examples in memory at a time; others cannot write examples or votes meanwhile.
    `progress` is told the last id that is done and the last that there is.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE example_changes, search_postings IN SHARE ROW EXCLUSIVE MODE"))
    search.clear(session)
    last = session.scalar(select(func.max(Example.id))) or 0
    done = 0
    for first in range(0, last + 1, BLOCK):
        found = _news(session, lambda column, first=first: column.between(first, first + BLOCK - 1))  # type: ignore[misc]
        search.put(session, found)
        done += len(found)
        progress(min(first + BLOCK, last), last)
    return done


def index_written(session: Session, ids: Collection[int]) -> None:
    """Let examples be found that were just written with all that belongs to them, as imports do."""
    rows = _news(session, lambda column: column.in_(ids))
    projections.note_changes(session, ((example_id, new_terms, None, "") for example_id, new_terms in rows))


def _news(session: Session, some: Some) -> list[search.News]:
    said: dict[int, list[dict[str, Any]]] = defaultdict(list)
    explained = select(Explanation.example_id, Explanation.values.label("said"))
    for row in session.execute(explained.where(some(Explanation.example_id))):
        said[row.example_id].append(row.said)
    flags = select(Validation).where(Validation.vote == Verdict.FLAGGED, ~UNDONE)
    flagged: dict[int, list[Validation]] = defaultdict(list)
    for vote in session.scalars(flags.where(some(Validation.example_id))):
        flagged[vote.example_id].append(vote)
    looked = set(session.scalars(select(Dismissal.example_id).where(some(Dismissal.example_id))))
    marks = notes.marks(session, some)
    origins = set(session.scalars(select(Example.made_from).where(some(Example.made_from))))
    news: list[search.News] = []
    for row in session.execute(_rows(some)):
        at_all = row.id in flagged or row.id in looked
        review = moderation.review(session, row.id, flagged[row.id]) if at_all else FlagReview.NONE
        told = {name: getattr(row, name) for name in ("verdict", "retracted", "hidden")}
        told |= {"flagged": review != FlagReview.NONE, "perturbed": row.id in origins, "review": review}
        found = terms.describe(row, explanations=said[row.id], noted=row.id in marks.noted, **told)
        news.append((row.id, [*found, *marks.labels[row.id]]))
    return news


def _rows(some: Some) -> Select[Any]:
    """Only the columns that the index describes."""
    return (
        select(
            *(getattr(Example, name) for name in ("id", *terms.WRITTEN) if name != "fooled"),
            *(Standing.fooled, Standing.verdict, Standing.retracted, Standing.hidden),
            *(Round.task_id, Round.number.label("round")),
            *(Context.values.label("context"), Context.tag),
        )
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .where(some(Example.id))
        .order_by(Example.id)
    )
