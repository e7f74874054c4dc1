"""The ledger of evaluations: one model on one dataset version, in shards, with scores and a signed record."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class EvaluationState(StrEnum):
    """States of an evaluation, in their order; the last three are final."""

    QUEUED = "queued"
    CHECKING = "checking"
    RUNNING = "running"
    SCORING = "scoring"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Evaluation(Base):
    """One submission on one dataset version.

    `state` is an `EvaluationState`.

    `code` says why it ended (`service.CODES`), `reason` in words, `log` the last lines of what the model said; of a
    hidden dataset the owner sees the code alone. `rows` counts those of its twins too. `attempt` rises with each retry.
    """

    __tablename__ = "evaluations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"), index=True)
    state: Mapped[str] = mapped_column(String(10), default=EvaluationState.QUEUED)
    attempt: Mapped[int] = mapped_column(default=1)
    rows: Mapped[int] = mapped_column(default=0)
    rows_done: Mapped[int] = mapped_column(default=0)
    code: Mapped[str] = mapped_column(String(30), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    log: Mapped[str] = mapped_column(Text, default="")
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("submission_id", "version_id"),
        Index("ix_evaluations_state", "state", "created_at"),
    )


class Shard(Base):
    """Rows `first` to `first + rows` of one `part` (`rows`, `fairness`, `robustness`) that were answered, once.

    The answers lie in `evaluations/<evaluation>/<part>-<number>.parquet` below the home folder; `digest` is that
    file's SHA-256.
    """

    __tablename__ = "shards"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True)
    part: Mapped[str] = mapped_column(String(10), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    first: Mapped[int]
    rows: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    seconds: Mapped[float]
    done_at: Mapped[datetime] = mapped_column(default=now)


class Score(Base):
    """The score of one metric on one evaluation, as a whole (`slice` empty) or of the rows with one tag.

    `replicates` are `REPLICATES` little-endian 32-bit floats, drawn with random numbers that belong to the
    dataset version, so that those of two models are paired; of costs they vary as the repeated measurements do.
    None where there are none (slices, single measurements). `version` is the metric's; `low` and `high` bound the
    95 % interval, of costs the range of repeated measurements.
    """

    __tablename__ = "scores"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"))
    metric: Mapped[str] = mapped_column(String(60))
    version: Mapped[int] = mapped_column(default=1)
    slice: Mapped[str] = mapped_column(String(200), default="")
    value: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    n: Mapped[int]
    replicates: Mapped[bytes | None] = mapped_column(LargeBinary)
    made_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (UniqueConstraint("evaluation_id", "metric", "slice"),)


class Record(Base):
    """The statement with which an evaluation can be repeated and checked outside: `document` with its Ed25519
    `signature`."""

    __tablename__ = "records"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True)
    document: Mapped[dict[str, Any]]
    signature: Mapped[str] = mapped_column(String(128))
    made_at: Mapped[datetime] = mapped_column(default=now)
