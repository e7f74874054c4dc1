"""Accounts: joining, logging in, tokens, names, leaving. Every function runs in the caller's transaction."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.kit.errors import Conflict, NotFound
from dynabench.kit.language import _
from dynabench.kit.security import digest
from dynabench.people.accounts import queries
from dynabench.people.accounts.rules import DELETED, USUAL_SCOPES, Newcomer
from dynabench.people.accounts.tables import (
    Act,
    Identity,
    Notice,
    PendingLogin,
    Person,
    SecondFactor,
    Token,
    UploadedBytes,
)
from dynabench.people.accounts.tables import Session as Login
from dynabench.people.contributions import note_person

TERMS = "2026-11"  # the version of the terms that people agree to when they join
SESSION_LENGTH = timedelta(days=30)
TOKEN_PREFIX = "dyna_"  # noqa: S105 - so that secret scanners can recognise a leaked token


def register_account(session: Session, newcomer: Newcomer, password_hash: str) -> Person:
    """A new account; `Conflict` with `fields` when the name or address is taken."""
    _refuse_taken(session, newcomer)
    person = Person(
        username=newcomer.username,
        email=newcomer.email,
        password_hash=password_hash,
        terms=TERMS,
        agreed_at=now(),
    )
    try:
        with session.begin_nested():
            session.add(person)
    except IntegrityError:  # another person took it in the meantime
        _refuse_taken(session, newcomer)
        raise
    note_person(session, person.id)
    return person


def _refuse_taken(session: Session, newcomer: Newcomer) -> None:
    fields: dict[str, str] = {}
    for person in session.scalars(queries.people_with_name_or_address(newcomer.username, newcomer.email)):
        if person.email.lower() == newcomer.email.lower():
            fields["email"] = _("An account with this address exists; log in instead.")
        if newcomer.username.lower() in (person.username.lower(), person.pseudonym.lower()):
            fields["username"] = _("This name is taken.")
    if fields:
        raise Conflict(" ".join(fields.values()), fields=fields)


def find_account(session: Session, name: str) -> Person | None:
    """The account with this username or mail address."""
    return session.scalars(queries.account_by_name(name.strip())).first()


def account_named(session: Session, name: str) -> Person:
    """The account with this username or mail address; `NotFound` where there is none."""
    person = find_account(session, name)
    if person is None:
        raise NotFound(_("There is no account “%(name)s”.", name=name))
    return person


def usernames(session: Session, person_ids: Sequence[int]) -> dict[int, str]:
    """Return the usernames of people by their ids."""
    people = session.scalars(select(Person).where(Person.id.in_(set(person_ids))))
    return {person.id: person.username for person in people}


def list_accounts(session: Session) -> list[Person]:
    """All accounts that are not deleted."""
    return list(session.scalars(queries.existing_accounts()))


# Logging in


def start_session(
    session: Session,
    person_id: int,
    replaces: str | None = None,
    rehashed: str | None = None,
    user_agent: str = "",
    provider: str = "",
) -> str:
    """Log in: the new cookie's value. The browser's earlier cookie ends, and a password hash of old is replaced."""
    if replaces:
        end_session(session, replaces)
    session.execute(delete(Login).where(Login.person_id == person_id, Login.expires_at <= now()))
    if rehashed:
        session.execute(update(Person).where(Person.id == person_id).values(password_hash=rehashed))
    cookie = secrets.token_urlsafe(32)
    login = Login(digest=digest(cookie), person_id=person_id, expires_at=now() + SESSION_LENGTH, seen_at=now())
    login.user_agent = "".join(character for character in user_agent if character.isprintable())[:200]
    login.provider = provider
    session.add(login)
    return cookie


def end_session(session: Session, cookie: str) -> str:
    """Log out the browser with this cookie; returns the name of the provider that it had logged in with, or nothing."""
    login = session.get(Login, digest(cookie))
    if login is None:
        return ""
    session.delete(login)
    session.flush()
    return login.provider


def person_of_session(session: Session, cookie_digest: str) -> tuple[Person, datetime | None] | None:
    """Return the person who is logged in with the cookie of this digest, and when it was last used."""
    row = session.execute(queries.BY_SESSION, {"digest": cookie_digest, "moment": now()}).first()
    return None if row is None else (row[0], row[1])


def mark_session_used(session: Session, cookie_digest: str) -> None:
    """Note that a browser was used now."""
    session.execute(update(Login).where(Login.digest == cookie_digest).values(seen_at=now()))


def session_begun(session: Session, cookie_digest: str) -> datetime | None:
    """Return when the browser with the cookie of this digest logged in; None where it has not."""
    login = session.get(Login, cookie_digest)
    return login.created_at if login else None


HANDLE = 16  # characters of the digest that name a session to its owner


def list_sessions(session: Session, person_id: int) -> Sequence[Login]:
    """Return the browsers that a person is logged in with, the last used first."""
    return session.scalars(queries.running_sessions(person_id, now())).all()


def end_named_session(session: Session, person_id: int, handle: str) -> None:
    """Log out one of a person's own browsers; `NotFound` where there is none with this handle."""
    matches = [login for login in list_sessions(session, person_id) if login.digest[:HANDLE] == handle]
    if not matches:
        raise NotFound(_("This browser is logged out already."))
    session.delete(matches[0])


def end_other_sessions(session: Session, person_id: int, cookie_digest: str) -> None:
    """Log out all of a person's browsers but the one with this cookie."""
    session.execute(delete(Login).where(Login.person_id == person_id, Login.digest != cookie_digest))


def change_password(session: Session, person_id: int, password_hash: str) -> None:
    """A new password; every browser is logged out. API tokens stay: they are revoked one by one."""
    session.execute(update(Person).where(Person.id == person_id).values(password_hash=password_hash))
    session.execute(delete(Login).where(Login.person_id == person_id))


# API tokens


def create_token(
    session: Session, person_id: int, name: str, scopes: Sequence[str] = USUAL_SCOPES, rehashed: str | None = None
) -> tuple[Token, str]:
    """A new API token that may do what `scopes` say: its row and the secret, which is shown once."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = Token(person_id=person_id, name=name, prefix=secret[:12], digest=digest(secret), scopes=list(scopes))
    session.add(token)
    if rehashed:
        session.execute(update(Person).where(Person.id == person_id).values(password_hash=rehashed))
    session.flush()
    return token, secret


def mark_token_used(session: Session, token_id: int) -> None:
    """Remember that the token was used now."""
    session.execute(update(Token).where(Token.id == token_id).values(used_at=now()))


def list_tokens(session: Session, person_id: int) -> list[Token]:
    """The person's tokens that still work, newest first."""
    return list(session.scalars(queries.working_tokens(person_id)))


def revoke_token(session: Session, person_id: int, token_id: int) -> None:
    """End one of the person's own tokens; `NotFound` where it is not theirs or already ended."""
    token = session.get(Token, token_id)
    if token is None or token.person_id != person_id or token.revoked_at is not None:
        raise NotFound(_("There is no such token."))
    token.revoked_at = now()


# Names, rights, leaving


def choose_pseudonym(session: Session, person_id: int, name: str) -> Person:
    """The name that boards show in place of the username; an empty text shows the username."""
    person = session.get_one(Person, person_id)
    if name and session.scalars(queries.others_called(name, besides=person_id)).first() is not None:
        raise _pseudonym_taken()
    try:
        with session.begin_nested():
            person.pseudonym = name
    except IntegrityError:
        raise _pseudonym_taken() from None
    return person


def choose_language(session: Session, person_id: int, language: str) -> None:
    """The language of a person's pages and mails; empty for what their browser asks for."""
    session.get_one(Person, person_id).language = language


def choose_public_profile(session: Session, person_id: int, public: bool) -> Person:
    """Choose whether everybody or the person alone sees the person's profile."""
    person = session.get_one(Person, person_id)
    person.public_profile = public
    return person


def choose_known_languages(session: Session, person_id: int, languages: Sequence[str]) -> Person:
    """Choose the languages in which a person writes and checks; none for all."""
    person = session.get_one(Person, person_id)
    person.known_languages = list(languages)
    return person


def _pseudonym_taken() -> Conflict:
    text = _("Another person uses this name.")
    return Conflict(text, fields={"pseudonym": text})


def make_administrator(session: Session, person_id: int) -> None:
    """Make a person an administrator; recorded in the audit log."""
    session.get_one(Person, person_id).admin = True
    record_act(session, None, "user.promote", {"person": person_id, "to": "admin"})


def record_act(session: Session, person_id: int | None, kind: str, subject: dict[str, Any]) -> None:
    """A line of the audit log; `person_id` None means the operator at the command line."""
    session.add(Act(person_id=person_id, kind=kind, subject=subject))


def delete_account(session: Session, person_id: int) -> None:
    """Scrub an account: nobody can log in, and no name, address, pseudonym or password is left.

    The row stays, because examples and votes point to it. Later features forget what they know of the person before
    this is called (`collection.leaving.leave`).
    """
    person = session.get_one(Person, person_id)
    person.username = f"{DELETED}{person_id}"
    person.email = f"{DELETED}{person_id}@deleted.invalid"
    person.pseudonym = person.password_hash = ""
    person.email_confirmed_at = None
    person.admin = person.public_profile = False
    person.known_languages = []
    person.deleted_at = now()
    for table in (Login, Token, Notice, Identity, SecondFactor, PendingLogin):
        session.execute(delete(table).where(table.person_id == person_id))
    record_act(session, person_id, "account.delete", {"person": person_id})


NOTICE_KINDS = (
    "submission",
    "evaluation",
    "dataset",
    "warning",
    "ban",
    "lifted",
    "webhook",
    "proposal",
    "announcement",
    "archive",
    "badge",
    "appeal",
    "payment",
    "controls",
    "repository",
)


MOST_UNSEEN = 100
"""Unseen notices that a page's header counts."""
PRESSING = ("ban", "warning")
"""Kinds that stand on top of pages until they are dismissed: what moderators said to the person."""


@dataclass(frozen=True)
class UnseenNotices:
    """The unseen notices of a person, for the header of pages: how many there are, and the latest `PRESSING` one."""

    count: int = 0
    pressing: Notice | None = None


def person_and_notices(session: Session, cookie_digest: str) -> tuple[Person | None, datetime | None, UnseenNotices]:
    """Return the person logged in with the cookie of this digest, when it was last used, and their unseen notices.

    Cost: two index probes, and a third where a moderator's words are unseen.
    """
    match = person_of_session(session, cookie_digest)
    if match is None:
        return None, None, UnseenNotices()
    unseen = session.execute(queries.unseen_notices(match[0].id, MOST_UNSEEN)).all()
    pressing = next((session.get(Notice, id) for id, kind in unseen if kind in PRESSING), None)
    return *match, UnseenNotices(len(unseen), pressing)


def recent_notices(session: Session, person_id: int, limit: int = 50) -> Sequence[Notice]:
    """A person's notices, newest first, seen or not."""
    return session.scalars(queries.notices_of(person_id, limit)).all()


@dataclass(frozen=True)
class InboxPage:
    """Some of a person's notices, newest first; `next` is the cursor of the page after it. `kinds` has how many there
    are of each kind and how many of those are unseen."""

    notices: Sequence[Notice]
    next: int | None
    kinds: Mapping[str, tuple[int, int]]

    @property
    def unseen(self) -> int:
        """The number of all unseen notices."""
        return sum(unseen for _count, unseen in self.kinds.values())


def read_inbox(session: Session, person_id: int, before: int, kind: str, unseen: bool, limit: int) -> InboxPage:
    """Return a page of a person's notices, of one kind or the unseen ones alone where that is asked for."""
    rows = session.scalars(queries.notices_of(person_id, limit + 1, before, kind, unseen)).all()
    counts = {name: (count, new) for name, count, new in session.execute(queries.notice_counts(person_id))}
    return InboxPage(rows[:limit], rows[limit - 1].id if len(rows) > limit else None, counts)


def dismiss_all_notices(session: Session, person_id: int, newest: int) -> None:
    """Remember that a person has seen all notices up to the id `newest`, the latest that the page showed."""
    unseen = update(Notice).where(Notice.person_id == person_id, Notice.seen_at.is_(None), Notice.id <= newest)
    session.execute(unseen.values(seen_at=now()))


def open_notice(session: Session, person_id: int, notice_id: int) -> str:
    """Remember that a person has seen a notice; return the path of the page that has more."""
    dismiss_notice(session, person_id, notice_id)
    return session.get_one(Notice, notice_id).link


def dismiss_notice(session: Session, person_id: int, notice_id: int) -> None:
    """Remember that a person has seen a notice; twice changes nothing."""
    notice = session.get(Notice, notice_id)
    if notice is None or notice.person_id != person_id:
        raise NotFound(_("There is no such notice."))
    session.execute(update(Notice).where(Notice.id == notice_id, Notice.seen_at.is_(None)).values(seen_at=now()))


DAY = timedelta(days=1)


def counted_bytes(session: Session, person_id: int, most: int, at: datetime) -> int:
    """Return the bytes of a person that still count at a moment, where `most` are forgotten in a day."""
    return _counted_bytes(session.get(UploadedBytes, person_id), most, at)


def count_uploaded_bytes(session: Session, person_id: int, size: int, most: int, at: datetime) -> int:
    """Count further bytes of a person; returns all that count now."""
    row = session.get(UploadedBytes, person_id, with_for_update=True)
    if row is None:
        try:
            with session.begin_nested():
                session.execute(insert(UploadedBytes).values(person_id=person_id, size=0, at=at))
        except IntegrityError:  # another request of the same person was first
            pass
        row = session.get_one(UploadedBytes, person_id, with_for_update=True)
    row.size, row.at = _counted_bytes(row, most, at) + size, max(row.at, at)
    return row.size


def _counted_bytes(row: UploadedBytes | None, most: int, at: datetime) -> int:
    if row is None:
        return 0
    return max(0, row.size - round(max(timedelta(), at - row.at) / DAY * most))
