"""Time on task of a person, and the hourly pay that follows from it.

A spell is the time from the moment that something was handed to a person to the moment that they sent it. Of a spell
the part counts in which the page was in sight and a key or pointer was used within the last minute, as the page
measured it. Where no page measured (programs, browsers without JavaScript) the whole spell counts up to
`UNMEASURED_MOST`. Tries on one hand-out are one spell. Spells that overlap, such as in two tabs, never count for more
than the time that passed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, Standing
from dynabench.pay.money import Money, round_minor
from dynabench.validation.tables import Validation

UNMEASURED_MOST = 600.0
"""Seconds that count of a spell which no page measured; a person who leaves a page open does no work."""
SHORTEST = 60.0
"""Seconds of work below which no hourly pay is shown: it would say nothing."""


@dataclass(frozen=True)
class Spell:
    """A spell of work that ended at `end`: `seconds` passed, and the page measured work in `active` of them, if it did.

    `seconds` is None where even the beginning is unknown.
    """

    end: datetime
    seconds: float | None
    active: float | None


def working_seconds(spells: Sequence[Spell]) -> float:
    """Return the seconds that a person worked in their spells."""
    total = sum(_counted(spell) for spell in spells)
    return min(total, _union(spells))


def _counted(spell: Spell) -> float:
    passed = max(spell.seconds or 0.0, 0.0)
    if spell.active is None:
        return min(passed, UNMEASURED_MOST)
    return min(max(spell.active, 0.0), passed)


def _union(spells: Sequence[Spell]) -> float:
    """The length of the union of the spells, in seconds."""
    intervals = sorted((spell.end - timedelta(seconds=spell.seconds), spell.end) for spell in spells if spell.seconds)
    length, until = 0.0, None
    for start, end in intervals:
        if until is None or start >= until:
            length, until = length + (end - start).total_seconds(), end
        elif end > until:
            length, until = length + (end - until).total_seconds(), end
    return length


def hourly_pay(amount: Money, seconds: float) -> Money | None:
    """Return what an amount is per hour of work; None where less than a minute of work is known."""
    if seconds < SHORTEST:
        return None
    return Money(round_minor(Decimal(amount.minor) * 3600 / Decimal(str(round(seconds, 3)))), amount.currency)


def time_on_task(session: Session, round_id: int, person_ids: Iterable[int] | None = None) -> Mapping[int, float]:
    """Return the seconds that people worked in a round, by person; of everybody for None. Reads two index ranges."""
    chosen = None if person_ids is None else list(person_ids)
    spells: dict[int, list[Spell]] = defaultdict(list)
    for statement in (_writing(round_id, chosen), _checking(round_id, chosen)):
        for row in session.execute(statement):
            spells[row.person].append(Spell(row.end, row.seconds, row.active))
    return {person: working_seconds(of_person) for person, of_person in spells.items()}


def _writing(round_id: int, person_ids: Sequence[int] | None) -> Select[*tuple[Any, ...]]:
    statement = (
        select(
            Example.author_id.label("person"),
            func.max(Example.at).label("end"),
            func.max(Example.seconds).label("seconds"),
            func.max(Example.active_seconds).label("active"),
        )
        .where(Example.round_id == round_id)
        .group_by(Example.handout_id, Example.author_id)
    )
    return statement if person_ids is None else statement.where(Example.author_id.in_(person_ids))


def _checking(round_id: int, person_ids: Sequence[int] | None) -> Select[*tuple[Any, ...]]:
    columns = (
        Validation.person_id.label("person"),
        Validation.at.label("end"),
        Validation.seconds.label("seconds"),
        Validation.active_seconds.label("active"),
    )
    statement = select(*columns).join(Standing, Standing.example_id == Validation.example_id)
    statement = statement.where(Standing.round_id == round_id)
    return statement if person_ids is None else statement.where(Validation.person_id.in_(person_ids))
