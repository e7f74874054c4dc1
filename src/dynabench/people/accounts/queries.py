"""Every `select` over accounts."""

from datetime import datetime

from sqlalchemy import Select, bindparam, func, or_, select

from dynabench.kit.db import PreparedStatement, Utc
from dynabench.people.accounts.tables import Notice, Person, Session, Token


def account_by_name(name: str) -> Select[Person]:
    """The account with this username or mail address, whatever the case: one probe of each unique index."""
    lowered = name.lower()
    matches = or_(func.lower(Person.username) == lowered, func.lower(Person.email) == lowered)
    return select(Person).where(matches, Person.deleted_at.is_(None))


# Every request asks one of these two, so they are put together once: that takes longer than running them.

BY_SESSION: Select[Person, datetime | None] = (
    select(Person, Session.seen_at)
    .join(Session, Session.person_id == Person.id)
    .where(Session.digest == bindparam("digest"), Session.expires_at > bindparam("moment", type_=Utc))
    .where(Person.deleted_at.is_(None))
)
"""Who is logged in with the cookie of this digest, and when it was last used: one probe by primary key, joined to
another."""

BY_TOKEN = PreparedStatement(
    select(*Person.__table__.c, Token.id.label("token_id"), Token.scopes, Token.used_at)
    .join_from(Person, Token, Token.person_id == Person.id)
    .where(Token.digest == bindparam("digest"), Token.revoked_at.is_(None), Person.deleted_at.is_(None))
)
"""Whose API token has this digest; its id, its scopes, when it was last used: one probe of the unique index."""


def running_sessions(person_id: int, moment: datetime) -> Select[Session]:
    """The browsers that a person is logged in with, the last used first: one index range."""
    statement = select(Session).where(Session.person_id == person_id, Session.expires_at > moment)
    return statement.order_by(Session.seen_at.desc(), Session.digest)


def people_with_name_or_address(username: str, email: str) -> Select[Person]:
    """People who have this username (as name or pseudonym) or mail address: one probe of each unique index."""
    lowered = username.lower()
    return select(Person).where(
        or_(
            func.lower(Person.username) == lowered,
            func.lower(Person.email) == email.lower(),
            (func.lower(Person.pseudonym) == lowered) & (Person.pseudonym != ""),
        )
    )


def others_called(name: str, besides: int) -> Select[int]:
    """Other people whose username or pseudonym this is."""
    lowered = name.lower()
    pseudonym = (func.lower(Person.pseudonym) == lowered) & (Person.pseudonym != "")
    return select(Person.id).where(or_(func.lower(Person.username) == lowered, pseudonym), Person.id != besides)


def working_tokens(person_id: int) -> Select[Token]:
    """A person's API tokens that still work, newest first."""
    return select(Token).where(Token.person_id == person_id, Token.revoked_at.is_(None)).order_by(Token.id.desc())


def account_by_public_name(name: str) -> Select[Person]:
    """The account that pages call by this name, whatever the case: one probe of two unique indexes.

    A person with a pseudonym is not found by the username.
    """
    lowered = name.lower()
    by_pseudonym = (func.lower(Person.pseudonym) == lowered) & (Person.pseudonym != "")
    by_username = (func.lower(Person.username) == lowered) & (Person.pseudonym == "")
    return select(Person).where(or_(by_pseudonym, by_username), Person.deleted_at.is_(None))


def existing_accounts() -> Select[Person]:
    """All accounts that are not deleted, in the order in which they joined."""
    return select(Person).where(Person.deleted_at.is_(None)).order_by(Person.id)


def unseen_notices(person_id: int, limit: int) -> Select[int, str]:
    """Select number and kind of the notices that a person has not dismissed yet, newest first.

    Cost: one index range, nearly always empty.
    """
    unseen = select(Notice.id, Notice.kind).where(Notice.person_id == person_id, Notice.seen_at.is_(None))
    return unseen.order_by(Notice.id.desc()).limit(limit)


def notices_of(person_id: int, limit: int, before: int = 0, kind: str = "", unseen: bool = False) -> Select[Notice]:
    """A person's notices, newest first, those below the id `before` alone where it is not 0: one index range."""
    statement = select(Notice).where(Notice.person_id == person_id).order_by(Notice.id.desc()).limit(limit)
    if before:
        statement = statement.where(Notice.id < before)
    if kind:
        statement = statement.where(Notice.kind == kind)
    return statement.where(Notice.seen_at.is_(None)) if unseen else statement


def notice_counts(person_id: int) -> Select[str, int, int]:
    """Kinds of a person's notices with how many there are, and how many of them are unseen: their index range."""
    unseen = func.count().filter(Notice.seen_at.is_(None))
    return select(Notice.kind, func.count(), unseen).where(Notice.person_id == person_id).group_by(Notice.kind)
