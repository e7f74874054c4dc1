"""The ranking of the hall of fame: of this week or of all time, of one task or of all.

Only people with public profiles are listed, and only those with enough examples get a rank. Nothing is kept: a person
who hides the profile is gone from the next page on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import ExampleSource, Tally
from dynabench.kit.db import now
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.recognition.badges import events
from dynabench.recognition.badges.definitions import WEEKLY_WINNER
from dynabench.recognition.badges.tables import BadgeAward
from dynabench.recognition.records import COUNTS
from dynabench.rounds.tables import Round
from dynabench.stats.rates import ErrorCounts, ErrorRates, error_rates


class HallPeriod(StrEnum):
    """The time that is ranked: the present week from Monday on (UTC), or all time."""

    WEEK = "week"
    ALL = "all"


class HallOrder(StrEnum):
    """The order of the ranking: by verified fooling examples, or by the lower end of vMER's interval."""

    VERIFIED = "verified"
    VMER = "vmer"


LEAST_EXAMPLES = {HallPeriod.WEEK: 5, HallPeriod.ALL: 20}
"""Examples with a known outcome that a rank needs, so that a few lucky ones give none."""


@dataclass(frozen=True)
class HallQuery:
    """A question to the hall of fame; `task_id` and `text` are empty for all."""

    period: HallPeriod = HallPeriod.ALL
    order: HallOrder = HallOrder.VERIFIED
    task_id: str = ""
    text: str = ""


@dataclass(frozen=True)
class HallRow:
    """A person with counts; `rank` is None where there are too few examples for one."""

    rank: int | None
    name: str
    counts: ErrorCounts

    @property
    def rates(self) -> ErrorRates:
        """MER and vMER with Wilson intervals."""
        return error_rates(self.counts)


@dataclass(frozen=True)
class HallPage:
    """Some rows of the ranking; `next` is the number of rows before the page that follows, None on the last page."""

    rows: Sequence[HallRow]
    count: int
    next: int | None


def this_monday() -> date:
    """Return the Monday of the present week, UTC."""
    today = now().date()
    return today - timedelta(days=today.weekday())


def read_hall(session: Session, query: HallQuery, after: int = 0, limit: int = 50) -> HallPage:
    """Return rows of the ranking from the place `after` on; ranks are those among all, whatever `text` looks for."""
    rows = rank_people(session, query)
    words = query.text.casefold().split()
    matches = [row for row in rows if all(word in row.name.casefold() for word in words)]
    following = after + limit if len(matches) > after + limit else None
    return HallPage(matches[after : after + limit], len(matches), following)


def rank_people(session: Session, query: HallQuery) -> list[HallRow]:
    """Return all rows, best first, those without a rank last. People equal in what is ranked share a rank.

    Cost: the tallies of people with public profiles, of one task where it is named.
    """
    people = [
        (name or username, ErrorCounts(*map(int, sums)))
        for name, username, *sums in session.execute(_select_sums(query))
    ]
    enough = LEAST_EXAMPLES[query.period]
    ranked: list[tuple[tuple[float, float], str, ErrorCounts]] = []
    others: list[tuple[tuple[float, float], str, ErrorCounts]] = []
    for name, counts in people:
        low = error_rates(counts).vmer.low or 0.0
        key: tuple[float, float] = (
            (counts.validated, low) if query.order is HallOrder.VERIFIED else (low, counts.validated)
        )
        (ranked if counts.with_outcome >= enough and counts.validated else others).append((key, name, counts))
    rows: list[HallRow] = []
    for pairs in (ranked, others):
        pairs.sort(key=lambda item: ([-value for value in item[0]], item[1].casefold()))
    rank, before = 0, None
    for place, (key, name, counts) in enumerate(ranked, start=1):
        rank, before = (rank, before) if key == before else (place, key)
        rows.append(HallRow(rank, name, counts))
    return rows + [HallRow(None, name, counts) for _key, name, counts in others]


def _select_sums(query: HallQuery) -> Select[*tuple[str, ...]]:
    sums = [func.sum(getattr(Tally, name)) for name in COUNTS]
    statement = (
        select(Person.pseudonym, Person.username, *sums)
        .join(Tally, Tally.person_id == Person.id)
        .where(disclosure.public_profiles(Person), Tally.source != ExampleSource.PROGRAM)
        .group_by(Person.id)
        .having(func.sum(Tally.examples) > 0)
    )
    if query.task_id:
        statement = statement.join(Round, Round.id == Tally.round_id).where(Round.task_id == query.task_id)
    if query.period is HallPeriod.WEEK:
        statement = statement.where(Tally.day >= this_monday().isoformat())
    return statement


@dataclass(frozen=True)
class WeekWinners:
    """The winners of the last week that is decided, by their public names; those with private profiles are left out."""

    monday: date
    names: Sequence[str]


def read_winners(session: Session) -> WeekWinners:
    """Return the winners of the last decided week whose profiles are public."""
    monday = events.last_decided_week(now().date())
    winners = (
        select(Person)
        .join(BadgeAward, BadgeAward.person_id == Person.id)
        .where(BadgeAward.badge == WEEKLY_WINNER, BadgeAward.subject == monday.isoformat())
        .where(disclosure.public_profiles(Person))
        .order_by(BadgeAward.id)
    )
    return WeekWinners(monday, [person.public_name for person in session.scalars(winners)])


def find_people(session: Session, text: str, limit: int) -> tuple[int, list[str]]:
    """Return how many people with public profiles have all words of a text in their public name, and the first names.

    Names that begin with the text come first.
    """
    words = text.casefold().split()
    if not words:
        return 0, []
    public_name = func.coalesce(func.nullif(Person.pseudonym, ""), Person.username)
    statement = select(public_name).where(disclosure.public_profiles(Person))
    for word in words:
        statement = statement.where(func.lower(public_name).contains(word, autoescape=True))
    names = sorted(
        session.scalars(statement),
        key=lambda name: (not name.casefold().startswith(text.strip().casefold()), name.casefold()),
    )
    return len(names), names[:limit]
