"""Appeals: a person answers a decision about them, and a person who did not take it decides.

Both sides are notified. Granting an appeal reverses the decision in the same transaction; an appeal is answered once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.roles import Role, TaskRole, administrators
from dynabench.quality.decisions import DecisionKind, PersonDecision, describe_case, grants, read_decisions
from dynabench.quality.tables import Appeal, AppealState
from dynabench.rounds import service as rounds

LONGEST = 2000
"""Characters of an appeal, and of its answer."""
ANSWERERS = (TaskRole.EXPERT, TaskRole.MODERATOR, TaskRole.OWNER)


@dataclass(frozen=True)
class OwnDecision:
    """A decision about the person who reads it, with the appeal against it, if any."""

    decision: PersonDecision
    appeal: Appeal | None


@dataclass(frozen=True)
class AppealCase:
    """An appeal as those who may answer it see it; `answerable` is false for the decider and the person.

    `facts` is a sentence about what was decided on, for kinds that have one.
    """

    appeal: Appeal
    person: str
    answerable: bool
    facts: str = ""


def list_own_decisions(session: Session, person: Person) -> list[OwnDecision]:
    """Return the decisions about a person that hold now, each with its appeal."""
    appeals = {_key(appeal): appeal for appeal in list_own_appeals(session, person)}
    return [
        OwnDecision(row, appeals.get((row.task_id, row.kind, row.subject_id, row.at)))
        for row in read_decisions(session, person.id)
    ]


def _key(appeal: Appeal) -> tuple[object, ...]:
    return appeal.task_id, appeal.kind, appeal.subject_id, appeal.decided_at


def list_own_appeals(session: Session, person: Person) -> Sequence[Appeal]:
    """Return the appeals of a person, newest first."""
    return session.scalars(select(Appeal).where(Appeal.person_id == person.id).order_by(Appeal.id.desc())).all()


def write_appeal(session: Session, person: Person, task_id: str, kind: str, subject_id: int, text: str) -> Appeal:
    """Appeal against a decision about oneself that holds now; once for each decision."""
    cleaned = _clean(text, "text")
    session.get(Person, person.id, with_for_update={"key_share": True})  # two at once come one after the other
    own = {(row.decision.task_id, str(row.decision.kind), row.decision.subject_id): row for row in
           list_own_decisions(session, person)}  # fmt: skip
    row = own.get((task_id, kind, subject_id))
    if row is None:
        raise errors.Conflict(_("There is no such decision about you now."))
    if row.appeal is not None and (row.appeal.state, row.appeal.text) == (AppealState.WAITING, cleaned):
        return row.appeal  # sent twice
    if row.appeal is not None:
        raise errors.Conflict(_("You have appealed against this decision already."))
    decision = row.decision
    appeal = Appeal(
        task_id=task_id,
        person_id=person.id,
        kind=decision.kind,
        subject_id=subject_id,
        decided_at=decision.at,
        decider_id=decision.decider_id,
        reason=decision.reason,
        text=cleaned,
    )
    session.add(appeal)
    session.flush()
    rounds.record_act(session, person, "appeal.write", task=task_id, appeal=appeal.id, decision=str(decision.kind))
    name = rounds.task_config(session, task_id).name
    text = _("A person appeals against a decision in %(name)s.", name=name)
    for person_id in _answerers(session, appeal):
        notices.notify_person(session, person_id, "appeal", text, link=f"/tasks/{task_id}/appeals")
    return appeal


def _answerers(session: Session, appeal: Appeal) -> list[int]:
    """Return who is asked to answer: those with a role in the task, or the site's administrators where none is left."""
    roles = select(Role.person_id).where(Role.task_id == appeal.task_id, Role.role.in_(ANSWERERS))
    for group in (roles.order_by(Role.person_id), administrators()):
        ids = [id for id in session.scalars(group) if id not in (appeal.person_id, appeal.decider_id)]
        if ids:
            return ids
    return []


def withdraw_appeal(session: Session, person: Person, appeal_id: int) -> Appeal:
    """Take one's own appeal back before it is answered."""
    appeal = session.get(Appeal, appeal_id, with_for_update=True, populate_existing=True)
    if appeal is None or appeal.person_id != person.id:
        raise errors.NotFound(_("There is no such appeal of yours."))
    if appeal.state == AppealState.WITHDRAWN:
        return appeal  # sent twice
    if appeal.state != AppealState.WAITING:
        raise errors.Conflict(_("This appeal was answered already."))
    appeal.state, appeal.answered_at = AppealState.WITHDRAWN, now()
    rounds.record_act(session, person, "appeal.withdraw", task=appeal.task_id, appeal=appeal.id)
    return appeal


def list_appeals(
    session: Session, actor: Person, task_id: str, waiting: bool = True, before: int | None = None, limit: int = 20
) -> list[AppealCase]:
    """Return the appeals in a task that wait, or those that were answered (experts, moderators, owners)."""
    rounds.require(session, actor, Action.ANSWER_APPEAL, task_id)
    state = Appeal.state == AppealState.WAITING if waiting else Appeal.state != AppealState.WAITING
    statement = select(Appeal, Person).join(Person, Person.id == Appeal.person_id)
    earlier = Appeal.id < before if before else true()
    statement = statement.where(Appeal.task_id == task_id, state, earlier)
    return [
        AppealCase(appeal, person.public_name, waiting and _answerable(actor, appeal), describe_case(session, appeal))
        for appeal, person in session.execute(statement.order_by(Appeal.id.desc()).limit(limit)).all()
    ]


def _answerable(actor: Person, appeal: Appeal) -> bool:
    return actor.id not in (appeal.decider_id, appeal.person_id)


def answer_appeal(session: Session, actor: Person, task_id: str, appeal_id: int, granted: bool, text: str) -> Appeal:
    """Grant or refuse an appeal, with an answer that the person reads (experts, moderators, owners).

    Refused for the person who made the decision and for the one whom it is about. Granting reverses the decision.
    """
    rounds.require(session, actor, Action.ANSWER_APPEAL, task_id)
    cleaned = _clean(text, "answer")
    appeal = session.get(Appeal, appeal_id, with_for_update=True, populate_existing=True)
    if appeal is None or appeal.task_id != task_id:
        raise errors.NotFound(_("There is no such appeal."))
    if not _answerable(actor, appeal):
        raise errors.Forbidden(_("Who made a decision, or whom it is about, does not answer the appeal."))
    outcome = AppealState.GRANTED if granted else AppealState.REFUSED
    if (appeal.state, appeal.answer, appeal.answered_by) == (outcome, cleaned, actor.id):
        return appeal  # sent twice
    if appeal.state != AppealState.WAITING:
        raise errors.Conflict(_("This appeal was answered already."))
    appeal.state = outcome
    appeal.answer, appeal.answered_by, appeal.answered_at = cleaned, actor.id, now()
    kind = "appeal.grant" if granted else "appeal.refuse"
    rounds.record_act(session, actor, kind, task=task_id, appeal=appeal.id, person=appeal.person_id)
    if granted and _holds(session, appeal):
        grants[DecisionKind(appeal.kind)](session, appeal)
    name = rounds.task_config(session, task_id).name
    notice = (
        _("Your appeal in %(name)s was granted: %(text)s", name=name, text=cleaned)
        if granted
        else _("Your appeal in %(name)s was refused: %(text)s", name=name, text=cleaned)
    )
    notices.notify_person(session, appeal.person_id, "appeal", notice, link="/me/decisions")
    if appeal.decider_id is not None:
        about = _("An appeal against a decision of yours in %(name)s was answered.", name=name)
        notices.notify_person(
            session, appeal.decider_id, "appeal", about, link=f"/tasks/{task_id}/appeals?which=answered"
        )
    session.flush()
    return appeal


def _holds(session: Session, appeal: Appeal) -> bool:
    """Return whether the decision still holds: it may have been reversed, or made anew, since the appeal."""
    rows = read_decisions(session, appeal.person_id)
    return any((row.task_id, row.kind, row.subject_id, row.at) == _key(appeal) for row in rows)


def forget_person(session: Session, person_id: int) -> None:
    """Empty what a person wrote in appeals, before their account is deleted."""
    for appeal in session.scalars(select(Appeal).where(Appeal.person_id == person_id)):
        appeal.text = ""
        if appeal.state == AppealState.WAITING:
            appeal.state, appeal.answered_at = AppealState.WITHDRAWN, now()


def _clean(text: str, field: str) -> str:
    cleaned = text.strip()
    if not cleaned or len(cleaned) > LONGEST:
        raise errors.Invalid({field: _("Write between 1 and %(most)s characters.", most=LONGEST)})
    return cleaned
