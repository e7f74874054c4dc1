"""The tables of models' listings and of submissions."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now
from dynabench.people.disclosure import ModelVisibility, SubmissionVisibility


class SubmissionState(StrEnum):
    """States of a submission, in their order; what was scored stays in the ledger when it is withdrawn."""

    QUEUED = "queued"
    CHECKING = "checking"
    READY = "ready"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"


class ModelListing(Base):
    """The visibility of a model: `public`, `task` (people with a role in its task) or `private` (its keeper and
    admins).

    Models without a row are public, and only admins may change that.
    """

    __tablename__ = "model_listings"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    visibility: Mapped[str] = mapped_column(String(10), default=ModelVisibility.PUBLIC)
    keeper_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"), index=True)
    note: Mapped[str] = mapped_column(String(500), default="")
    changed_at: Mapped[datetime] = mapped_column(default=now)


class Submission(Base):
    """A model, or a file of predictions, that a person entered for a task: checked, then evaluated on all of its data.

    `kind` is `hub`, `endpoint`, `archive`, `adapter`, `predictions` or `installed` (a model that the deployment has
    anyway). `state` is a `SubmissionState`, `visibility` a `SubmissionVisibility`. Once checked, `model` and `version`
    are those of its card (of predictions: `predictions-<id>` and the files' SHA-256).

    A `baseline` stands on boards beside the ranked ones, without a rank.

    `source` says where the model comes from (its stored files, an address; no secret), `report` what each step of the
    check found, `log` the last lines that the model wrote meanwhile. `attempt` rises with each retry.
    """

    __tablename__ = "submissions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    kind: Mapped[str] = mapped_column(String(12))
    name: Mapped[str] = mapped_column(String(100))
    reference: Mapped[str] = mapped_column(String(500), default="")
    source: Mapped[dict[str, Any]] = mapped_column(default=dict)
    model: Mapped[str] = mapped_column(String(100), default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    inside: Mapped[bool] = mapped_column(default=False)
    card: Mapped[dict[str, Any]] = mapped_column(default=dict)
    readme: Mapped[str] = mapped_column(Text, default="")
    visibility: Mapped[str] = mapped_column(String(10), default=SubmissionVisibility.PUBLIC)
    baseline: Mapped[bool] = mapped_column(default=False, server_default=false())
    state: Mapped[str] = mapped_column(String(10), default=SubmissionState.QUEUED)
    code: Mapped[str] = mapped_column(String(30), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)
    log: Mapped[str] = mapped_column(Text, default="")
    attempt: Mapped[int] = mapped_column(default=1)
    job_id: Mapped[str | None] = mapped_column(String(36))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    ready_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_submissions_task", "task_id", "state"), Index("ix_submissions_name", "name"))
