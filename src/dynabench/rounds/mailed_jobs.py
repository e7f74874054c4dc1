"""Mailed invitations as durable jobs."""

from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.settings import get_settings
from dynabench.rounds.mailed import attempt


def _forget(session: Session, job_id: str) -> None:
    """Remove the address from the job: sent or not, it is of no more use here."""
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    job.payload = {"invitation": job.payload["invitation"]}


@DBOS.step(name="mail_invitation.try", retries_allowed=True, max_attempts=6, interval_seconds=30, backoff_rate=3)
def send(payload: dict[str, Any]) -> str:
    """Send it; the engine tries again where the server asks for that."""
    return attempt(jobs.database(), get_settings(), payload)


@DBOS.step(name="mail_invitation.forget", retries_allowed=True)
def forget(job_id: str) -> None:
    """Forget the address."""
    jobs.database().write(_forget, job_id)


def mail_invitation(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `invitation`, the `address`, and the `nonce` that its link follows from."""
    try:
        return {"state": send(payload)}
    finally:
        forget(str(DBOS.workflow_id))
