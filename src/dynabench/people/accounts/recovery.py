"""Links by which people choose a new password or confirm their address; functions run in the caller's transaction."""

from datetime import timedelta

from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.people.accounts import service
from dynabench.people.accounts.tables import Person
from dynabench.people.link_tokens import DeadLink, check_link_token, linked_person, make_link_token
from dynabench.people.mailings import MailingKind, count_mails, send_mail

RESET, CONFIRM = "reset password", "confirm address"
HOUR = 3600
RESET_SECONDS, CONFIRM_SECONDS = HOUR, 7 * 24 * HOUR
FROM_OPERATOR_SECONDS = 24 * HOUR
"""How long a link works that an operator made, who has to bring it to the person."""
MAILS_PER_HOUR = 3


def reset_token(key: bytes, person: Person, seconds: int = RESET_SECONDS) -> str:
    """Return a token by which a person chooses a new password once: it is signed together with the present one."""
    return make_link_token(key, RESET, person.id, _present(person), seconds)


def mail_reset_link(session: Session, name: str) -> None:
    """Mail a link for a new password to the account with this username or address.

    Where there is none, or where it was sent several in the last hour, nothing happens.
    """
    person = service.find_account(session, name)
    if person is not None and _has_room(session, person.id, MailingKind.RESET):
        send_mail(session, person.id, MailingKind.RESET)


def person_to_reset(session: Session, key: bytes, token: str) -> Person:
    """Return the person whose password a link changes; `NotFound` where the link does not work."""
    person = _linked(session, token)
    check_link_token(key, RESET, token, _present(person))
    return person


def reset_password(session: Session, key: bytes, token: str, password_hash: str) -> Person:
    """Give the person of a link a new password; every browser is logged out, and the link works no more."""
    session.get(Person, linked_person(token), with_for_update=True)  # of two requests with a link one is the second
    person = person_to_reset(session, key, token)
    service.change_password(session, person.id, password_hash)
    service.record_act(session, person.id, "password.reset", {"person": person.id})
    return person


def make_reset_link(session: Session, key: bytes, by: int | None, person_id: int) -> tuple[Person, str]:
    """Return a person, and a token for a new password that an operator brings to them; recorded in the audit log."""
    person = _existing(session, person_id)
    service.record_act(session, by, "user.reset_link", {"person": person.id})
    return person, reset_token(key, person, FROM_OPERATOR_SECONDS)


def confirmation_token(key: bytes, person: Person) -> str:
    """Return a token by which a person confirms the address of their account."""
    return make_link_token(key, CONFIRM, person.id, person.email, CONFIRM_SECONDS)


def mail_confirmation(session: Session, person_id: int) -> None:
    """Ask the address of an account whether it is right, unless it was asked several times in the last hour."""
    if _has_room(session, person_id, MailingKind.CONFIRM):
        send_mail(session, person_id, MailingKind.CONFIRM)


def person_to_confirm(session: Session, key: bytes, token: str) -> Person:
    """Return the person whose address a link confirms; `NotFound` where the link does not work."""
    person = _linked(session, token)
    check_link_token(key, CONFIRM, token, person.email)
    return person


def confirm_email(session: Session, key: bytes, token: str) -> Person:
    """Note that the address of an account is right; twice changes nothing."""
    person = person_to_confirm(session, key, token)
    person.email_confirmed_at = person.email_confirmed_at or now()
    return person


def _present(person: Person) -> str:
    return f"{person.email} {person.password_hash}"


def _linked(session: Session, token: str) -> Person:
    return _existing(session, linked_person(token))


def _existing(session: Session, person_id: int) -> Person:
    person = session.get(Person, person_id)
    if person is None or person.deleted_at is not None:
        raise DeadLink
    return person


def _has_room(session: Session, person_id: int, kind: MailingKind) -> bool:
    return count_mails(session, person_id, kind, now() - timedelta(seconds=HOUR)) < MAILS_PER_HOUR
