"""Every `select` of the console's own, with its cost."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, case, func, select

from dynabench.collection.tables import Example, Standing, Tally
from dynabench.validation.tables import Undo, Validation


def days(round_id: int, since: str) -> Select[Any]:
    """Sums of a round's tallies by day, arm and source from the day `since` on: one range of the projection's primary
    key, a row per person and day."""
    sums = [
        func.sum(getattr(Tally, name)).label(name) for name in ("examples", "fooled", "resolved", "hidden", "unknown")
    ]
    return (
        select(Tally.day, Tally.arm, Tally.source, *sums)
        .where(Tally.round_id == round_id, Tally.day >= since)
        .group_by(Tally.day, Tally.arm, Tally.source)
    )


def people(round_id: int, since: str, sources: Sequence[str]) -> Select[str, int]:
    """Select the number of people who wrote on each day from `since` on; same cost as `days`."""
    return (
        select(Tally.day, func.count(Tally.person_id.distinct()))
        .where(Tally.round_id == round_id, Tally.day >= since, Tally.source.in_(sources), Tally.examples > 0)
        .group_by(Tally.day)
    )


def checked(round_id: int, newest: int) -> Select[Any]:
    """Of the `newest` examples of a round those with votes: when each was written, its votes, how many kinds of them,
    and whether one flags it. One index range, walked back, and two probes for each example in it."""
    lately = (
        select(Example.id, Example.at)
        .where(Example.round_id == round_id)
        .order_by(Example.id.desc())
        .limit(newest)
        .subquery()
    )
    undone = select(Undo.validation_id).where(Undo.validation_id == Validation.id).exists()
    return (
        select(
            lately.c.at,
            func.count().label("votes"),
            func.count(Validation.vote.distinct()).label("kinds"),
            func.max(case((Validation.vote == "flagged", 1), else_=0)).label("flagged"),
        )
        .join(Standing, Standing.example_id == lately.c.id)
        .join(Validation, Validation.example_id == lately.c.id)
        .where(~undone, ~Standing.retracted, ~Standing.hidden)
        .group_by(lately.c.id, lately.c.at)
    )
