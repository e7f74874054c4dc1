"""Consequences of too few right answers to gold items and attention checks, and their reversal.

The validator is told each time, the owners find an entry and a notice, and the audit log has a line. A pause and a
review hold until an owner ends them; a warning ends by itself once the share is high enough again. Answers from before
the end of a decision are not held against the validator again.
"""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import service as rounds
from dynabench.tasks.sections import ControlSettings
from dynabench.validation.controls import queries
from dynabench.validation.controls.tables import Consequence, ControlDecision, ControlPlace


class CheckingPaused(errors.Forbidden):
    """An owner's rule has paused a validator: nothing more is handed out until an owner lifts it."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "Your checking in this task is paused, because too few of your answers to control items were right. An "
                "owner can lift the pause. The page “Decisions about you” has the figures, and lets you appeal."
            ),
            link="/me/decisions",
        )


def refuse_paused(session: Session, person_id: int, task_id: str) -> None:
    """Raise `CheckingPaused` where a validator is paused: one index range."""
    if is_paused(session, person_id, task_id):
        raise CheckingPaused


def is_paused(session: Session, person_id: int, task_id: str) -> bool:
    """Return whether a validator is paused in a task: one index range."""
    pause = select(ControlDecision.id).where(
        ControlDecision.task_id == task_id,
        ControlDecision.person_id == person_id,
        ControlDecision.consequence == Consequence.PAUSE,
        ControlDecision.ended_at.is_(None),
    )
    return session.scalar(pause.limit(1)) is not None


def explain_decision(decision: ControlDecision) -> str:
    """Return the reason of a decision in words."""
    return _(
        "%(right)s of %(answers)s answers to control items were right; at least %(share)s %% are expected.",
        right=decision.right,
        answers=decision.answers,
        share=f"{100 * decision.threshold:.0f}",
    )


def decide_consequence(session: Session, person_id: int, task_id: str, settings: ControlSettings) -> None:
    """Decide what follows from a person's answers so far. The caller has locked the person."""
    decisions = session.scalars(queries.decisions_of(task_id, person_id)).all()
    ended = max((row.last_answer for row in decisions if row.ended_at is not None), default=0)
    answers, right, newest = session.execute(queries.measured_since(task_id, person_id, ended)).one()
    current = [row for row in decisions if row.ended_at is None]
    is_enough = right >= settings.threshold * answers
    if current:
        if is_enough and current[-1].consequence == Consequence.WARN:
            _recover(session, current[-1], newest)
        return
    if answers < settings.least or is_enough:
        return
    decision = ControlDecision(
        task_id=task_id,
        person_id=person_id,
        consequence=settings.below,
        answers=answers,
        right=right,
        threshold=settings.threshold,
        last_answer=newest,
    )
    _announce(session, decision, None)


def _announce(session: Session, decision: ControlDecision, actor: Person | None) -> None:
    """Store a decision; tell the validator and the owners, and write the audit log."""
    session.add(decision)
    session.flush()
    task_id, person_id = decision.task_id, decision.person_id
    name, reason = rounds.task_config(session, task_id).name, explain_decision(decision)
    texts = {
        Consequence.WARN: _(
            "%(name)s: %(reason)s Please read the guidelines again, take your time, and skip what you are not sure of.",
            name=name,
            reason=reason,
        ),
        Consequence.PAUSE: _(
            "%(name)s: your checking is paused. %(reason)s An owner can lift the pause, and you can appeal.",
            name=name,
            reason=reason,
        ),
        Consequence.REVIEW: _(
            "%(name)s: %(reason)s An owner will look at it. You can go on; please read the guidelines again.",
            name=name,
            reason=reason,
        ),
    }
    is_pause = decision.consequence == Consequence.PAUSE
    link = "/me/decisions" if is_pause else f"/tasks/{task_id}/validate"
    notices.notify_person(session, person_id, "warning", texts[Consequence(decision.consequence)], link=link)
    kind = f"controls.{decision.consequence}"
    counts = {"answers": decision.answers, "right": decision.right}
    rounds.record_act(session, actor, kind, task=task_id, person=person_id, decision=decision.id, **counts)
    about = _("%(name)s: a validator is below the threshold of control items.", name=name)
    owners = select(Role.person_id).where(Role.task_id == task_id, Role.role == TaskRole.OWNER)
    for owner_id in session.scalars(owners.order_by(Role.person_id)).all():
        if owner_id != person_id and (actor is None or owner_id != actor.id):
            notices.notify_person(session, owner_id, "controls", about, link=f"/tasks/{task_id}/manage/controls")


def _recover(session: Session, decision: ControlDecision, newest: int) -> None:
    decision.ended_at, decision.last_answer = now(), newest
    name = rounds.task_config(session, decision.task_id).name
    text = _("%(name)s: your answers to control items are above the threshold again. Thank you!", name=name)
    notices.notify_person(session, decision.person_id, "lifted", text)
    rounds.record_act(
        session, None, "controls.recovered", task=decision.task_id, person=decision.person_id, decision=decision.id
    )


def list_decisions(
    session: Session, actor: Person | None, task_id: str, limit: int = 500
) -> list[tuple[ControlDecision, Person]]:
    """Return the decisions of a task with the validators, those that hold first (owners)."""
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    return [(row[0], row[1]) for row in session.execute(queries.decisions_in(task_id, limit))]


def end_decision(session: Session, actor: Person | None, task_id: str, decision_id: int) -> ControlDecision:
    """End a decision: lift a pause, close a review, take a warning back (owners). Twice changes nothing.

    What the validator answered before counts no more.
    """
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    decision = _lock_decision(session, task_id, decision_id)
    if decision.ended_at is not None:
        return decision
    newest = session.execute(queries.measured_since(task_id, decision.person_id, 0)).one()[2]
    decision.ended_at, decision.ended_by = now(), actor.id if actor else None
    decision.last_answer = max(newest, decision.last_answer)
    session.flush()
    rounds.record_act(
        session, actor, "controls.end", task=task_id, person=decision.person_id, decision=decision.id,
        consequence=decision.consequence,
    )  # fmt: skip
    name = rounds.task_config(session, task_id).name
    texts = {
        Consequence.WARN: _("%(name)s: an owner has taken the warning about control items back.", name=name),
        Consequence.PAUSE: _("%(name)s: your checking is no longer paused.", name=name),
        Consequence.REVIEW: _("%(name)s: an owner has looked at your answers to control items.", name=name),
    }
    notices.notify_person(
        session,
        decision.person_id,
        "lifted",
        texts[Consequence(decision.consequence)],
        link=f"/tasks/{task_id}/validate",
    )
    return decision


def pause_reviewed(session: Session, actor: Person | None, task_id: str, decision_id: int) -> ControlDecision:
    """Pause the validator of a review or a warning that holds (owners); that decision ends."""
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    before = _lock_decision(session, task_id, decision_id)
    if before.ended_at is not None or before.consequence == Consequence.PAUSE:
        raise errors.Conflict(_("Only a validator whose review or warning holds can be paused."))
    before.ended_at, before.ended_by = now(), actor.id if actor else None
    pause = ControlDecision(
        task_id=task_id,
        person_id=before.person_id,
        consequence=Consequence.PAUSE,
        answers=before.answers,
        right=before.right,
        threshold=before.threshold,
        last_answer=before.last_answer,
        decided_by=actor.id if actor else None,
    )
    _announce(session, pause, actor)
    return pause


def _lock_decision(session: Session, task_id: str, decision_id: int) -> ControlDecision:
    decision = session.get(ControlDecision, decision_id)
    if decision is None or decision.task_id != task_id:
        raise errors.NotFound(_("There is no such decision."))
    session.get_one(Person, decision.person_id, with_for_update={"key_share": True})  # before an answer decides again
    session.refresh(decision, with_for_update=True)
    return decision


def forget_person(session: Session, person_id: int) -> None:
    """Delete the decisions about a person and the controls handed out, before the account is deleted.

    Answers stay, as votes do, without a name.
    """
    for table in (ControlDecision, ControlPlace):
        session.execute(delete(table).where(table.person_id == person_id))


def read_pauses(session: Session, person_id: int) -> list[ControlDecision]:
    """Return the pauses of a person that hold: one probe for each task with decisions."""
    mine = (ControlDecision.person_id == person_id, ControlDecision.consequence == Consequence.PAUSE)
    return list(session.scalars(select(ControlDecision).where(*mine, ControlDecision.ended_at.is_(None))))
