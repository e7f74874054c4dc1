"""Decisions on participations, carried to the platform by durable jobs.

A decision is recorded first and carried out afterwards. Providers take the same decision twice without harm, so a job
that was killed, or whose answer was lost, simply runs again.
"""

from datetime import timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from dynabench.crowd import entry, studies
from dynabench.crowd.participation import SYNC_JOB
from dynabench.crowd.provider import CrowdProvider, StudyFacts, WorkSubmission, WorkSubmissionState
from dynabench.crowd.tables import Participation, ParticipationState, Study
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings, get_settings

AGAIN = timedelta(minutes=5)
"""Time after which a decision that has not reached its platform is sent again."""
DECIDED = (ParticipationState.APPROVED, ParticipationState.REJECTED)


def _read(session: Session, key: bytes, id: int) -> tuple[CrowdProvider, StudyFacts, WorkSubmission] | None:
    participation = session.get(Participation, id)
    if participation is None:
        return None
    study = session.get_one(Study, participation.study_id)
    worker = entry.worker_id(key, participation)
    submission = WorkSubmission(participation.external_session, worker, WorkSubmissionState.SUBMITTED)
    return studies.provider_of(study), studies.facts_of(study), submission


def _note(session: Session, id: int, state: str) -> None:
    participation = session.get_one(Participation, id, with_for_update=True)
    participation.synced_state, participation.synced_at = state, now()


@DBOS.step(name="decide_participation.send", retries_allowed=True, max_attempts=5)
def send_decision(payload: dict[str, Any]) -> None:
    """Tell the platform of one decision and note that it knows."""
    key = get_settings().key
    read = jobs.database().read(_read, key, payload["participation"])
    if read is None:
        return
    provider, facts, submission = read
    if payload["approve"]:
        provider.approve(None, facts, submission)
    else:
        provider.reject(None, facts, submission, payload["reason"], payload["category"])
    state = ParticipationState.APPROVED if payload["approve"] else ParticipationState.REJECTED
    jobs.database().write(_note, payload["participation"], state.value)


def decide_participation(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `participation`, whether to `approve`, `reason` and `category`."""
    send_decision(payload)
    return {}


def _enqueue_unsent(session: Session) -> None:
    overdue = now() - AGAIN
    unsent = select(Participation).where(
        Participation.state.in_(DECIDED),
        Participation.synced_state != Participation.state,
        Participation.decided_at < overdue,
        or_(Participation.synced_at.is_(None), Participation.synced_at < overdue),
    )
    for participation in session.scalars(unsent.limit(500).with_for_update(skip_locked=True)):
        payload = {
            "participation": participation.id,
            "approve": participation.state == ParticipationState.APPROVED,
            "reason": participation.reason,
            "category": "other",
        }
        jobs.enqueue(session, SYNC_JOB, payload)
        participation.synced_at = now()


def resend_decisions(database: Database, settings: Settings) -> None:
    """Send again the decisions that have not reached their platform, for the worker's round of keepers."""
    del settings
    database.write(_enqueue_unsent)
