"""People, their sessions and tokens, what they were told, and who did what as an operator."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, false, func, text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now
from dynabench.kit.language import restored

SCOPES = ("read", "annotate", "manage", "account")
"""What a token may be allowed: to read, to write and check examples, to run tasks, to change the account itself."""


class Person(Base):
    """A person with an account; `admin` people may do everything that owners may.

    `language` is that of their pages and mails, empty for what the browser asks for. `email_confirmed_at` is when they
    followed a link that was sent to the address.
    `imported_as` is set for people who are known only from an import: the pseudonym that they have in exports.
    `public_profile` is true where the person chose to have a page that everybody sees. `known_languages` are the codes
    of the languages in which the person writes and checks; empty for all. `worker_task` is the id of the one task that
    a worker of a crowd platform has come for; empty for people with an account of their own.
    """

    __tablename__ = "people"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    username: Mapped[str] = mapped_column(String(40))
    email: Mapped[str] = mapped_column(String(254))
    email_confirmed_at: Mapped[datetime | None]
    password_hash: Mapped[str] = mapped_column(String(200))
    pseudonym: Mapped[str] = mapped_column(String(40), default="")
    imported_as: Mapped[str | None] = mapped_column(String(64), unique=True, index=True)
    admin: Mapped[bool] = mapped_column(default=False)
    language: Mapped[str] = mapped_column(String(12), default="", server_default="")
    public_profile: Mapped[bool] = mapped_column(default=False, server_default=false())
    known_languages: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    worker_task: Mapped[str] = mapped_column(String(60), default="", server_default="")
    terms: Mapped[str] = mapped_column(String(20))
    agreed_at: Mapped[datetime]
    created_at: Mapped[datetime] = mapped_column(default=now)
    deleted_at: Mapped[datetime | None]

    __table_args__ = (
        Index("uq_people_username", func.lower(username), unique=True),
        Index("uq_people_email", func.lower(email), unique=True),
        Index(
            "uq_people_pseudonym",
            func.lower(pseudonym),
            unique=True,
            sqlite_where=text("pseudonym <> ''"),
            postgresql_where=text("pseudonym <> ''"),
        ),
    )

    @property
    def public_name(self) -> str:
        """The name that boards show: the pseudonym where the person chose one, else the username."""
        return "a deleted account" if self.deleted_at else self.pseudonym or self.username


class Session(Base):
    """A browser that is logged in; only the digest of its cookie is stored.

    `seen_at` is when it was last used, to a few minutes, `user_agent` its own name for itself, and `provider` the
    name of the provider that it logged in with, if any.
    """

    __tablename__ = "sessions"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    seen_at: Mapped[datetime | None]
    expires_at: Mapped[datetime]
    user_agent: Mapped[str] = mapped_column(String(200), default="", server_default="")
    provider: Mapped[str] = mapped_column(String(40), default="", server_default="")


class LoginStep(StrEnum):
    """Steps of a log-in under way: the browser is at a provider, chooses a name for a new account, proves that an
    account is its own, confirms a further way to log in, or is asked for a code."""

    PROVIDER = "provider"
    JOIN = "join"
    PROOF = "proof"
    CONFIRM = "confirm"
    CODE = "code"


class PendingLogin(Base):
    """A log-in that takes more than one request, of the browser whose cookie has this digest.

    `details` is what the `step` needs; `tries` are the wrong codes or passwords so far.
    """

    __tablename__ = "pending_logins"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    step: Mapped[str] = mapped_column(String(10))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    tries: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class Identity(Base):
    """An account at a provider of log-ins, known by the provider's `issuer` and its own `subject`."""

    __tablename__ = "identities"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))
    email: Mapped[str] = mapped_column(String(254), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    used_at: Mapped[datetime | None]

    __table_args__ = (UniqueConstraint("issuer", "subject", name="uq_identities_subject"),)


class SecondFactor(Base):
    """An app that shows codes (TOTP): its secret, encrypted, and digests of codes for the day when it is lost.

    It is asked for from `confirmed_at` on. `last_step` is the time step of the last code, which works once.
    """

    __tablename__ = "second_factors"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(200))
    confirmed_at: Mapped[datetime | None]
    last_step: Mapped[int] = mapped_column(BigInteger, default=0)
    recovery_codes: Mapped[list[Any]] = mapped_column(default=list)


class Token(Base):
    """An API token; the prefix is shown to its owner, the digest is what is compared.

    `scopes` is what may be done with it, some of `SCOPES`.
    """

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    prefix: Mapped[str] = mapped_column(String(12))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[list[Any]] = mapped_column(default=lambda: list(SCOPES))
    created_at: Mapped[datetime] = mapped_column(default=now)
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Act(Base):
    """One line of the audit log: an operator's or owner's act."""

    __tablename__ = "acts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now, index=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(40))
    task_id: Mapped[str | None] = mapped_column(String(60))
    subject: Mapped[dict[str, Any]]

    __table_args__ = (Index("ix_acts_task", "task_id", "id"), Index("ix_acts_kind", "task_id", "kind", "id"))


class Notice(Base):
    """Something that a person is told on the pages until they have seen it, such as a moderator's warning.

    `phrases` has `text` and `outside` with what their translations need, where they have any.
    `link` is the path of the page that has more. `outside` stands in for `text` in what leaves the platform, where it
    is not empty. `mailing_id` is the mail that brings it.
    """

    __tablename__ = "notices"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text)
    link: Mapped[str] = mapped_column(String(200), default="")
    outside: Mapped[str] = mapped_column(Text, default="")
    phrases: Mapped[dict[str, Any] | None]
    mailing_id: Mapped[int | None] = mapped_column(Key, index=True)  # SQLite adds no foreign key to a table that is
    at: Mapped[datetime] = mapped_column(default=now)
    seen_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_notices_person", "person_id", "seen_at"),)

    @property
    def translated_text(self) -> str:
        """The text, which knows its translation."""
        return restored((self.phrases or {}).get("text")) or self.text

    @property
    def translated_outside(self) -> str:
        """The text that leaves the platform, as a phrase that knows its translation."""
        return restored((self.phrases or {}).get("outside")) or self.outside or self.translated_text


class UploadedBytes(Base):
    """Bytes of large uploads of a person that still count at a moment; they are forgotten evenly over a day."""

    __tablename__ = "uploaded_bytes"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(default=now)


class SecretFingerprint(Base):
    """Fingerprint of the secret that keyed the pseudonyms of this database: one row; it does not reveal it."""

    __tablename__ = "secret_fingerprints"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    noted_at: Mapped[datetime] = mapped_column(default=now)
