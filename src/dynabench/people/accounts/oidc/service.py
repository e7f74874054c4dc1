"""Accounts at providers of log-ins, and the people they belong to. Every function runs in the caller's transaction."""

import re
from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.kit.errors import Conflict, NotFound
from dynabench.kit.language import _
from dynabench.people.accounts import pending, recovery, rules, service
from dynabench.people.accounts.oidc.provider import Claims
from dynabench.people.accounts.tables import Identity, LoginStep, Person

LINKED_ELSEWHERE = _("This account is already linked to another Dynabench account.")


def person_of_identity(session: Session, claims: Claims) -> Person | None:
    """Return the person whom a provider's account belongs to, and note its use: one probe of the unique index."""
    statement = select(Identity).where(Identity.issuer == claims.issuer, Identity.subject == claims.subject)
    identity = session.scalars(statement).first()
    if identity is None:
        return None
    identity.used_at, identity.email = now(), claims.email
    return session.get_one(Person, identity.person_id)


def next_step(
    session: Session, claims: Claims, person_id: int | None, provider: str, next: str
) -> tuple[str, LoginStep]:
    """Begin what a provider's account that belongs to nobody leads to: the value of the cookie, and the step.

    With `person_id` that person is asked whether it is theirs. Where the provider is sure of an address that an account
    has, the person who comes has to prove that it is theirs; else they join.
    """
    owner = service.find_account(session, claims.email) if claims.verified else None
    step = LoginStep.CONFIRM if person_id else LoginStep.PROOF if owner else LoginStep.JOIN
    person = person_id or (owner.id if owner else None)
    details = {"claims": vars(claims), "provider": provider, "next": next}
    return pending.begin_login(session, step, person, details), step


def link_identity(session: Session, person_id: int, claims: Claims) -> None:
    """Let a person log in with a provider's account from now on; `Conflict` where it is another person's."""
    identity = Identity(person_id=person_id, issuer=claims.issuer, subject=claims.subject, email=claims.email)
    identity.used_at = now()
    try:
        with session.begin_nested():
            session.add(identity)
    except IntegrityError:
        raise Conflict(LINKED_ELSEWHERE) from None
    person = session.get_one(Person, person_id)
    if claims.verified and claims.email.lower() == person.email.lower():
        person.email_confirmed_at = person.email_confirmed_at or now()
    service.record_act(session, person_id, "identity.link", {"person": person_id, "issuer": claims.issuer})


def join_with_identity(session: Session, newcomer: rules.Newcomer, claims: Claims, mails: bool) -> Person:
    """Make an account without a password for a provider's account; `Conflict` with `fields` for taken names."""
    person = service.register_account(session, newcomer, "")
    link_identity(session, person.id, claims)
    if mails and person.email_confirmed_at is None:
        recovery.mail_confirmation(session, person.id)
    return person


def list_identities(session: Session, person_id: int) -> Sequence[Identity]:
    """Return the accounts at providers that a person logs in with."""
    return session.scalars(select(Identity).where(Identity.person_id == person_id).order_by(Identity.id)).all()


def unlink_identity(session: Session, person_id: int, identity_id: int) -> None:
    """Let a person no longer log in with a provider's account; `Conflict` where there would be no way left."""
    identity = session.get(Identity, identity_id)
    if identity is None or identity.person_id != person_id:
        raise NotFound(_("There is no such linked account."))
    person = session.get_one(Person, person_id, with_for_update=True)
    if not person.password_hash and len(list_identities(session, person_id)) == 1:
        raise Conflict(_("Set a password first: without it you could not log in any more."))
    session.execute(delete(Identity).where(Identity.id == identity_id))
    service.record_act(session, person_id, "identity.unlink", {"person": person_id, "issuer": identity.issuer})


def suggested_username(claims: Claims) -> str:
    """Return a username that may be taken, made from what a provider says of a person; "" where nothing fits."""
    for text in (claims.name, claims.email.partition("@")[0]):
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")[:40]
        if name and not rules.username_problem(name):
            return name
    return ""
