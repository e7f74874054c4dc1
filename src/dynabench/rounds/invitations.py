"""Invitations by link: the person who follows one and accepts gets a role in a task."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.security import digest, keyed
from dynabench.kit.settings import Settings
from dynabench.people import may
from dynabench.people.accounts.rules import clean_email, email_problem
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import mailing
from dynabench.people.roles import INVITED_ALONE, RANK, Role, TaskRole
from dynabench.rounds import people, queries, service
from dynabench.rounds.tables import Invitation, Round, RoundPerson

MOST_USES, MOST_DAYS, MOST_OPEN = 1000, 90, 100
GONE = _("This invitation is unknown, used up, revoked or expired. Ask the sender for a new one.")


def clean_invitation(role: str, note: str, uses: int, days: int) -> str:
    """The note of an invitation in its normal form; raises `Invalid` for what cannot be invited like this."""
    wrong = {}
    if role not in service.ROLES:
        wrong["role"] = _("Choose one of %(roles)s.", roles=", ".join(service.ROLES))
    elif role in INVITED_ALONE and uses != 1:
        wrong["uses"] = _("A link for owners or moderators works only once.")
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


def create_invitation(
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
    round_ = service.round_of(session, task_id, number) if number is not None else None
    note = clean_invitation(role, note, uses, days)
    service.lock_task(session, task_id)  # counted one at a time
    if len(session.scalars(queries.open_invitations(task_id, now())).all()) >= MOST_OPEN:
        raise errors.Conflict(
            _("This task has %(most_open)s open invitations. Revoke some first.", most_open=MOST_OPEN)
        )
    secret = secret or secrets.token_urlsafe(32)
    invitation = Invitation(
        task_id=task_id,
        role=role,
        round_id=round_.id if round_ else None,
        note=note,
        digest=digest(secret),
        most_uses=uses,
        created_by=actor.id if actor else None,
        expires_at=now() + timedelta(days=days),
    )
    session.add(invitation)
    session.flush()
    service.record_act(
        session,
        actor,
        "task.invite",
        task=task_id,
        invitation=invitation.id,
        role=role,
        uses=uses,
        days=days,
        round=number,
    )
    return invitation, secret


def list_invitations(session: Session, actor: Person | None, task_id: str) -> Sequence[Invitation]:
    """A task's invitations that still work, newest first (owners)."""
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    return session.scalars(queries.open_invitations(task_id, now())).all()


def revoke_invitation(session: Session, actor: Person | None, task_id: str, invitation_id: int) -> None:
    """End an invitation (owners); who accepted it keeps the role. Twice changes nothing."""
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    invitation = session.get(Invitation, invitation_id, with_for_update=True)
    if invitation is None or invitation.task_id != task_id:
        raise errors.NotFound(_("This task has no such invitation."))
    if invitation.revoked_at is None:
        invitation.revoked_at = now()
        service.record_act(session, actor, "task.uninvite", task=task_id, invitation=invitation.id)


@dataclass(frozen=True)
class InvitationOffer:
    """The role that a person would get by accepting an invitation.

    `already` is the role that the person has and would keep. `round` is the number of the round that they
    could then take part in; None if the invitation is for no round, or if they may take part already.
    """

    task_id: str
    task_name: str
    role: str
    already: str | None
    round: int | None = None


def read_offer(session: Session, person: Person | None, secret: str) -> InvitationOffer:
    """Return the offer of an invitation; raise `NotFound` if the invitation does not work."""
    return _offer(session, person, _working_invitation(session, secret, lock=False))


def accept_invitation(session: Session, person: Person, secret: str) -> InvitationOffer:
    """Take an invitation. A person who has the role or a higher one keeps it, and uses nothing up."""
    invitation = _working_invitation(session, secret, lock=True)
    people.refuse_banned(session, person, invitation.task_id)
    offer = _offer(session, person, invitation)
    if offer.already is not None and offer.round is None:
        return offer
    if offer.round is not None:
        session.add(RoundPerson(round_id=invitation.round_id, person_id=person.id))
    if offer.already is None:
        _take_role(session, person, invitation)
    invitation.uses += 1
    subject = {"task": invitation.task_id, "person": person.id, "role": invitation.role, "invitation": invitation.id}
    service.record_act(session, person, "task.join", **subject, round=offer.round)
    return offer


def _take_role(session: Session, person: Person, invitation: Invitation) -> None:
    role = session.get(Role, (invitation.task_id, person.id), with_for_update=True)
    if role is None:
        session.add(Role(task_id=invitation.task_id, person_id=person.id, role=invitation.role))
    else:
        role.role = invitation.role


def _working_invitation(session: Session, secret: str, *, lock: bool) -> Invitation:
    invitation = session.scalar(queries.invitation(digest(secret), lock))
    if (
        invitation is None
        or invitation.revoked_at is not None
        or invitation.expires_at <= now()
        or invitation.uses >= invitation.most_uses
    ):
        raise errors.NotFound(GONE)
    return invitation


def _offer(session: Session, person: Person | None, invitation: Invitation) -> InvitationOffer:
    has = may.role_of(session, person, invitation.task_id)
    already = has if has is not None and RANK[has] >= RANK[TaskRole(invitation.role)] else None
    name = service.task_config(session, invitation.task_id).name
    round_ = session.get(Round, invitation.round_id) if invitation.round_id else None
    if round_ is not None and person is not None and session.get(RoundPerson, (round_.id, person.id)) is not None:
        round_ = None
    return InvitationOffer(invitation.task_id, name, invitation.role, already, round_.number if round_ else None)


MAIL_KIND = "mail_invitation"


def mailed_secret(settings: Settings, nonce: str) -> str:
    """The secret of a mailed invitation."""
    return keyed(settings.key, "mailed invitation", nonce).hex()


def invite_by_mail(
    session: Session, settings: Settings, actor: Person, task_id: str, role: str, address: str, days: int = 7
) -> Invitation:
    """Invite a person by mail to a role (owners); the link works once. Raises `Conflict` where the site sends none."""
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    if not settings.mails:
        raise errors.Conflict(_("This site does not send email. Create a link and send it yourself."))
    if problem := email_problem(address.strip()):
        raise errors.Invalid({"address": problem})
    nonce = secrets.token_hex(16)
    how: dict[str, Any] = {"days": days, "secret": mailed_secret(settings, nonce)}
    invitation, _secret = create_invitation(session, actor, task_id, role, "sent by mail", **how)
    payload = {"invitation": invitation.id, "address": clean_email(address.strip()), "nonce": nonce}
    jobs.enqueue(session, MAIL_KIND, payload, actor.id)
    return invitation


def _letter(session: Session, settings: Settings, payload: dict[str, Any]) -> Any:
    """The mail, or None where the invitation works no more."""
    invitation = session.get(Invitation, payload["invitation"])
    if (
        invitation is None
        or invitation.revoked_at is not None
        or invitation.uses
        or invitation.expires_at <= now()
        or not settings.mails
    ):
        return None
    by = session.get(Person, invitation.created_by) if invitation.created_by else None
    values = {"task": service.task_config(session, invitation.task_id).name, "role": invitation.role}
    values |= {"by": by.public_name if by else "", "until": f"{invitation.expires_at:%Y-%m-%d}"}
    values["link"] = f"{settings.site}/join/{mailed_secret(settings, payload['nonce'])}"
    return mailing.invitation_letter(
        settings, payload["address"], f"invitation {invitation.id}", invitation.created_at, **values
    )


def try_mailing(database: Database, settings: Settings, payload: dict[str, Any]) -> str:
    """Try once: `sent`, `dropped`, or `refused` with what the server said. Raises `mailing.Later` to be tried again."""
    letter = database.read(_letter, settings, payload)
    if letter is None:
        return "dropped"
    try:
        mailing.send_letter(settings, letter)
    except mailing.RefusedMail as refused:
        return f"refused: {mailing.one_line(str(refused), 200)}"
    return "sent"
