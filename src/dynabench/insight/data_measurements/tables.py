"""Stored measurements of rounds."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base


class StoredMeasurement(Base):
    """The results of a round by measure, when its state was `state`; each measurement replaces the one before.

    `examples` counts those that were measured, `total` those that could be. `at` is None before the first time;
    `job_id` names the job that measures now or is about to.
    """

    __tablename__ = "measured"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
    state: Mapped[str] = mapped_column(String(64), default="")
    examples: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    results: Mapped[dict[str, Any]] = mapped_column("found", default=dict)
    at: Mapped[datetime | None]
    job_id: Mapped[str | None] = mapped_column(String(36))
