"""Mails and calls as durable jobs, and their upkeep by the worker: each try is a job of its own."""

from typing import Any

from dbos import DBOS
from sqlalchemy import Select, delete
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings, get_settings
from dynabench.people.notices import calling, mailing, queries, webhooks
from dynabench.people.notices.tables import Delivery, DeliveryState


@DBOS.step(name="send_mail.try", retries_allowed=True)
def _send(id: int, job_id: str) -> dict[str, Any]:
    return mailing.try_sending(jobs.database(), get_settings(), id, job_id)


@DBOS.step(name="call_webhook.try", retries_allowed=True)
def _call(id: int, job_id: str) -> dict[str, Any]:
    return calling.try_delivery(jobs.database(), get_settings(), id, job_id)


def send_mail(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `mailing`."""
    return _send(int(payload["mailing"]), str(DBOS.workflow_id))


def call_webhook(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `delivery`."""
    return _call(int(payload["delivery"]), str(DBOS.workflow_id))


def requeue_lost_deliveries(database: Database, settings: Settings) -> None:
    """Enqueue anew what no job works on any more; forget what was sent more than `webhooks.KEPT` ago."""
    mails = database.read(_under_way, queries.mails_under_way())
    for job in jobs.given_up(database, settings, list(mails)):
        database.write(mailing.enqueue_again, mails[job])
    calls = database.read(_under_way, queries.calls_under_way())
    for job in jobs.given_up(database, settings, list(calls)):
        database.write(_call_again, calls[job])
    old = queries.old_deliveries(now() - webhooks.LOG_RETENTION)
    database.write(lambda session: session.execute(delete(Delivery).where(Delivery.id.in_(old))))


def _under_way(session: Session, statement: Select[str | None, int]) -> dict[str, int]:
    return {job: id for job, id in session.execute(statement) if job}


def _call_again(session: Session, id: int) -> None:
    delivery = session.get(Delivery, id, with_for_update=True)
    if delivery is not None and delivery.state == DeliveryState.WAITING:
        webhooks.enqueue(session, delivery)
