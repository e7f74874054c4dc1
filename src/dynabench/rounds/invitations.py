"""Invitations by link: whoever follows one and accepts becomes something to a task."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.security import digest
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.roles import INVITED_ALONE, RANK, Role, TaskRole
from dynabench.rounds import people, queries, service
from dynabench.rounds.tables import Invitation, Round, RoundPerson

MOST_USES, MOST_DAYS, MOST_OPEN = 1000, 90, 100
GONE = _("This invitation is unknown, used up, revoked or out of date. Ask the sender for a new one.")


def clean(role: str, note: str, uses: int, days: int) -> str:
    """The note of an invitation in its normal form; raises `Invalid` for what cannot be invited like this."""
    wrong = {}
    if role not in service.ROLES:
        wrong["role"] = _("Choose one of %(roles)s.", roles=", ".join(service.ROLES))
    elif role in INVITED_ALONE and uses != 1:
        wrong["uses"] = _("A link that makes somebody owner or moderator works once.")
    elif not 1 <= uses <= MOST_USES:
        wrong["uses"] = _("Choose 1 to %(most_uses)s uses.", most_uses=f"{MOST_USES:,}")
    if not 1 <= days <= MOST_DAYS:
        wrong["days"] = _("Choose 1 to %(most_days)s days.", most_days=MOST_DAYS)
    note = " ".join(note.split())
    if len(note) > 100:
        wrong["note"] = _("Use at most 100 characters.")
    if wrong:
        raise errors.Invalid(wrong)
    return note


def invite(
    session: Session,
    actor: Person | None,
    task_id: str,
    role: str,
    note: str = "",
    uses: int = 1,
    days: int = 7,
    number: int | None = None,
    *,
    secret: str = "",
) -> tuple[Invitation, str]:
    """A new invitation (owners) and its secret, random unless given and shown once: the link is `/join/<secret>`.

    With a `number` it also lets people take part in that round for invited people.
    """
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    of = service.round_of(session, task_id, number) if number is not None else None
    note = clean(role, note, uses, days)
    service.task_locked(session, task_id)  # counted one at a time
    if len(session.scalars(queries.open_invitations(task_id, now())).all()) >= MOST_OPEN:
        raise errors.Conflict(
            _("This task has %(most_open)s open invitations. Revoke some first.", most_open=MOST_OPEN)
        )
    secret = secret or secrets.token_urlsafe(32)
    made = Invitation(
        task_id=task_id,
        role=role,
        round_id=of.id if of else None,
        note=note,
        digest=digest(secret),
        most_uses=uses,
        created_by=actor.id if actor else None,
        expires_at=now() + timedelta(days=days),
    )
    session.add(made)
    session.flush()
    service.act(
        session, actor, "task.invite", task=task_id, invitation=made.id, role=role, uses=uses, days=days, round=number
    )
    return made, secret


def invitations(session: Session, actor: Person | None, task_id: str) -> Sequence[Invitation]:
    """A task's invitations that still work, newest first (owners)."""
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    return session.scalars(queries.open_invitations(task_id, now())).all()


def revoke(session: Session, actor: Person | None, task_id: str, invitation_id: int) -> None:
    """End an invitation (owners); who accepted it keeps the role. Twice changes nothing."""
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    found = session.get(Invitation, invitation_id, with_for_update=True)
    if found is None or found.task_id != task_id:
        raise errors.NotFound(_("This task has no such invitation."))
    if found.revoked_at is None:
        found.revoked_at = now()
        service.act(session, actor, "task.uninvite", task=task_id, invitation=found.id)


@dataclass(frozen=True)
class Offer:
    """The role that a person would get by accepting an invitation.

    `already` is the role that the person has and would keep. `round` is the number of the round that they
    could then take part in; None if the invitation is for no round, or if they may take part already.
    """

    task_id: str
    task_name: str
    role: str
    already: str | None
    round: int | None = None


def look(session: Session, person: Person | None, secret: str) -> Offer:
    """Return the offer of an invitation; raise `NotFound` if the invitation does not work."""
    return _offer(session, person, _working(session, secret, lock=False))


def accept(session: Session, person: Person, secret: str) -> Offer:
    """Take an invitation. Whoever is as much or more to the task already stays that, and uses nothing up."""
    found = _working(session, secret, lock=True)
    people.refuse_banned(session, person, found.task_id)
    offer = _offer(session, person, found)
    if offer.already is not None and offer.round is None:
        return offer
    if offer.round is not None:
        session.add(RoundPerson(round_id=found.round_id, person_id=person.id))
    if offer.already is None:
        _become(session, person, found)
    found.uses += 1
    subject = {"task": found.task_id, "person": person.id, "role": found.role, "invitation": found.id}
    service.act(session, person, "task.join", **subject, round=offer.round)
    return offer


def _become(session: Session, person: Person, found: Invitation) -> None:
    known = session.get(Role, (found.task_id, person.id), with_for_update=True)
    if known is None:
        session.add(Role(task_id=found.task_id, person_id=person.id, role=found.role))
    else:
        known.role = found.role


def _working(session: Session, secret: str, *, lock: bool) -> Invitation:
    found = session.scalar(queries.invitation(digest(secret), lock))
    if found is None or found.revoked_at is not None or found.expires_at <= now() or found.uses >= found.most_uses:
        raise errors.NotFound(GONE)
    return found


def _offer(session: Session, person: Person | None, found: Invitation) -> Offer:
    has = may.role_of(session, person, found.task_id)
    already = has if has is not None and RANK[has] >= RANK[TaskRole(found.role)] else None
    name = service.task_config(session, found.task_id).name
    of = session.get(Round, found.round_id) if found.round_id else None
    if of is not None and person is not None and session.get(RoundPerson, (of.id, person.id)) is not None:
        of = None
    return Offer(found.task_id, name, found.role, already, of.number if of else None)
