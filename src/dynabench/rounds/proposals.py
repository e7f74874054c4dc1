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
from dynabench.rounds.tables import Proposal, ProposalState, Task
from dynabench.tasks import TaskConfig

Mode = Literal["proposed", "free", "admins"]
"""Who makes tasks: an admin accepts what others propose; everybody at once; admins alone."""
State = Literal["waiting", "accepted", "refused", "withdrawn"]
MOST_WAITING = 5
LONGEST_NOTE = 1000


def waiting_count(person_id: int) -> Select[int]:
    """Return the number of a person's proposals that wait: one index range."""
    mine = (Proposal.person_id == person_id, Proposal.state == ProposalState.WAITING)
    return select(func.count()).select_from(Proposal).where(*mine)


def check_new_task(session: Session, source: str) -> TaskConfig:
    """The config of a task that is not there yet; raises `Invalid`."""
    config = service.parse_config(source)
    if config.id in service.RESERVED:
        raise errors.Invalid(
            {"id": _("A task cannot be called %(id)s: the site has a page at this address.", id=repr(config.id))}
        )
    if session.get(Task, config.id) is not None:
        raise errors.Invalid({"id": _("A task %(id)s already exists. Add a new version in its console.", id=config.id)})
    return config


def may_create_task(person: Person, mode: Mode) -> bool:
    """Return whether a person may create tasks at once, without a proposal.

    Raise `Forbidden` for a person who may not even propose one.
    """
    if mode == "free" or may.may(person, Action.CREATE_TASK):
        return True
    if mode == "admins":
        raise errors.Forbidden(_("Only admins can create tasks here. Ask one to create it and make you its owner."))
    return False


def create_task(session: Session, person: Person, mode: Mode, source: str) -> str:
    """Make a task at once, with its owner; its id. `Forbidden` where an admin has to accept it."""
    if not may_create_task(person, mode):
        raise errors.Forbidden(_("New tasks need an admin's approval here. Propose it."))
    check_new_task(session, source)
    return service.save_task(session, person, source, new_by_anyone=True).task_id


def propose_task(session: Session, person: Person, mode: Mode, source: str, note: str = "") -> Proposal:
    """Ask the admins for a task; they are told. Raises `Invalid`, and `Conflict` where enough wait."""
    if may_create_task(person, mode) and not may.may(person, Action.CREATE_TASK):
        raise errors.Conflict(_("Tasks need no approval here: create it."))
    config = check_new_task(session, source)
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise errors.Invalid({"note": _("Use at most %(note)s characters.", note=f"{LONGEST_NOTE:,}")})
    session.get(Person, person.id, with_for_update=True)  # counted one at a time
    if (session.scalar(waiting_count(person.id)) or 0) >= MOST_WAITING:
        raise errors.Conflict(
            _(
                "You already have %(most_waiting)s proposals waiting. Withdraw one or wait for a decision.",
                most_waiting=MOST_WAITING,
            )
        )
    proposal = Proposal(task_id=config.id, source=source, note=note, person_id=person.id)
    session.add(proposal)
    session.flush()
    service.record_act(session, person, "proposal.sent", proposal=proposal.id, of=config.id)
    for admin in session.scalars(administrators()):
        text = _("%(public_name)s proposes a task: %(name)s.", public_name=person.public_name, name=config.name)
        notices.notify_person(session, admin, "proposal", text, link=f"/admin/proposals/{proposal.id}")
    return proposal


def get_proposal(session: Session, person: Person | None, id: int) -> Proposal:
    """A proposal that was sent, for who wrote it and for admins; None is the operator."""
    proposal = session.get(Proposal, id)
    if proposal is not None and proposal.state == ProposalState.DRAFT:
        proposal = None
    if proposal is None or (person is not None and not may.may(person, Action.SEE_PROPOSAL, author=proposal.person_id)):
        raise errors.NotFound(_("There is no such proposal."))
    return proposal


def list_proposals(
    session: Session, person_id: int | None, state: State | None, before: int | None, limit: int
) -> Sequence[Proposal]:
    """Proposals, newest first, below the id `before`: of one person or (None) of all, in one state or any."""
    sent = Proposal.state != ProposalState.DRAFT
    statement = select(Proposal).where(sent).order_by(Proposal.id.desc()).limit(limit)
    if person_id is not None:
        statement = statement.where(Proposal.person_id == person_id)
    if state is not None:
        statement = statement.where(Proposal.state == state)
    if before is not None:
        statement = statement.where(Proposal.id < before)
    return session.scalars(statement).all()


def decide_proposal(session: Session, actor: Person | None, id: int, accept: bool, reason: str = "") -> Proposal:
    """Accept a proposal: the task is there, and its proposer owns it; or refuse it, for a reason that they read.

    For admins; None is the operator. Raises `Conflict` where it does not wait any more.
    """
    if actor is not None:
        may.refuse_unless(may.may(actor, Action.DECIDE_PROPOSAL))
    proposal = _lock_waiting(session, actor, id)
    if not accept or reason.strip():
        reason = people.clean_reason(reason)
    proposal.state, proposal.reason, proposal.decided_at = (
        ProposalState.ACCEPTED if accept else ProposalState.REFUSED,
        reason.strip(),
        now(),
    )
    proposal.decided_by = actor.id if actor else None
    link = f"/proposals#proposal-{id}"
    if accept:
        check_new_task(session, proposal.source)
        proposer = session.get_one(Person, proposal.person_id)
        service.save_task(session, proposer, proposal.source, new_by_anyone=True)
        service.record_act(session, actor, "proposal.accepted", task=proposal.task_id, proposal=id)
        text, link = (
            _("Your task %(task_id)s was accepted; you are its owner.", task_id=proposal.task_id),
            f"/tasks/{proposal.task_id}/manage",
        )
    else:
        service.record_act(session, actor, "proposal.refused", proposal=id, of=proposal.task_id, reason=proposal.reason)
        text = f"Your task {proposal.task_id} was not accepted: {proposal.reason}"
    remark = f" {proposal.reason}" if accept and proposal.reason else ""
    notices.notify_person(session, proposal.person_id, "proposal", text + remark, link=link)
    return proposal


def withdraw_proposal(session: Session, person: Person, id: int) -> Proposal:
    """Take a proposal back that waits."""
    author = get_proposal(session, person, id).person_id
    may.refuse_unless(may.may(person, Action.WITHDRAW_PROPOSAL, author=author))
    proposal = _lock_waiting(session, person, id)
    proposal.state, proposal.decided_at = ProposalState.WITHDRAWN, now()
    service.record_act(session, person, "proposal.withdrawn", proposal=id, of=proposal.task_id)
    return proposal


def _lock_waiting(session: Session, person: Person | None, id: int) -> Proposal:
    get_proposal(session, person, id)
    proposal = session.get_one(Proposal, id, with_for_update=True, populate_existing=True)
    if proposal.state != ProposalState.WAITING:
        raise errors.Conflict(_("This proposal is already %(state)s.", state=proposal.state))
    return proposal
