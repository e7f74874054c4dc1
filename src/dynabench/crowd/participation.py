"""A worker's part in a study after consent: finishing, stopping, withdrawing, and the owner's decision."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection import withdrawal
from dynabench.crowd import entry, queries, studies
from dynabench.crowd.provider import Arrival, Completion, StudyOutcome
from dynabench.crowd.tables import PAID_INSTEAD, Participation, ParticipationState, Study
from dynabench.crowd.work import read_progress
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.people import clean_reason

SYNC_JOB = "decide_participation"
OUTCOMES: dict[ParticipationState, StudyOutcome] = {
    ParticipationState.DECLINED: StudyOutcome.NO_CONSENT,
    ParticipationState.SCREENED_OUT: StudyOutcome.SCREENED_OUT,
    ParticipationState.FAILED_QUIZ: StudyOutcome.FAILED_QUIZ,
    ParticipationState.TIMED_OUT: StudyOutcome.TIMED_OUT,
}
"""The outcome that belongs to a state; a finished participation keeps its own."""
DECIDABLE = frozenset({ParticipationState.FINISHED, ParticipationState.TIMED_OUT, ParticipationState.WITHDRAWN})

DECIDED = (ParticipationState.APPROVED, ParticipationState.REJECTED)


@dataclass(frozen=True)
class FinishedPart:
    """A worker's part that has ended: the way back to the platform, and the reason of a decision that was made.

    `paid_instead` is true where the platform keeps a rejection that was reversed, and a bonus stands for the reward.
    """

    state: ParticipationState
    outcome: StudyOutcome
    completion: Completion
    reason: str = ""
    paid_instead: bool = False


def decline(session: Session, person: Person | None, slug: str) -> Participation:
    """Record that a worker does not consent; nothing was collected. The worker may still change their mind."""
    _study, participation = entry.own_participation(session, person, slug)
    if participation.state == ParticipationState.DECLINED:
        return participation
    if participation.state != ParticipationState.ARRIVED:
        raise errors.Conflict(_("You have already agreed. You can stop or withdraw your texts instead."))
    participation.state = ParticipationState.DECLINED
    return participation


def end_participation(session: Session, person: Person, task_id: str, *, screened_out: bool) -> None:
    """End the part that a worker has in a study of a task after an onboarding that failed; repeated it changes nothing.

    The worker was screened out, with the outcome for that, or has no attempt at the quiz left.
    """
    study = session.scalar(queries.working_study(task_id, person.id))
    participation = session.scalar(queries.participation_of(study.id, person.id)) if study else None
    if participation is not None and ParticipationState(participation.state).running:
        participation.state = ParticipationState.SCREENED_OUT if screened_out else ParticipationState.FAILED_QUIZ
        participation.finished_at = now()


def latest_study(session: Session, person: Person) -> str:
    """Return the name, in addresses, of the study that a worker came for last; "" where there is none."""
    latest = (
        select(Study.slug)
        .join(Participation, Participation.study_id == Study.id)
        .where(Participation.person_id == person.id)
        .order_by(Participation.id.desc())
        .limit(1)
    )
    return session.scalar(latest) or ""


def finish(session: Session, person: Person | None, slug: str, *, early: bool = False) -> Participation:
    """End a worker's part; `early` where the worker stops before the work is done, which an owner then reviews.

    A second click or window changes nothing, also after the owner's decision. Raises `Conflict` where work is missing
    and it is not `early`.
    """
    study, participation = entry.own_participation(session, person, slug)
    if participation.outcome and participation.finished_at is not None:
        return participation
    if person is None or participation.state != ParticipationState.WORKING:
        raise errors.Conflict(_("Your part in this study has ended, or you have not agreed yet."))
    progress = read_progress(session, study, person)
    if not progress.complete and not early:
        raise errors.Conflict(
            _(
                "You have written %(examples)s of %(wanted)s examples and checked %(votes)s of %(checks)s.",
                examples=progress.examples,
                wanted=progress.work.examples,
                votes=progress.votes,
                checks=progress.work.votes,
            )
        )
    outcome = StudyOutcome.COMPLETED if progress.complete else StudyOutcome.MANUAL_REVIEW
    participation.state, participation.outcome, participation.finished_at = ParticipationState.FINISHED, outcome, now()
    return participation


def ended_part(key: bytes, study: Study, participation: Participation, submit: str = "") -> FinishedPart | None:
    """Return how an ended participation goes back to the platform; None while the worker may go on.

    `submit` is the site to which a page in a frame posts its form.
    """
    state = ParticipationState(participation.state)
    if state.running:
        return None
    outcome = OUTCOMES.get(state) or StudyOutcome(participation.outcome or StudyOutcome.MANUAL_REVIEW)
    details = {"submit": submit} if submit else {}
    arrival = Arrival(entry.worker_id(key, participation), participation.external_session, details=details)
    completion = studies.provider_of(study).completion(studies.facts_of(study), arrival, outcome)
    instead = participation.synced_state == PAID_INSTEAD
    return FinishedPart(state, outcome, completion, participation.reason, instead)


def withdraw_texts(session: Session, person: Person | None, slug: str) -> int:
    """Retract all that a worker wrote in rounds that are not released; returns the number of examples."""
    study, participation = entry.own_participation(session, person, slug)
    if person is None:
        raise errors.Forbidden(_("Open the study from the platform's page."))
    number = withdrawal.withdraw(session, person, study.task_id)
    if ParticipationState(participation.state).running:
        participation.state, participation.finished_at = ParticipationState.WITHDRAWN, now()
        participation.outcome = StudyOutcome.MANUAL_REVIEW
    return number


def decide(
    session: Session,
    owner: Person | None,
    task_id: str,
    study_id: int,
    participation_id: int,
    approve: bool,
    reason: str = "",
    category: str = "other",
) -> Participation:
    """Approve or reject a finished participation; a job tells the platform. A rejection needs a reason.

    The same decision again changes nothing; an approval stands, since it has paid the worker.
    """
    study = studies.owned_study(session, owner, task_id, study_id)
    participation = session.get(Participation, participation_id, with_for_update=True)
    if participation is None or participation.study_id != study.id:
        raise errors.NotFound(_("This study has no such participant."))
    to = ParticipationState.APPROVED if approve else ParticipationState.REJECTED
    text = "" if approve else clean_reason(reason)
    if participation.state == to:
        return participation
    if participation.state == ParticipationState.APPROVED:
        raise errors.Conflict(_("This participant is approved and paid; that cannot be taken back."))
    if participation.state not in (*DECIDABLE, ParticipationState.REJECTED):
        raise errors.Conflict(_("This participant has not finished yet."))
    participation.state, participation.reason = to, text
    participation.decided_at, participation.decided_by = now(), owner.id if owner else None
    jobs.enqueue(
        session,
        SYNC_JOB,
        {"participation": participation.id, "approve": approve, "reason": text, "category": category},
        owner.id if owner else None,
    )
    rounds.record_act(
        session,
        owner,
        f"participation.{to.value}",
        task=task_id,
        study=study.id,
        participation=participation.id,
        reason=text,
    )
    return participation


def decide_some(
    session: Session,
    owner: Person | None,
    task_id: str,
    study_id: int,
    participation_ids: Collection[int] | None,
    approve: bool,
    reason: str = "",
) -> int:
    """Approve or reject participants who wait for a decision, all who completed the work for None; returns how many.

    Those of another study, and those who do not wait any more, are left as they are.
    """
    study = studies.owned_study(session, owner, task_id, study_id)
    waiting = session.scalars(queries.undecided(study.id, [state.value for state in DECIDABLE])).all()
    chosen = [
        part.id
        for part in waiting
        if (part.outcome == StudyOutcome.COMPLETED if participation_ids is None else part.id in participation_ids)
    ]
    for participation_id in chosen:
        decide(session, owner, task_id, study_id, participation_id, approve, reason)
    return len(chosen)
