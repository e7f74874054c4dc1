"""Rejections as decisions about workers: each can be appealed against, and a granted appeal approves the submission.

Where a platform keeps its rejection, the reward becomes a payment of the ledger, which goes out as a bonus.
"""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.crowd import participation
from dynabench.crowd.lifecycle import StudyCall
from dynabench.crowd.provider import CrowdAccount, WorkSubmission, WorkSubmissionState
from dynabench.crowd.reconciling import book_reward
from dynabench.crowd.tables import PAID_INSTEAD, Participation, ParticipationState, Study
from dynabench.crowd.work import read_progress
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.pay.tables import PaymentState
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices
from dynabench.people.roles import Role, TaskRole
from dynabench.quality import decisions
from dynabench.quality.decisions import DecisionKind, PersonDecision
from dynabench.quality.tables import Appeal
from dynabench.rounds import service as rounds


def read_rejections(session: Session, person_id: int) -> list[PersonDecision]:
    """Return the rejections of a worker's submissions that hold now; those made on the platform have no reason."""
    decided = func.coalesce(Participation.decided_at, Participation.finished_at, Participation.arrived_at)
    rows = session.execute(
        select(Participation, Study.task_id, decided)
        .join(Study, Study.id == Participation.study_id)
        .where(Participation.person_id == person_id, Participation.state == ParticipationState.REJECTED)
    )
    return [
        PersonDecision(DecisionKind.REJECTED_SUBMISSION, task_id, part.id, part.reason, at, part.decided_by)
        for part, task_id, at in rows
    ]


def describe_rejection(session: Session, appeal: Appeal) -> str:
    """Say what the worker did in the study, for the person who answers the appeal."""
    part = session.get_one(Participation, appeal.subject_id)
    study = session.get_one(Study, part.study_id)
    progress = read_progress(session, study, session.get_one(Person, part.person_id))
    return _(
        "Study “%(study)s”: %(examples)s of %(wanted)s examples, of which %(fooled)s fooled the models;"
        " %(votes)s of %(checks)s checks.",
        study=study.name,
        examples=progress.examples,
        wanted=progress.work.examples,
        fooled=progress.fooled,
        votes=progress.votes,
        checks=progress.work.votes,
    )


def reverse_rejection(session: Session, appeal: Appeal) -> None:
    """Approve the submission after all; a job tells the platform."""
    part = session.get_one(Participation, appeal.subject_id)
    participation.decide(session, None, appeal.task_id, part.study_id, part.id, True)


def add_appeal_hint(settings: Settings, slug: str, reason: str) -> str:
    """Return the reason of a rejection with the address on which the worker can answer it."""
    if not settings.site:
        return reason
    address = f"{settings.site}/studies/{slug}"
    hint = _("You can answer this decision in the browser in which you worked: %(address)s", address=address)
    return f"{reason} {hint}"


def keeps_rejection(account: CrowdAccount | None, call: StudyCall, submission: WorkSubmission) -> bool:
    """Return whether the platform still lists a submission as rejected. Blocks on the platform."""
    if account is None:
        return False
    rejected = WorkSubmissionState.REJECTED
    listed = call.provider.list_submissions(account, call.facts)
    return any(row.session == submission.session and row.state is rejected for row in listed)


def pay_instead(session: Session, participation_id: int) -> None:
    """Book the reward of an approved submission that its platform keeps as rejected; tell the owners. Repeatable.

    The payment needs no further approval, as a reward that the platform pays needs none.
    """
    part = session.get_one(Participation, participation_id, with_for_update=True)
    if part.synced_state == PAID_INSTEAD or part.state != ParticipationState.APPROVED:
        return
    part.synced_state, part.synced_at = PAID_INSTEAD, now()
    study = session.get_one(Study, part.study_id)
    payment = book_reward(session, study, part)
    if payment is None:
        return
    if payment.state == PaymentState.DUE:
        payment.state, payment.decided_at = PaymentState.APPROVED, now()
    text = _(
        "The platform keeps a rejection in the study “%(study)s” that was reversed. Choose “Pay approved payments” on"
        " the study's page: the worker gets the reward as a bonus. Do not approve it on the platform as well.",
        study=study.name,
    )
    owners = select(Role.person_id).where(Role.task_id == study.task_id, Role.role == TaskRole.OWNER)
    for owner_id in session.scalars(owners.order_by(Role.person_id)).all():
        link = f"/tasks/{study.task_id}/manage/studies/{study.id}"
        notices.notify_person(session, owner_id, "payment", text, link=link)
    act = {"task": study.task_id, "study": study.id, "participation": part.id}
    rounds.record_act(session, None, "participation.paid_instead", **act)


decisions.decision_readers.append(read_rejections)
decisions.case_facts[DecisionKind.REJECTED_SUBMISSION] = describe_rejection
decisions.grants[DecisionKind.REJECTED_SUBMISSION] = reverse_rejection
