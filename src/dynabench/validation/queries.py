"""Every `select` over votes, places and the queue of examples that wait for them, with its cost."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    Delete,
    Select,
    delete,
    exists,
    func,
    select,
    text,
)
from sqlalchemy.orm import aliased

from dynabench.collection.tables import Example, Hiding, Prediction, VerdictEvent
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban
from dynabench.rounds.tables import RoundState
from dynabench.validation.tables import Dismissal, Reservation, Undo, Validation

VALIDATED = (RoundState.OPEN, RoundState.CLOSED)  # states of a round in which its examples may be voted on

# Both databases use the partial index only where the query says exactly what the index says.
OPEN = text("standings.open")

MODES = ("judge", "answer")
BLIND = Reservation.mode == "answer"

UNDONE = exists().where(Undo.validation_id == Validation.id)


def votes(example_id: int) -> Select[Validation]:
    """The votes that stand on one example, in the order in which they were cast: one index range."""
    return select(Validation).where(Validation.example_id == example_id, ~UNDONE).order_by(Validation.id)


def votes_ever(example_id: int, person_id: int) -> Select[Validation]:
    """All votes of one person on one example, undone ones too, oldest first: one index range."""
    mine = (Validation.person_id == person_id, Validation.example_id == example_id)
    return select(Validation).where(*mine).order_by(Validation.id)


def latest_vote(person_id: int) -> Select[Validation]:
    """The last vote of a person that stands: walks back from their newest one."""
    return (
        select(Validation)
        .where(Validation.person_id == person_id, ~UNDONE)
        .order_by(Validation.at.desc(), Validation.id.desc())
        .limit(1)
    )


def votes_since(person_id: int, at: datetime) -> Select[int]:
    """Select the number of a person's votes since `at` that stand: one index range."""
    mine = (Validation.person_id == person_id, Validation.at >= at)
    return select(func.count()).select_from(Validation).where(*mine, ~UNDONE)


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


def ledger_page(round_id: int, after: int, size: int) -> Select[Example]:
    """A round's examples above the id `after`: one index range."""
    return select(Example).where(Example.round_id == round_id, Example.id > after).order_by(Example.id).limit(size)


def ledger_hidings(example_ids: Sequence[int]) -> Select[Hiding]:
    """Select the hidings of some examples by moderators, in order: one index range per example."""
    return select(Hiding).where(Hiding.example_id.in_(example_ids)).order_by(Hiding.id)


def ledger_votes(example_ids: Sequence[int]) -> Select[Validation, bool]:
    """All votes on some examples with whether they were undone, in order: one index range per example."""
    undone = aliased(Undo)
    return (
        select(Validation, undone.validation_id.is_not(None))
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(Validation.example_id.in_(example_ids))
        .order_by(Validation.id)
    )


def flags_on(example_ids: Sequence[int]) -> Select[Validation, Person]:
    """The votes that flag some examples and stand, with who cast them: one index range per example."""
    return (
        select(Validation, Person)
        .join(Person, Person.id == Validation.person_id)
        .where(Validation.example_id.in_(example_ids), Validation.vote == "flagged", ~UNDONE)
        .order_by(Validation.id)
    )


def all_votes(example_id: int) -> Select[Validation, Person, bool]:
    """All votes on an example with who cast them and whether they were undone: one index range."""
    undone = aliased(Undo)
    return (
        select(Validation, Person, undone.validation_id.is_not(None))
        .join(Person, Person.id == Validation.person_id)
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(Validation.example_id == example_id)
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
