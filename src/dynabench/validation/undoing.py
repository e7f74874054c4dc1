"""Undo a validator's last vote."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.stats.verdict import Verdict
from dynabench.validation import places, queries
from dynabench.validation.controls import answers
from dynabench.validation.controls.tables import ControlAnswer
from dynabench.validation.service import Outcome, VoteCase, answered_content, count_blind, read_vote_case, vote_outcome
from dynabench.validation.tables import Undo, Validation

UNDO_WITHIN = timedelta(seconds=60)


def undo(session: Session, person: Person, example_id: int, *, seconds: int) -> Outcome:
    """Take back one's last vote within a minute; the place is held for `seconds` for voting again, if it is free.

    Refused once another validator has voted after it: their vote was asked for, or decided, on the strength of it.
    """
    session.get_one(Person, person.id, with_for_update={"key_share": True})  # as in `answers.open_place`
    case = read_vote_case(session, example_id)
    mine = [cast for cast in case.votes if cast.person_id == person.id]
    if not mine and (row := answers.own_answer(session, person, example_id)):
        return _undo_control(session, person, case, *row, seconds=seconds)
    if not mine:
        raise errors.Conflict(_("You have no vote on this example to undo."))
    cast, at = mine[-1], now()
    _require_undoable(session, person, case, cast, at)
    first = next(iter(session.scalars(queries.votes_ever(example_id, person.id).limit(1))))
    session.add(Undo(validation_id=cast.id))
    if cast.blind_answer is not None and first.id == cast.id:
        count_blind(case.standing, cast.vote, -1)
    case.votes.remove(cast)
    outcome = vote_outcome(session, case, cast)
    votes = places.ballots(case.votes)
    if case.standing.open and places.free_places(session, case.config, person.id, example_id, votes) > 0:
        places.reserve(session, case.config, person.id, example_id, at=at, seconds=seconds)
    return outcome


def _require_undoable(session: Session, person: Person, case: VoteCase, cast: Validation, at: datetime) -> None:
    latest = session.scalars(queries.latest_vote(person.id)).first()
    if latest is None or latest.id != cast.id:
        raise errors.Conflict(_("Only your last vote can be undone."))
    if at - cast.at > UNDO_WITHIN:
        raise errors.Conflict(_("A vote can be undone for one minute. It counts now."))
    if any(other.id > cast.id for other in case.votes):
        raise errors.Conflict(_("Another vote was cast after yours, so yours can no longer be undone."))


def _undo_control(
    session: Session, person: Person, case: VoteCase, answer: ControlAnswer, cast: Validation, *, seconds: int
) -> Outcome:
    """Take back the answer to a control; it is shown again in place of the same example."""
    at, example_id = now(), case.example.id
    _require_undoable(session, person, case, cast, at)
    content = answered_content(session, answer)
    if not answers.take_back(session, answer, example_id):
        raise errors.Conflict(_("This vote can no longer be undone."))
    votes = places.ballots(case.votes)
    if case.standing.open and places.free_places(session, case.config, person.id, example_id, votes) > 0:
        mode = "judge" if cast.blind_answer is None else "answer"
        places.reserve(session, case.config, person.id, example_id, at=at, seconds=seconds, mode=mode)
    session.flush()
    return Outcome(cast.id, example_id, content, cast.vote, str(Verdict.PENDING), 0, case.config, content.predictions)
