"""Tasks that people propose: anybody with an account may write one; whether an admin has to accept is a setting."""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.roles import administrators
from dynabench.rounds import people, service
from dynabench.rounds.owner_tables import Proposal, ProposalState
from dynabench.rounds.tables import Task
from dynabench.tasks import TaskConfig

Mode = Literal["proposed", "free", "admins"]
"""Who makes tasks: an admin accepts what others propose; everybody at once; admins alone."""
State = Literal["waiting", "accepted", "refused", "withdrawn"]
MOST_WAITING = 5
NOTE = 1000


def waiting(person_id: int) -> Select[int]:
    """Return the number of a person's proposals that wait: one index range."""
    mine = (Proposal.person_id == person_id, Proposal.state == ProposalState.WAITING)
    return select(func.count()).select_from(Proposal).where(*mine)


def check_new(session: Session, source: str) -> TaskConfig:
    """The config of a task that is not there yet; raises `Invalid`."""
    config = service.parse_config(source)
    if config.id in service.RESERVED:
        raise errors.Invalid({"id": _("No task may be called %(id)s: a page has this address.", id=repr(config.id))})
    if session.get(Task, config.id) is not None:
        raise errors.Invalid(
            {"id": _("There is a task %(id)s already. Its console can give it a new version.", id=config.id)}
        )
    return config


def creates(person: Person, mode: Mode) -> bool:
    """Return whether a person may create tasks at once, without a proposal.

    Raise `Forbidden` for a person who may not even propose one.
    """
    if mode == "free" or may.may(person, Action.CREATE_TASK):
        return True
    if mode == "admins":
        raise errors.Forbidden(_("Only admins make tasks here. Ask one to make it and to make you its owner."))
    return False


def create(session: Session, person: Person, mode: Mode, source: str) -> str:
    """Make a task at once, with its owner; its id. `Forbidden` where an admin has to accept it."""
    if not creates(person, mode):
        raise errors.Forbidden(_("An admin has to accept new tasks here. Propose it."))
    check_new(session, source)
    return service.save_task(session, person, source, new_by_anyone=True).task_id


def propose(session: Session, person: Person, mode: Mode, source: str, note: str = "") -> Proposal:
    """Ask the admins for a task; they are told. Raises `Invalid`, and `Conflict` where enough wait."""
    if creates(person, mode) and not may.may(person, Action.CREATE_TASK):
        raise errors.Conflict(_("Nobody has to accept tasks here: create it."))
    config = check_new(session, source)
    note = note.strip()
    if len(note) > NOTE:
        raise errors.Invalid({"note": _("Use at most %(note)s characters.", note=f"{NOTE:,}")})
    session.get(Person, person.id, with_for_update=True)  # counted one at a time
    if (session.scalar(waiting(person.id)) or 0) >= MOST_WAITING:
        raise errors.Conflict(
            _(
                "%(most_waiting)s of your tasks wait already. Withdraw one, or wait for an answer.",
                most_waiting=MOST_WAITING,
            )
        )
    made = Proposal(task_id=config.id, source=source, note=note, person_id=person.id)
    session.add(made)
    session.flush()
    service.act(session, person, "proposal.sent", proposal=made.id, of=config.id)
    for admin in session.scalars(administrators()):
        text = _("%(public_name)s proposes a task: %(name)s.", public_name=person.public_name, name=config.name)
        notices.notify_person(session, admin, "proposal", text, link=f"/admin/proposals/{made.id}")
    return made


def one(session: Session, person: Person | None, id: int) -> Proposal:
    """A proposal, for who wrote it and for admins; None is the operator."""
    found = session.get(Proposal, id)
    if found is None or (person is not None and not may.may(person, Action.SEE_PROPOSAL, author=found.person_id)):
        raise errors.NotFound(_("There is no such proposal."))
    return found


def listed(
    session: Session, person_id: int | None, state: State | None, before: int | None, limit: int
) -> Sequence[Proposal]:
    """Proposals, newest first, below the id `before`: of one person or (None) of all, in one state or any."""
    found = select(Proposal).order_by(Proposal.id.desc()).limit(limit)
    if person_id is not None:
        found = found.where(Proposal.person_id == person_id)
    if state is not None:
        found = found.where(Proposal.state == state)
    if before is not None:
        found = found.where(Proposal.id < before)
    return session.scalars(found).all()


def decide(session: Session, actor: Person | None, id: int, accept: bool, reason: str = "") -> Proposal:
    """Accept a proposal: the task is there, and its proposer owns it; or refuse it, for a reason that they read.

    For admins; None is the operator. Raises `Conflict` where it does not wait any more.
    """
    if actor is not None:
        may.refuse_unless(may.may(actor, Action.DECIDE_PROPOSAL))
    found = _waiting(session, actor, id)
    if not accept or reason.strip():
        reason = people.clean_reason(reason)
    found.state, found.reason, found.decided_at = (
        ProposalState.ACCEPTED if accept else ProposalState.REFUSED,
        reason.strip(),
        now(),
    )
    found.decided_by = actor.id if actor else None
    link = f"/proposals#proposal-{id}"
    if accept:
        check_new(session, found.source)
        proposer = session.get_one(Person, found.person_id)
        service.save_task(session, proposer, found.source, new_by_anyone=True)
        service.act(session, actor, "proposal.accepted", task=found.task_id, proposal=id)
        text, link = (
            _("Your task %(task_id)s was accepted; you own it.", task_id=found.task_id),
            f"/tasks/{found.task_id}/manage",
        )
    else:
        service.act(session, actor, "proposal.refused", proposal=id, of=found.task_id, reason=found.reason)
        text = f"Your task {found.task_id} was not accepted: {found.reason}"
    said = f" {found.reason}" if accept and found.reason else ""
    notices.notify_person(session, found.person_id, "proposal", text + said, link=link)
    return found


def withdraw(session: Session, person: Person, id: int) -> Proposal:
    """Take a proposal back that waits."""
    author = one(session, person, id).person_id
    may.refuse_unless(may.may(person, Action.WITHDRAW_PROPOSAL, author=author))
    found = _waiting(session, person, id)
    found.state, found.decided_at = ProposalState.WITHDRAWN, now()
    service.act(session, person, "proposal.withdrawn", proposal=id, of=found.task_id)
    return found


def _waiting(session: Session, person: Person | None, id: int) -> Proposal:
    one(session, person, id)
    found = session.get_one(Proposal, id, with_for_update=True, populate_existing=True)
    if found.state != ProposalState.WAITING:
        raise errors.Conflict(_("This proposal is %(state)s already.", state=found.state))
    return found
