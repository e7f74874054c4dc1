"""Stored estimates of annotator quality, and the rule by which the votes of a round decide."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
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
