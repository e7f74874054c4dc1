"""Classes and their students."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class ClassState(StrEnum):
    """States of a class; students join an open one, and a closed one can be opened again."""

    OPEN = "open"
    CLOSED = "closed"


class SchoolClass(Base):
    """A class that works on a task, or on one round of it; `goals` are what each student is to reach.

    `join_code` lets students in while the class is open. `places` is how many there may be.
    """

    __tablename__ = "classes"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    teacher_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"), index=True)
    state: Mapped[str] = mapped_column(String(10), default=ClassState.OPEN)
    join_code: Mapped[str] = mapped_column(String(12), unique=True)
    assignment: Mapped[str] = mapped_column(Text, default="")
    goals: Mapped[dict[str, Any]] = mapped_column(default=dict)
    due_at: Mapped[datetime | None]
    places: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=now)


class ClassStudent(Base):
    """A student of a class, with the name that the teacher alone reads.

    `account_made` is true where joining made the account: it has no mail address, and the code of `code_digest` logs
    it in. `join_digest` tells a form that is sent twice from a second student. `leaving_at` is when the teacher removed
    the student; a job then deletes the account that was made.
    """

    __tablename__ = "class_students"

    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(60))
    account_made: Mapped[bool] = mapped_column(default=False, server_default=false())
    code_digest: Mapped[str | None] = mapped_column(String(64))
    join_digest: Mapped[str | None] = mapped_column(String(64))
    joined_at: Mapped[datetime] = mapped_column(default=now)
    leaving_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("code_digest"),
        UniqueConstraint("class_id", "join_digest"),
        Index("ix_class_students_person_id", "person_id"),
    )
