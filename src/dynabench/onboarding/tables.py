"""The progress of people in the onboarding of a task, their attempts at its quiz, and their qualifications."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class OnboardingActivity(StrEnum):
    """The work that a qualification is for: writing examples, or checking those of others."""

    WRITE = "write"
    CHECK = "check"


class AttemptState(StrEnum):
    """States of an attempt at a quiz; one that was begun counts, also where it is never finished."""

    BEGUN = "begun"
    PASSED = "passed"
    FAILED = "failed"


class OnboardingProgress(Base):
    """The last part of the onboarding that a person has done (`done`, a `StepKind`), and how much of the practice.

    `version` is that of the task's onboarding. A person who was screened out stays so until an owner resets the row.
    Attempts up to `attempts_after` do not count any more. What people answer about themselves is not stored.
    """

    __tablename__ = "onboarding_progress"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
    activity: Mapped[str] = mapped_column(String(10), primary_key=True)
    version: Mapped[int] = mapped_column(default=0)
    done: Mapped[str] = mapped_column(String(20), default="")
    practised: Mapped[int] = mapped_column(default=0)
    screened_out: Mapped[bool] = mapped_column(default=False)
    attempts_after: Mapped[int] = mapped_column(Key, default=0)
    started_at: Mapped[datetime] = mapped_column(default=now)


class QuizAttempt(Base):
    """An attempt at a quiz. `drawn` are the questions in their order, each with the order of its options.

    They are those of the config `version_id`, whatever the owner changes. `version` is the onboarding's.
    """

    __tablename__ = "quiz_attempts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    activity: Mapped[str] = mapped_column(String(10))
    number: Mapped[int]
    version: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("task_versions.id"))
    drawn: Mapped[list[Any]]
    state: Mapped[str] = mapped_column(String(10), default=AttemptState.BEGUN)
    right: Mapped[int] = mapped_column(default=0)
    begun_at: Mapped[datetime] = mapped_column(default=now)
    ended_at: Mapped[datetime | None]

    __table_args__ = (UniqueConstraint("task_id", "person_id", "activity", "number"),)


class QuizAnswer(Base):
    """The answer to a question of an attempt: the option that was chosen, whether it was right. The first stands."""

    __tablename__ = "quiz_answers"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("quiz_attempts.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    question: Mapped[str] = mapped_column(String(40))
    option: Mapped[str] = mapped_column(String(300))
    right: Mapped[bool]
    at: Mapped[datetime] = mapped_column(default=now)


class Qualification(Base):
    """A person may do an activity in a task until `expires_at`; by the quiz, or given by an owner (`granted_by`).

    It counts for the task's onboarding up to `version`.
    """

    __tablename__ = "qualifications"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    activity: Mapped[str] = mapped_column(String(10), primary_key=True)
    version: Mapped[int]
    at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    by_hand: Mapped[bool] = mapped_column(default=False)
    granted_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))

    __table_args__ = (Index("ix_qualifications_person_id", "person_id"),)
