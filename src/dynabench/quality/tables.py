"""Stored estimates of annotator quality, rules of verdicts, decisions of experts, and appeals."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class QualityEstimate(Base):
    """Estimates from the votes of a task, or of one of its rounds (`number`, 0 for all rounds together).

    `results` is the document of `quality.estimates.Estimates`; each computation replaces the one before. `last_vote` is
    the newest vote that it has read; `at` is None before the first time. `job_id` names the job that computes the
    task's estimates now; it stands in the row of number 0.
    """

    __tablename__ = "quality_estimates"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    results: Mapped[dict[str, Any]] = mapped_column(default=dict)
    last_vote: Mapped[int] = mapped_column(Key, default=0)
    at: Mapped[datetime | None]
    job_id: Mapped[str | None] = mapped_column(String(36))


class VerdictRuleChoice(Base):
    """An owner's decision on the `rule` of a round (a `VerdictRule`).

    `weights` are those of validators by the id of the person, as text. The job `job_id` makes verdicts follow; its row
    says how far it came.
    """

    __tablename__ = "verdict_rules"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
    rule: Mapped[str] = mapped_column(String(10))
    weights: Mapped[dict[str, Any]]
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    job_id: Mapped[str | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)


class Adjudication(Base):
    """An expert's decision on an example, with its reason; the decision itself is the vote `validation_id`."""

    __tablename__ = "adjudications"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), unique=True)
    verdict: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str] = mapped_column(String(500))
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
    revoked_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_adjudications_task", "task_id", "id"),)


class AppealState(StrEnum):
    """States of an appeal; the last three are final."""

    WAITING = "waiting"
    GRANTED = "granted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


class Appeal(Base):
    """A person's answer to a decision about them, and what was decided about it.

    `kind` names the decision (`quality.decisions.DecisionKind`), `subject_id` its subject where it has one (an example,
    a submission), `decided_at` when it was made, `decider_id` by whom, and `reason` why.
    """

    __tablename__ = "appeals"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(30))
    subject_id: Mapped[int] = mapped_column(Key, default=0)
    decided_at: Mapped[datetime]
    decider_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    reason: Mapped[str] = mapped_column(String(1000))
    text: Mapped[str] = mapped_column(String(2000))
    state: Mapped[str] = mapped_column(String(10), default=AppealState.WAITING)
    answer: Mapped[str] = mapped_column(String(2000), default="")
    answered_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
    answered_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("task_id", "person_id", "kind", "subject_id", "decided_at"),
        Index("ix_appeals_task", "task_id", "state", "id"),
    )

    @property
    def answerable(self) -> bool:
        """True until the appeal is answered or taken back."""
        return self.state == AppealState.WAITING
