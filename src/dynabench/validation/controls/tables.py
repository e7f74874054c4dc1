"""Control items, where they stood for an example, the answers to them, and the decisions that followed."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class ControlKind(StrEnum):
    """Kinds of controls: with a known right vote, with instructions that show attention, or an own vote asked again."""

    GOLD = "gold"
    ATTENTION = "attention"
    REPEAT = "repeat"


MEASURED = (ControlKind.GOLD, ControlKind.ATTENTION)
"""Kinds whose answers are right or wrong; a repeat is only compared with the earlier vote."""


class Consequence(StrEnum):
    """Consequences of too few right answers."""

    WARN = "warn"
    PAUSE = "pause"
    REVIEW = "review"


class ControlItem(Base):
    """A gold item or an attention check of a task: a decided example, or values of its own from a file.

    `digest` names the content: of an example its id. `predictions` are models' answers shown after the vote, of items
    with values of their own. `source` is the file's name, empty for a decided example. A retired item is shown no more.
    """

    __tablename__ = "control_items"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    kind: Mapped[str] = mapped_column(String(10))
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"), index=True)
    context: Mapped[dict[str, Any]]
    input: Mapped[dict[str, Any]]
    answer: Mapped[dict[str, Any]]
    predictions: Mapped[list[Any]]
    right_vote: Mapped[str] = mapped_column(String(10))
    source: Mapped[str] = mapped_column(String(200))
    digest: Mapped[str] = mapped_column(String(64))
    added_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
    retired_at: Mapped[datetime | None]

    __table_args__ = (UniqueConstraint("task_id", "digest"),)


class ControlPlace(Base):
    """A control that one person sees in place of an example, under the number of that example.

    The content is that of the example `shown_id`, or of the item where that has values of its own. `repeated_id` is the
    earlier vote that is asked again. `done_at` is None until the person answers or skips.
    """

    __tablename__ = "control_places"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    item_id: Mapped[int | None] = mapped_column(ForeignKey("control_items.id"))
    shown_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    repeated_id: Mapped[int | None] = mapped_column(ForeignKey("validations.id"))
    at: Mapped[datetime] = mapped_column(default=now)
    done_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_control_places_person", "person_id", "item_id"),)


class ControlAnswer(Base):
    """An answer to a control: a row of `validations` that never counts, with the vote `expected` of it."""

    __tablename__ = "control_answers"

    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), primary_key=True, autoincrement=False)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(10))
    item_id: Mapped[int | None] = mapped_column(ForeignKey("control_items.id"), index=True)
    shown_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    expected: Mapped[str] = mapped_column(String(10))
    is_right: Mapped[bool]
    taken_back: Mapped[bool] = mapped_column(default=False, server_default=false())

    __table_args__ = (Index("ix_control_answers_person", "task_id", "person_id"),)


class ControlDecision(Base):
    """A consequence for a validator: `right` of `answers` answers were right, less than the `threshold`.

    It holds until `ended_at`. `last_answer` is the newest answer that it is made from; answers before it count no more
    once it has ended. `decided_by` is None for a decision by the rule alone.
    """

    __tablename__ = "control_decisions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    consequence: Mapped[str] = mapped_column(String(10))
    answers: Mapped[int]
    right: Mapped[int]
    threshold: Mapped[float]
    last_answer: Mapped[int] = mapped_column(Key)
    at: Mapped[datetime] = mapped_column(default=now)
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    ended_at: Mapped[datetime | None]
    ended_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))

    __table_args__ = (
        Index("ix_control_decisions_person", "person_id", "task_id"),
        Index("ix_control_decisions_task", "task_id", "id"),
    )
