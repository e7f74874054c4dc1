"""People, their sessions and tokens, and who did what as an operator."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.db import Base, Key, now


class Person(Base):
    """Somebody with an account; `admin` people may do everything that owners may."""

    __tablename__ = "people"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    username: Mapped[str] = mapped_column(String(40))
    email: Mapped[str] = mapped_column(String(254))
    password_hash: Mapped[str] = mapped_column(String(200))
    pseudonym: Mapped[str] = mapped_column(String(40), default="")
    admin: Mapped[bool] = mapped_column(default=False)
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
        """What boards show: the pseudonym where one is chosen, else the username."""
        return self.pseudonym or self.username


class Session(Base):
    """A browser that is logged in; only the digest of its cookie is stored."""

    __tablename__ = "sessions"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]


class Token(Base):
    """An API token; the prefix is shown to its owner, the digest is what is compared."""

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    prefix: Mapped[str] = mapped_column(String(12))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
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
    subject: Mapped[dict[str, Any]]
