"""Roles of people in tasks, and bans."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Select, String, select
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, now
from dynabench.people.accounts.tables import Person


class TaskRole(StrEnum):
    """Roles in a task, from the least to the most; a validator checks examples and writes none."""

    VALIDATOR = "validator"
    ANNOTATOR = "annotator"
    EXPERT = "expert"
    MODERATOR = "moderator"
    OWNER = "owner"


RANK = {role: rank for rank, role in enumerate(TaskRole)}
INVITED_ALONE = (TaskRole.OWNER, TaskRole.MODERATOR)
"""Roles with power over the work of others, to which people are invited one by one."""


class Role(Base):
    """The `TaskRole` of a person in a task."""

    __tablename__ = "roles"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(20))


class Ban(Base):
    """A person may neither write nor validate for a task any more."""

    __tablename__ = "bans"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
    reason: Mapped[str] = mapped_column(String(500))
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)


def role_in_task(task_id: str, person_id: int) -> Select[str]:
    """Select the role of a person in a task: one probe of the primary key."""
    return select(Role.role).where(Role.task_id == task_id, Role.person_id == person_id)


def administrators() -> Select[int]:
    """Select the ids of the site's administrators: walks the accounts."""
    return select(Person.id).where(Person.admin, Person.deleted_at.is_(None)).order_by(Person.id)
