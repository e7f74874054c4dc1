"""The platform's view of participations: events and lists of submissions, applied in any order and repeatedly."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.crowd import accounts, entry, lifecycle, studies
from dynabench.crowd.participation import DECIDED
from dynabench.crowd.provider import ProviderEvent, WorkSubmission, WorkSubmissionState
from dynabench.crowd.tables import (
    PAID_INSTEAD,
    CrowdCredentials,
    CrowdEvent,
    Participation,
    ParticipationState,
    Study,
    StudyState,
)
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.pay import ledger
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState

JOB = "reconcile_study"
EVERY = timedelta(minutes=5)
KEPT_FOR = timedelta(days=60)
"""Time after a study's end during which its submissions are compared."""


@dataclass(frozen=True)
class Differences:
    """The result of a comparison: participations that changed, and submissions of workers who never entered."""

    changed: int
    unknown: int


def apply_state(session: Session, part: Participation, state: WorkSubmissionState, at: datetime) -> bool:
    """Bring a participation in line with the platform's state of its submission; return whether it changed.

    News that are older than the last are ignored, so that events may come in any order.
    """
    if part.synced_at is not None and at < part.synced_at:
        return False
    if part.synced_state == PAID_INSTEAD and state is WorkSubmissionState.REJECTED:
        return False
    part.synced_at = at
    here = ParticipationState(part.state)
    to = here
    if state is WorkSubmissionState.RETURNED and not (here in DECIDED and part.synced_state == here):
        to = ParticipationState.RETURNED  # also where the owner has decided and the platform cannot follow any more
    elif state is WorkSubmissionState.TIMED_OUT and here.running:
        to = ParticipationState.TIMED_OUT
    elif state is WorkSubmissionState.APPROVED:
        to = ParticipationState.APPROVED
    elif state is WorkSubmissionState.REJECTED and here is not ParticipationState.APPROVED:
        to = ParticipationState.REJECTED
    news = part.synced_state
    part.synced_state = to.value if state.final else state.value
    if to is not here:
        part.state, part.finished_at = to.value, part.finished_at or at
        part.decided_at = at if to is ParticipationState.REJECTED else part.decided_at
    # Where our own approval arrived and its answer did not, nothing changes here, and the reward is paid all the same.
    if state is WorkSubmissionState.APPROVED and news != ParticipationState.APPROVED:
        settle_reward(session, part)
    return to is not here


def book_reward(session: Session, study: Study, part: Participation) -> Payment | None:
    """Book the reward of a submission, once; None where the study has none."""
    reward = study.settings.get("reward")
    if not isinstance(reward, int) or reward <= 0:
        return None
    amount = Money(reward, str(study.settings.get("currency", "USD")))
    reason = str(_("Reward of the study %(name)s", name=study.name))
    return ledger.book(session, study.round_id, part.person_id, PaymentKind.BASE, amount, reason, f"reward-{part.id}")


def settle_reward(session: Session, part: Participation) -> None:
    """Enter the reward of an approved submission, which the platform pays by itself, into the ledger; repeatable."""
    study = session.get_one(Study, part.study_id)
    payment = book_reward(session, study, part)
    if payment and payment.state in (PaymentState.DUE, PaymentState.APPROVED, PaymentState.PREAPPROVED):
        ledger.record_settled(session, payment, f"{study.provider} {part.external_session}")


def find_webhook_secret(session: Session, key: bytes, provider: str, credentials_id: int) -> tuple[str, str]:
    """Return the task of an account and its webhook secret; `NotFound` where there is no such account."""
    credentials = session.get(CrowdCredentials, credentials_id)
    if credentials is None or credentials.provider != provider or credentials.removed_at is not None:
        raise errors.NotFound(_("There is no such account."))
    secrets = accounts.secrets_of_task(session, key, credentials.task_id, provider) or {}
    return credentials.task_id, secrets.get("webhook_secret", "")


def take_events(session: Session, task_id: str, provider: str, events: Sequence[ProviderEvent]) -> int:
    """Apply verified events, each once by its id; returns how many were new."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    count = 0
    for event in events:
        values = {"provider": provider, "event": event.id, "kind": event.kind, "at": now()}
        statement = insert(CrowdEvent).values(values).on_conflict_do_nothing()
        if session.scalar(statement.returning(CrowdEvent.event)) is None:
            continue
        count += 1
        if event.session and event.state is not None:
            of_task = select(Study.id).where(Study.task_id == task_id, Study.provider == provider)
            part = session.scalar(
                select(Participation)
                .where(Participation.study_id.in_(of_task), Participation.external_session == event.session)
                .with_for_update()
            )
            if part is not None:
                apply_state(session, part, event.state, event.at or now())
    return count


def _compare(session: Session, key: bytes, study_id: int, submissions: Sequence[WorkSubmission]) -> Differences:
    study = session.get_one(Study, study_id, with_for_update=True)
    statement = select(Participation).where(Participation.study_id == study_id).order_by(Participation.id)
    everybody = session.scalars(statement.with_for_update()).all()
    parts = {part.external_session: part for part in everybody if part.external_session}
    by_worker = {entry.worker_id(key, part): part for part in everybody if not part.external_session}
    changed, unknown, at = 0, 0, now()
    for submission in submissions:
        part = parts.get(submission.session) or by_worker.get(submission.worker)
        if part is None or _is_of_another(key, part, submission):
            unknown += 1
        else:
            changed += apply_state(session, part, submission.state, at)
    study.reconciled_at = at
    study.details = dict(study.details) | {"submissions_unknown": unknown}
    return Differences(changed, unknown)


def _is_of_another(key: bytes, part: Participation, submission: WorkSubmission) -> bool:
    """Return whether the platform says that a submission is of another worker than the one who entered with its id."""
    worker = entry.worker_id(key, part)
    return bool(worker and submission.worker) and worker != submission.worker


def reconcile_study(database: Database, settings: Settings, study_id: int) -> Differences:
    """Compare a study's participations with the platform's list of submissions. Blocks on the platform.

    An act of the study's owner that was interrupted is finished first.
    """
    lifecycle.finish_interrupted_act(database, settings, study_id)
    call = database.read(lifecycle.read_call, settings.key, study_id)
    if call.secrets is None or not call.facts.external_id:
        return Differences(0, 0)
    with accounts.connected(settings, call.provider, call.secrets) as account:
        if account is None:
            return Differences(0, 0)
        submissions = call.provider.list_submissions(account, call.facts)
    return database.write(_compare, settings.key, study_id, submissions)


def enqueue_due(session: Session) -> None:
    """Ask for a comparison of each study at a platform with accounts, every few minutes while it matters."""
    overdue = now() - EVERY
    due = select(Study).where(
        Study.external_id != "",
        Study.state != StudyState.DRAFT,
        or_(Study.stopped_at.is_(None), Study.stopped_at > now() - KEPT_FOR),
        or_(Study.reconciled_at.is_(None), Study.reconciled_at < overdue),
    )
    for study in session.scalars(due.limit(200).with_for_update(skip_locked=True)):
        if studies.provider_of(study).credential_fields:
            study.reconciled_at = now()
            jobs.enqueue(session, JOB, {"study": study.id})
