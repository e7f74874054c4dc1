"""Every `select` over counts of people and rounds, and what pages show beside them, with its cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Any
from urllib.parse import quote

from sqlalchemy import ColumnElement, Select, case, func, select, text, true, tuple_
from sqlalchemy.orm import Session

from dynabench.collection.figure_schemas import BoardPage, BoardRow, FigureRateOut
from dynabench.collection.tables import Example, ExampleSource, Standing, Tally
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds import plan
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.rates import wilson
from dynabench.stats.verdict import Verdict

Arms = Sequence[tuple[int, str]]
"""Pairs of a round's id and the name of an arm."""


def _sums() -> list[ColumnElement[Any]]:
    names = ("examples", "fooled", "validated", "resolved", "retracted", "hidden", "unknown")
    return [func.coalesce(func.sum(getattr(Tally, name)), 0).label(name) for name in names]


def _outside_arms(but: Arms) -> ColumnElement[bool]:
    return tuple_(Tally.round_id, Tally.arm).not_in(but) if but else true()


def own_tally(
    person_id: int, round_id: int, day: str | None = None, but: Arms = (), *, alone: bool = False
) -> Select[Any]:
    """One person's counts in a round (on one UTC day where given): one index range, a few rows.

    `but` are arms to leave out, as in `ranked_people` and `sums`: those in which no model is asked. What their
    programs wrote counts with the rest, since limits are for people with all that they run; `alone` leaves it out.
    """
    query = select(*_sums()).where(Tally.round_id == round_id, Tally.person_id == person_id, _outside_arms(but))
    query = query.where(Tally.source != ExampleSource.PROGRAM) if alone else query
    return query if day is None else query.where(Tally.day == day)


def ranked_people(round_id: int, but: Arms = ()) -> Select[Any]:
    """Each person's counts in a round, best first: one index range of the projection, not of the examples.

    Best is most validated fooling examples, then most fooling ones, then fewest tries. Programs are left out.
    """
    validated, fooled = func.sum(Tally.validated), func.sum(Tally.fooled)
    source = func.max(
        case((Tally.source == ExampleSource.OWNER, 2), (Tally.source == ExampleSource.EXPERT, 1), else_=0)
    ).label("source")
    return (
        select(Person, *_sums(), source)
        .join(Person, Person.id == Tally.person_id)
        .where(Tally.round_id == round_id, Tally.source != ExampleSource.PROGRAM, _outside_arms(but))
        .group_by(Person.id)
        .having(func.sum(Tally.examples) > 0)
        .order_by(validated.desc(), fooled.desc(), func.sum(Tally.examples), Person.id)
    )


def people_before(round_id: int, own: Any, but: Arms = ()) -> Select[int, int]:
    """Select how many people a round's board has, and how many stand before the counts `own`: one index range of the
    projection, counted by the database."""
    sums_by_person = (
        select(*_sums())
        .where(Tally.round_id == round_id, Tally.source != ExampleSource.PROGRAM, _outside_arms(but))
        .group_by(Tally.person_id)
        .having(func.sum(Tally.examples) > 0)
        .subquery()
    )
    row = sums_by_person.c
    fools_more = (row.validated == own.validated) & (row.fooled > own.fooled)
    tries_less = (row.validated == own.validated) & (row.fooled == own.fooled) & (row.examples < own.examples)
    before = (row.validated > own.validated) | fools_more | tries_less
    return select(func.count(), func.sum(case((before, 1), else_=0))).select_from(sums_by_person)


def latest_fooled(person_id: int, round_id: int, limit: int) -> Select[bool | None]:
    """Select whether each of a person's latest examples of a round fooled, newest first.

    Only examples for which that is known count. One index range of about `limit` rows, and one standing for
    each.
    """
    return (
        select(Standing.fooled)
        .join(Example, Example.id == Standing.example_id)
        .where(Example.author_id == person_id, Example.round_id == round_id, Example.source != ExampleSource.PROGRAM)
        .where(Standing.fooled.is_not(None), ~Standing.retracted, ~Standing.hidden)
        .order_by(Example.id.desc())
        .limit(limit)
    )


def sums(round_ids: list[int], but: Arms = ()) -> Select[Any]:
    """People's counts of each round, with how many people: one range of the projection for each."""
    return (
        select(Tally.round_id, *_sums(), func.count(Tally.person_id.distinct()).label("people"))
        .where(Tally.round_id.in_(round_ids), Tally.source != ExampleSource.PROGRAM, _outside_arms(but))
        .group_by(Tally.round_id)
    )


def people(round_ids: list[int]) -> Select[int]:
    """Select the number of people who wrote in any of the rounds.

    It costs as much as `sums`.
    """
    return select(func.count(Tally.person_id.distinct())).where(
        Tally.round_id.in_(round_ids), Tally.source != ExampleSource.PROGRAM
    )


def waiting(round_id: int) -> Select[int]:
    """Select the number of examples of a round that wait for votes.

    One range of the partial index of the queue.
    """
    return select(func.count()).select_from(Standing).where(Standing.round_id == round_id, text("standings.open"))


def waiting_by_round(round_ids: Sequence[int]) -> Select[int, int]:
    """Select the number of examples that wait for votes in each round that has any: the partial index of the queue."""
    open_queue = (Standing.round_id.in_(round_ids), text("standings.open"))
    return select(Standing.round_id, func.count()).where(*open_queue).group_by(Standing.round_id)


def examples_since(round_ids: Sequence[int], day: str) -> Select[int, int]:
    """Select the number of examples that people wrote in each round since a UTC day: the rounds' tallies."""
    recent = (Tally.round_id.in_(round_ids), Tally.day >= day, Tally.source != ExampleSource.PROGRAM)
    return select(Tally.round_id, func.sum(Tally.examples)).where(*recent).group_by(Tally.round_id)


def people_since(round_ids: Sequence[int], day: str) -> Select[int]:
    """Select the number of people who wrote in any of the rounds since a UTC day: as much as `people`."""
    recent = (Tally.round_id.in_(round_ids), Tally.day >= day, Tally.source != ExampleSource.PROGRAM)
    return select(func.count(Tally.person_id.distinct())).where(*recent)


def newest_authors(limit: int) -> Select[int, datetime]:
    """Select author and time of the newest examples that people wrote: the end of the ledger's key."""
    mine = select(Example.author_id, Example.at).where(Example.source != ExampleSource.PROGRAM)
    return mine.order_by(Example.id.desc()).limit(limit)


def last_round_of(person_id: int) -> Select[Round]:
    """The round in which a person wrote last: the end of each of their ranges of the index."""
    last = select(func.max(Example.id)).where(Example.author_id == person_id).scalar_subquery()
    return select(Round).join(Example, Example.round_id == Round.id).where(Example.id == last)


def blind_sums(round_ids: Sequence[int], but: Arms = ()) -> Select[int, int, int]:
    """Select the blind answers of each round and how many are right, on the items of `statistics.human_accuracy`.

    The partial index over answered items, one probe of the ledger for each.
    """
    return (
        select(Standing.round_id, func.sum(Standing.blind), func.sum(Standing.blind_right))
        .join(Example, Example.id == Standing.example_id)
        .where(Standing.round_id.in_(round_ids), text("standings.blind > 0"), ~Standing.retracted, ~Standing.hidden)
        .where(Standing.fooled.is_not(None) | (Standing.targets == 0), Standing.verdict != str(Verdict.FLAGGED))
        .where(Example.source != ExampleSource.PROGRAM)
        .where(tuple_(Example.round_id, Example.arm).not_in(but) if but else true())
        .group_by(Standing.round_id)
    )


def votes(round_ids: list[int]) -> Select[int]:
    """Select the number of votes in the rounds.

    It reads all of their standings, so callers keep the result for seconds.
    """
    return select(func.coalesce(func.sum(Standing.votes), 0)).where(Standing.round_id.in_(round_ids))


def verified(tasks: Sequence[str]) -> Select[Example, Standing, Round]:
    """Examples of some tasks that people wrote, that fooled and were found correct, the newest first.

    With a limit it walks standings down from the newest: as long as some are being verified this ends after a few rows.
    """
    return (
        select(Example, Standing, Round)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .where(Standing.fooled.is_(True), Standing.verdict == "correct", disclosure.shown_examples(Standing))
        .where(Round.task_id.in_(tasks), Example.source != ExampleSource.PROGRAM)
        .order_by(Standing.example_id.desc())
    )


def released_tasks(person_id: int) -> Select[str]:
    """Select the tasks with a released round in which a person wrote: the person's tallies."""
    mine = select(Tally.round_id).where(Tally.person_id == person_id)
    return select(Round.task_id).where(Round.id.in_(mine), Round.state == RoundState.RELEASED).distinct()


SOURCES = (ExampleSource.PERSON, ExampleSource.EXPERT, ExampleSource.OWNER)
STREAK = 100  # longer streaks are shown as this many


def rate(k: int, n: int) -> FigureRateOut:
    """k of n with its 95 % Wilson interval."""
    interval = wilson(k, n)
    return FigureRateOut(value=interval.value, low=interval.low, high=interval.high)


def controls(rounds: Iterable[Round]) -> list[tuple[int, str]]:
    """The arms of rounds in which no model is asked: figures about models leave them out."""
    return [(round_.id, name) for round_ in rounds for name in sorted(plan.arms_without_targets(round_.arms))]


def board(session: Session, round_: Round, viewer: Person | None, after: int = 0, limit: int = 50) -> BoardPage:
    """A page of the round's board, from rank `after` + 1 on; people equal in all three counts share a rank.

    Examples of arms in which no model is asked are left out: nobody could be fooled.
    """
    rows = session.execute(ranked_people(round_.id, controls([round_]))).all()
    items: list[BoardRow] = []
    rank, before = 0, None
    for place, row in enumerate(rows, start=1):
        key = (row.validated, row.fooled, row.examples)
        rank, before = (rank, before) if key == before else (place, key)
        if after < place <= after + limit:
            items.append(_row(row, rank, viewer))
    return BoardPage(items=items, next=str(after + limit) if len(rows) > after + limit else None)


def _row(row: object, rank: int, viewer: Person | None) -> BoardRow:
    person: Person = row.Person  # type: ignore[attr-defined]
    counts = {name: int(getattr(row, name)) for name in ("examples", "fooled", "validated", "resolved", "unknown")}
    return BoardRow(
        rank=rank,
        name=person.public_name,
        source=SOURCES[row.source],  # type: ignore[attr-defined]
        mer=rate(counts["fooled"], counts["examples"] - counts["unknown"]),
        mine=viewer is not None and viewer.id == person.id,
        profile=f"/people/{quote(person.public_name, safe='')}" if disclosure.shows_profile(None, person) else "",
        **counts,
    )


def place_from(cursor: str) -> int:
    """The place that a board's cursor stands for."""
    if not cursor:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise errors.Invalid({"after": _("Give the `next` value of an earlier page.")})
    return int(cursor)


@dataclass(frozen=True)
class Mine:
    """A person's own figures in a round.

    `streak` counts their latest examples that fooled in a row, `outcome_known` those with a known outcome.
    """

    examples: int
    fooled: int
    outcome_known: int
    validated: int
    today: int
    streak: int
    mer: FigureRateOut


@dataclass(frozen=True)
class RoundRank:
    """The rank of one person among the `people` of a round."""

    rank: int
    people: int


def place_of(session: Session, person: Person, round_: Round) -> RoundRank | None:
    """Return a person's rank as the round's board gives it; None before the first example. Costs two statements."""
    but = controls([round_])
    own = session.execute(own_tally(person.id, round_.id, but=but, alone=True)).one()
    if not own.examples:
        return None
    people_count, better = session.execute(people_before(round_.id, own, but)).one()
    return RoundRank(1 + int(better or 0), int(people_count))


def mine(session: Session, person: Person, round_: Round) -> Mine:
    """Return a person's own figures in a round; `today` is the UTC day."""
    counts = session.execute(own_tally(person.id, round_.id, but=controls([round_]), alone=True)).one()
    today = session.execute(own_tally(person.id, round_.id, now().date().isoformat(), alone=True)).one()
    latest = session.scalars(latest_fooled(person.id, round_.id, STREAK))
    return Mine(
        examples=int(counts.examples),
        fooled=int(counts.fooled),
        outcome_known=int(counts.examples - counts.unknown),
        validated=int(counts.validated),
        today=int(today.examples),
        streak=len(list(takewhile(bool, latest))),
        mer=rate(int(counts.fooled), int(counts.examples - counts.unknown)),
    )
