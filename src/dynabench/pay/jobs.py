"""Booking of earnings as a durable job, asked for by the worker when work in a round with a scheme has changed.

A module of its own, since the web process loads no engine of jobs.
"""

from datetime import timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.pay import booking, queries
from dynabench.pay.service import request_booking
from dynabench.pay.tables import PayScheme

PEOPLE_AT_ONCE = 25  # in one transaction
BETWEEN = timedelta(minutes=2)
"""Time between two bookings of a round; pages compute the newest earnings themselves."""
DAILY = timedelta(days=1)
"""Time after which a round is booked although nothing changed: top-ups fall due by time alone."""


def _book(session: Session, job_id: str, round_id: int) -> bool:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done = dict(job.done or {})
    if "fingerprint" not in done:
        done["fingerprint"] = booking.work_fingerprint(session, round_id)
    people = booking.people_to_book(session, round_id, done.get("last", 0), PEOPLE_AT_ONCE)
    done["lines"] = done.get("lines", 0) + booking.book_people(session, round_id, people)
    if people:
        done["last"] = people[-1]
    job.done = done
    more = len(people) == PEOPLE_AT_ONCE
    scheme = session.scalar(queries.newest_scheme(round_id))
    if not more and scheme and scheme.fingerprint != booking.IMPORTED:
        scheme.fingerprint = done["fingerprint"]
    return more


@DBOS.step(name="book_earnings.some", retries_allowed=True)
def book_some(job_id: str, round_id: int) -> bool:
    """Book the earnings of some people, in one transaction with the note of how far it came."""
    return jobs.database().write(_book, job_id, round_id)


def book_earnings(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `round` whose earnings are booked."""
    job_id = str(DBOS.workflow_id)
    while book_some(job_id, payload["round"]):
        pass
    return {}


def _changed_rounds(session: Session) -> list[int]:
    """The rounds with a scheme in which something happened that is not booked."""
    rounds = session.scalars(select(PayScheme.round_id).distinct().order_by(PayScheme.round_id)).all()
    changed = []
    for round_id in rounds:
        scheme = session.scalars(queries.newest_scheme(round_id)).one()
        if scheme.fingerprint == booking.IMPORTED:
            continue
        passed = now() - scheme.asked_at if scheme.asked_at else DAILY
        differs = passed >= BETWEEN and booking.work_fingerprint(session, round_id) != scheme.fingerprint
        if differs or (passed >= DAILY and booking.top_up_may_fall_due(session, round_id, scheme)):
            changed.append(round_id)
    return changed


def book_changed_rounds(database: Database, settings: Settings) -> None:
    """Ask for a booking of each round in which work, verdicts or the scheme have changed."""
    for round_id in database.read(_changed_rounds):
        database.write(request_booking, round_id)
