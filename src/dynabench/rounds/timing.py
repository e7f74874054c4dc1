"""Asking for the jobs that open and close rounds at the moments of their plans (`rounds.schedule` has the jobs)."""

from datetime import datetime

from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.rounds import queries
from dynabench.rounds.plan import parse
from dynabench.rounds.tables import Round, RoundState


def schedule(session: Session, person_id: int | None, of: Round, event: str, at: datetime) -> None:
    """Ask for a job that does an `event`, `opens_at` or `closes_at`, at its moment.

    A job that was asked for before finds another moment in the plan then, and does nothing.
    """
    payload = {"round": of.id, "event": event, "at": at.isoformat(), "person": person_id}
    jobs.enqueue(session, "turn_round", payload, person_id, due_at=at)


def next_in_line(session: Session, task_id: str) -> None:
    """Ask for the opening of the draft that was to open earliest and could not, since another round was open."""
    moments = [(parse(each.plan).opens_at, each) for each in session.scalars(queries.rounds(task_id))]
    late = [(at, each) for at, each in moments if each.state == RoundState.DRAFT and at is not None and at <= now()]
    if late:
        at, first = min(late, key=lambda pair: (pair[0], pair[1].number))
        schedule(session, None, first, "opens_at", at)
