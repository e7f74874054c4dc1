"""Upkeep by a worker from time to time: mails and calls whose job was given up, and logs that are old."""

from sqlalchemy import Select, delete
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.people.notices import mailing, queries, webhooks
from dynabench.people.notices.tables import Delivery, DeliveryState


def tidy(database: Database, settings: Settings) -> None:
    """Enqueue anew what no job works on any more; forget what was sent more than `webhooks.KEPT` ago."""
    mails = database.read(_under_way, queries.mails_under_way())
    for job in jobs.given_up(database, settings, list(mails)):
        database.write(mailing.enqueue_again, mails[job])
    calls = database.read(_under_way, queries.calls_under_way())
    for job in jobs.given_up(database, settings, list(calls)):
        database.write(_call_again, calls[job])
    database.write(_forget_old)


def _under_way(session: Session, statement: Select[str | None, int]) -> dict[str, int]:
    return {job: id for job, id in session.execute(statement) if job}


def _call_again(session: Session, id: int) -> None:
    delivery = session.get(Delivery, id, with_for_update=True)
    if delivery is not None and delivery.state == DeliveryState.WAITING:
        webhooks.enqueue(session, delivery)


def _forget_old(session: Session) -> None:
    session.execute(delete(Delivery).where(Delivery.id.in_(queries.old_deliveries(now() - webhooks.LOG_RETENTION))))
