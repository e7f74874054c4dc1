"""Answers to controls: recorded as votes that never count, with what was expected of them."""

from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.validation.controls import consequences, queries
from dynabench.validation.controls.tables import ControlAnswer, ControlItem, ControlKind, ControlPlace
from dynabench.validation.tables import Undo, Validation


def open_place(session: Session, person: Person, example_id: int) -> ControlPlace | None:
    """Return the control that a person sees in place of an example, until the person is done with it.

    Locks the person, so that two answers of one person are counted one after the other; as those who ask for an example
    do, before the example's standing.
    """
    place = session.get(ControlPlace, (example_id, person.id))
    if place is None or place.done_at is not None:
        return None
    session.get_one(Person, person.id, with_for_update={"key_share": True})
    session.refresh(place)  # a second request may have answered in the meantime
    return place if place.done_at is None else None


def is_answered(session: Session, person: Person, example_id: int) -> bool:
    """Return whether a person is done with a control in place of an example, and has not seen the example itself.

    What is sent again was meant for the control: it must not become a vote on the example.
    """
    place = session.get(ControlPlace, (example_id, person.id))
    return place is not None and place.done_at is not None


def record_answer(session: Session, place: ControlPlace, cast: Validation, task_id: str) -> ControlAnswer:
    """Record the vote as the answer to a control: it counts for no example. Consequences follow at once."""
    expected = _expected_vote(session, place)
    session.add(Undo(validation_id=cast.id))
    answer = ControlAnswer(
        validation_id=cast.id,
        task_id=task_id,
        person_id=cast.person_id,
        kind=place.kind,
        item_id=place.item_id,
        shown_id=place.shown_id,
        expected=expected,
        is_right=cast.vote == expected,
    )
    session.add(answer)
    place.done_at = now()
    session.flush()
    if place.kind != ControlKind.REPEAT:
        settings = rounds.newest_config(session, task_id).validation.controls
        if settings is not None:
            consequences.decide_consequence(session, cast.person_id, task_id, settings)
    return answer


def _expected_vote(session: Session, place: ControlPlace) -> str:
    if place.repeated_id is not None:
        return session.get_one(Validation, place.repeated_id).vote
    return session.get_one(ControlItem, place.item_id).right_vote


def own_answer(session: Session, person: Person, example_id: int) -> tuple[ControlAnswer, Validation] | None:
    """Return the latest answer of a person to a control in place of an example, unless it was taken back."""
    row = session.execute(queries.own_answer(example_id, person.id)).first()
    return None if row is None else (row[0], row[1])


def take_back(session: Session, answer: ControlAnswer, example_id: int) -> bool:
    """Take an answer back, so that the control is asked again; false where a decision was made from it already."""
    decisions = session.scalars(queries.decisions_of(answer.task_id, answer.person_id)).all()
    if any(decision.last_answer >= answer.validation_id for decision in decisions):
        return False
    answer.taken_back = True
    session.get_one(ControlPlace, (example_id, answer.person_id)).done_at = None
    return True
