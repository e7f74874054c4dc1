"""The participants of a study as its owners see them: states, work, time, code and decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, Tally
from dynabench.crowd import entry, participation, queries
from dynabench.crowd.tables import PAID_INSTEAD, ParticipationState, Study
from dynabench.validation.queries import CONTROL_STANDS, UNDONE
from dynabench.validation.tables import Validation

MOST_SHOWN, MOST_EXPORTED = 200, 100_000
"""Participants on a page, and in a CSV file."""
CSV_COLUMNS = (
    "participant",
    "worker",
    "session",
    "state",
    "outcome",
    "code",
    "examples",
    "fooled",
    "verified",
    "votes",
    "active_seconds",
    "arrived_at",
    "finished_at",
    "reason",
)


@dataclass(frozen=True)
class Participant:
    """One worker in a study.

    `username` is the pseudonym here and `worker` the platform's id. `active_seconds` is the time with the page in sight
    and a key or pointer used, on examples and votes of the study's round. `confirmed` is false for a decision that the
    platform has not confirmed.
    """

    id: int
    username: str
    worker: str
    session: str
    state: ParticipationState
    outcome: str
    code: str
    examples: int
    fooled: int
    verified: int
    votes: int
    active_seconds: float
    arrived_at: datetime
    finished_at: datetime | None
    reason: str
    confirmed: bool = True

    @property
    def decidable(self) -> bool:
        """True where the owner can approve or reject."""
        return self.state in participation.DECIDABLE


def list_participants(
    session: Session, study: Study, key: bytes, *, after: int = 0, limit: int = MOST_SHOWN, state: str = ""
) -> list[Participant]:
    """Return participants of a study in the order of their arrival. Five statements for all of them."""
    rows = session.execute(queries.participations(study.id, after, limit, state)).all()
    people = [person.id for _part, person in rows]
    written, seconds, votes, checking = _work(session, study.round_id, people)
    participants = []
    for part, person in rows:
        ended = participation.ended_part(key, study, part)
        examples, fooled, verified = written.get(person.id, (0, 0, 0))
        participants.append(
            Participant(
                id=part.id,
                username=person.username,
                worker=entry.worker_id(key, part),
                session=part.external_session,
                state=ParticipationState(part.state),
                outcome=part.outcome,
                code=ended.completion.code if ended else "",
                examples=examples,
                fooled=fooled,
                verified=verified,
                votes=votes.get(person.id, 0),
                active_seconds=seconds.get(person.id, 0.0) + checking.get(person.id, 0.0),
                arrived_at=part.arrived_at,
                finished_at=part.finished_at,
                reason=part.reason,
                confirmed=part.state not in participation.DECIDED or part.synced_state in (part.state, PAID_INSTEAD),
            )
        )
    return participants


Counts = tuple[dict[int, tuple[int, int, int]], dict[int, float], dict[int, int], dict[int, float]]


def _work(session: Session, round_id: int, people: Sequence[int]) -> Counts:
    tallies = select(Tally.person_id, func.sum(Tally.examples), func.sum(Tally.fooled), func.sum(Tally.validated))
    tallies = tallies.where(Tally.round_id == round_id, Tally.person_id.in_(people)).group_by(Tally.person_id)
    written = {
        person: (int(examples), int(fooled), int(verified))
        for person, examples, fooled, verified in session.execute(tallies)
    }
    spent = select(Example.author_id, func.sum(func.coalesce(Example.active_seconds, 0.0)))
    spent = spent.where(Example.round_id == round_id, Example.author_id.in_(people)).group_by(Example.author_id)
    counted = select(Validation.person_id, func.count(), func.sum(func.coalesce(Validation.active_seconds, 0.0))).join(
        Example, Example.id == Validation.example_id
    )
    counted = counted.where(
        Example.round_id == round_id,
        Validation.person_id.in_(people),
        ~UNDONE | CONTROL_STANDS,
    ).group_by(Validation.person_id)
    checked = session.execute(counted).all()
    seconds = {person: float(total) for person, total in session.execute(spent)}
    return (
        written,
        seconds,
        {person: number for person, number, _seconds in checked},
        {person: float(total) for person, _number, total in checked},
    )


def csv_row(participant: Participant) -> list[object]:
    """Return one participant as a row of the CSV file."""
    finished = participant.finished_at.isoformat() if participant.finished_at else ""
    return [
        participant.username,
        participant.worker,
        participant.session,
        participant.state.value,
        participant.outcome,
        participant.code,
        participant.examples,
        participant.fooled,
        participant.verified,
        participant.votes,
        round(participant.active_seconds, 1),
        participant.arrived_at.isoformat(),
        finished,
        participant.reason,
    ]
