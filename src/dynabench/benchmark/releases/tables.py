"""The releases of rounds; which example went where is in `collection.tables`."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class ReleaseState(StrEnum):
    """States of a release: asked for, being written while its round is frozen, finished, or failed for a reason."""

    QUEUED = "queued"
    WRITING = "writing"
    READY = "ready"
    FAILED = "failed"


class Release(Base):
    """A round as files: one of each round, never changed once it is `ready`.

    `state` is a `ReleaseState`, `failed` with the `reason`. `rules` is
    the `release` section of the config as it was applied, `report` what the checks found (`checks.Report`), `manifest`
    names every file with its SHA-256, and `digest` is that of the manifest. The files lie in `releases/<id>` below the
    home folder. `test_id` and `hidden_id` are the versions of the datasets that models are scored on. With `anyway` it
    was asked for in spite of warnings.
    """

    __tablename__ = "releases"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), unique=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    state: Mapped[str] = mapped_column(String(10), default=ReleaseState.QUEUED)
    rules: Mapped[dict[str, Any]]
    anyway: Mapped[bool] = mapped_column(default=False)
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)
    manifest: Mapped[dict[str, Any]] = mapped_column(default=dict)
    digest: Mapped[str] = mapped_column(String(64), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    test_id: Mapped[int | None] = mapped_column(ForeignKey("dataset_versions.id"))
    hidden_id: Mapped[int | None] = mapped_column(ForeignKey("dataset_versions.id"))
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    released_at: Mapped[datetime | None]
