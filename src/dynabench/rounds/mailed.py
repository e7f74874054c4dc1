"""Invitations that the platform mails itself: nothing that is stored holds the link, each try makes it anew."""

import secrets
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts.rules import clean_email, email_problem
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import mailing
from dynabench.rounds import invitations, service
from dynabench.rounds.tables import Invitation

KIND = "mail_invitation"


def secret_of(settings: Settings, nonce: str) -> str:
    """The secret of a mailed invitation."""
    return keyed(settings.key, "mailed invitation", nonce).hex()


def invite(
    session: Session, settings: Settings, actor: Person, task_id: str, role: str, address: str, days: int = 7
) -> Invitation:
    """Invite somebody by mail to a role (owners); the link works once. Raises `Conflict` where the site sends none."""
    service.require(session, actor, Action.INVITE_PEOPLE, task_id)
    if not settings.mails:
        raise errors.Conflict(_("This site sends no mail. Make a link and send it yourself."))
    if problem := email_problem(address.strip()):
        raise errors.Invalid({"address": problem})
    nonce = secrets.token_hex(16)
    how: dict[str, Any] = {"days": days, "secret": secret_of(settings, nonce)}
    made, _secret = invitations.invite(session, actor, task_id, role, "sent by mail", **how)
    payload = {"invitation": made.id, "address": clean_email(address.strip()), "nonce": nonce}
    jobs.enqueue(session, KIND, payload, actor.id)
    return made


def _letter(session: Session, settings: Settings, payload: dict[str, Any]) -> Any:
    """The mail, or None where the invitation works no more."""
    found = session.get(Invitation, payload["invitation"])
    if found is None or found.revoked_at is not None or found.uses or found.expires_at <= now() or not settings.mails:
        return None
    by = session.get(Person, found.created_by) if found.created_by else None
    values = {"task": service.task_config(session, found.task_id).name, "role": found.role}
    values |= {"by": by.public_name if by else "", "until": f"{found.expires_at:%Y-%m-%d}"}
    values["link"] = f"{settings.site}/join/{secret_of(settings, payload['nonce'])}"
    return mailing.invitation_letter(settings, payload["address"], f"invitation {found.id}", found.created_at, **values)


def attempt(database: Database, settings: Settings, payload: dict[str, Any]) -> str:
    """Try once: `sent`, `dropped`, or `refused` with what the server said. Raises `post.Later` to be tried again."""
    letter = database.read(_letter, settings, payload)
    if letter is None:
        return "dropped"
    try:
        mailing.send_letter(settings, letter)
    except mailing.Refused as refused:
        return f"refused: {mailing.one_line(str(refused), 200)}"
    return "sent"
