"""Every `select` over votes, places and the queue of examples that wait for them, with its cost."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Delete,
    Select,
    case,
    delete,
    exists,
    func,
    select,
    text,
)
from sqlalchemy.orm import aliased

from dynabench.collection.tables import Example, Hiding, Prediction, Standing, Tally, VerdictEvent
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban
from dynabench.rounds.tables import RoundState
from dynabench.validation.controls.tables import ControlAnswer
from dynabench.validation.tables import Dismissal, Reservation, Undo, Validation

VALIDATED = (RoundState.OPEN, RoundState.CLOSED)  # states of a round in which its examples may be voted on

# Both databases use the partial index only where the query says exactly what the index says.
OPEN = text("standings.open")

MODES = ("judge", "answer")
BLIND = Reservation.mode == "answer"

UNDONE = exists().where(Undo.validation_id == Validation.id)
"""The vote counts no more, since its validator took it back or an owner excluded it."""
TAKEN_BACK = exists().where(Undo.validation_id == Validation.id, ~Undo.excluded)
"""The vote was taken back by its validator; excluded votes stay on the validator's own record."""
CONTROL = exists().where(ControlAnswer.validation_id == Validation.id)
"""The vote answers a control item: it counts for no example, and is marked as undone from the start."""
CONTROL_STANDS = exists().where(ControlAnswer.validation_id == Validation.id, ~ControlAnswer.taken_back)
"""The same, unless its validator took it back."""


def votes(example_id: int) -> Select[Validation]:
    """The votes that stand on one example, in the order in which they were cast: one index range."""
    return select(Validation).where(Validation.example_id == example_id, ~UNDONE).order_by(Validation.id)


def votes_ever(example_id: int, person_id: int) -> Select[Validation]:
    """All votes of one person on one example, undone ones too, oldest first: one index range."""
    mine = (Validation.person_id == person_id, Validation.example_id == example_id, ~CONTROL)
    return select(Validation).where(*mine).order_by(Validation.id)


def latest_vote(person_id: int) -> Select[Validation]:
    """The last vote of a person that stands, answers to controls among them: walks back from their newest one."""
    return (
        select(Validation)
        .where(Validation.person_id == person_id, ~UNDONE | CONTROL_STANDS)
        .order_by(Validation.at.desc(), Validation.id.desc())
        .limit(1)
    )


def own_votes(example_id: int, person_id: int) -> Select[Validation]:
    """The votes of one person on one example that the person did not take back: one index range."""
    mine = (Validation.person_id == person_id, Validation.example_id == example_id)
    return select(Validation).where(*mine, ~TAKEN_BACK).order_by(Validation.id)


def last_weight(person_id: int, round_id: int) -> Select[float | None]:
    """Select the weight of a person's latest vote in a round: walks back over the person's own votes."""
    return (
        select(Validation.weight)
        .join(Standing, Standing.example_id == Validation.example_id)
        .where(Validation.person_id == person_id, Standing.round_id == round_id, Validation.weight.is_not(None))
        .order_by(Validation.at.desc(), Validation.id.desc())
        .limit(1)
    )


def votes_since(person_id: int, at: datetime) -> Select[int]:
    """Select the number of a person's votes since `at` that the person did not take back: one index range.

    Answers to controls are among them, so that the number does not tell them apart.
    """
    mine = (Validation.person_id == person_id, Validation.at >= at)
    return select(func.count()).select_from(Validation).where(*mine, ~TAKEN_BACK | CONTROL_STANDS)


def places_taken(example_id: int, person_id: int, at: datetime) -> Select[int]:
    """Select the number of other people who hold a live place on an example: one range of the primary key."""
    others = (Reservation.example_id == example_id, Reservation.person_id != person_id)
    return select(func.count()).select_from(Reservation).where(*others, Reservation.expires_at > at)


def old_reservations(person_id: int, at: datetime) -> Delete:
    """A person's blind places that ran out before `at`, to be removed: one range over their own.

    Those of judges stay: they tell for good that the claim was seen.
    """
    stale = delete(Reservation).where(Reservation.person_id == person_id, BLIND, Reservation.expires_at < at)
    return stale.execution_options(synchronize_session=False)  # read nothing of them before or after


def predictions(example_id: int) -> Select[Prediction]:
    """Select the targets' predictions on an example: one index range, a handful of rows."""
    return select(Prediction).where(Prediction.example_id == example_id).order_by(Prediction.position)


def flags_on(example_ids: Sequence[int]) -> Select[Validation, Person]:
    """The votes that flag some examples and stand, with who cast them: one index range per example."""
    return (
        select(Validation, Person)
        .join(Person, Person.id == Validation.person_id)
        .where(Validation.example_id.in_(example_ids), Validation.vote == "flagged", ~UNDONE)
        .order_by(Validation.id)
    )


def all_votes(example_id: int) -> Select[Validation, Person, bool | None]:
    """All votes on an example with their validators; `excluded` is null where a vote counts. One index range."""
    undone = aliased(Undo)
    return (
        select(Validation, Person, undone.excluded)
        .join(Person, Person.id == Validation.person_id)
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(Validation.example_id == example_id, ~CONTROL)
        .order_by(Validation.id)
    )


def hidings_of(example_ids: Sequence[int]) -> Select[Hiding, Person | None]:
    """Select when some examples were hidden and shown again, and by whom: one index range per example."""
    mine = select(Hiding, Person).outerjoin(Person, Person.id == Hiding.by)
    return mine.where(Hiding.example_id.in_(example_ids)).order_by(Hiding.id)


def dismissals_of(example_ids: Sequence[int]) -> Select[Dismissal, Person | None]:
    """Select when flags on some examples were dismissed or reopened, and by whom.

    Cost: one index range per example.
    """
    mine = select(Dismissal, Person).outerjoin(Person, Person.id == Dismissal.by)
    return mine.where(Dismissal.example_id.in_(example_ids)).order_by(Dismissal.id)


def last_dismissal(example_id: int) -> Select[Dismissal]:
    """The latest dismissal of an example's flags: one index range."""
    return select(Dismissal).where(Dismissal.example_id == example_id).order_by(Dismissal.id.desc()).limit(1)


def bans_of(task_id: str, person_ids: Sequence[int]) -> Select[int, str]:
    """Select which of some people are banned from a task, and why: one probe each."""
    return select(Ban.person_id, Ban.reason).where(Ban.task_id == task_id, Ban.person_id.in_(person_ids))


def verdict_events(example_id: int) -> Select[VerdictEvent]:
    """Select the changes of the verdict on an example: one index range."""
    return select(VerdictEvent).where(VerdictEvent.example_id == example_id).order_by(VerdictEvent.id)


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
