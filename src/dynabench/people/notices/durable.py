"""Mails and calls as durable jobs: each try is a job of its own, enqueued by the one before it."""

from typing import Any

from dbos import DBOS

from dynabench.kit import jobs
from dynabench.kit.settings import get_settings
from dynabench.people.notices import calling, mailing


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
