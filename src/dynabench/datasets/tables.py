"""Datasets of a task, their immutable versions, and perturbed twins of these; the rows lie in files (`stored`)."""

import hashlib
import secrets
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, and_
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now
from dynabench.people.disclosure import DatasetVisibility

NAME = r"^[a-z0-9][a-z0-9-]{0,60}[a-z0-9]$"


class DatasetState(StrEnum):
    """States of a dataset's version, and of its perturbed twins."""

    READING = "reading"
    READY = "ready"
    FAILED = "failed"


class Dataset(Base):
    """Rows that models of a task are evaluated on.

    `kind` is `rows`, `suite` (rows grouped by functionality, which are their tags), `round` (released from `round_id`),
    `secret` (with rows of a release's hidden part, and so hidden for good) or `pool` (rows that training sets are
    chosen from; no model is scored on them). `visibility` is a `DatasetVisibility`. `weight` is its default on the
    board; a retired dataset is scored no more, and its scores stay.
    """

    __tablename__ = "datasets"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    name: Mapped[str] = mapped_column(String(62))
    title: Mapped[str] = mapped_column(String(200), default="")
    card: Mapped[str] = mapped_column(Text, default="")
    licence: Mapped[str] = mapped_column(String(100), default="")
    source: Mapped[str] = mapped_column(String(500), default="")
    languages: Mapped[list[Any]] = mapped_column(default=list)
    kind: Mapped[str] = mapped_column(String(10), default="rows")
    visibility: Mapped[str] = mapped_column(String(10), default=DatasetVisibility.HIDDEN)
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    weight: Mapped[int] = mapped_column(default=5)
    version_id: Mapped[int | None] = mapped_column(Key)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    retired_at: Mapped[datetime | None]

    __table_args__ = (UniqueConstraint("task_id", "name"),)


EVALUATED = and_(Dataset.retired_at.is_(None), Dataset.kind != "pool")
"""Whether models are scored on a dataset."""


class DatasetVersion(Base):
    """One edition of a dataset, in a `DatasetState`. `digest` is the SHA-256 of its rows (`stored.digest`).

    `salt` is random and never told while the dataset is hidden. `slices` says how many rows have each tag. A version
    that is ready is never changed.
    """

    __tablename__ = "dataset_versions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    dataset_id: Mapped[int] = mapped_column(ForeignKey("datasets.id"))
    number: Mapped[int]
    state: Mapped[str] = mapped_column(String(10), default=DatasetState.READING)
    digest: Mapped[str] = mapped_column(String(64), default="")
    salt: Mapped[str] = mapped_column(String(64), default=lambda: secrets.token_hex(32))
    rows: Mapped[int] = mapped_column(default=0)
    slices: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reason: Mapped[str] = mapped_column(Text, default="")
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (UniqueConstraint("dataset_id", "number"),)

    @property
    def commitment(self) -> str:
        """SHA-256 of salt and digest in hex, which says nothing of the rows and yet changes whenever they do."""
        return hashlib.sha256(f"{self.salt}{self.digest}".encode()).hexdigest()


class Twin(Base):
    """Perturbed copies of a version's rows along one `axis`, `fairness` or `robustness`.

    `generated` by the platform with `seed`, or `uploaded` by an owner. The newest that is ready and not `replaced_at`
    counts. `transformations` says how many rows each made.
    """

    __tablename__ = "twins"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"))
    axis: Mapped[str] = mapped_column(String(12))
    origin: Mapped[str] = mapped_column(String(10), default="generated")
    state: Mapped[str] = mapped_column(String(10), default=DatasetState.READING)
    seed: Mapped[int] = mapped_column(default=0)
    digest: Mapped[str] = mapped_column(String(64), default="")
    rows: Mapped[int] = mapped_column(default=0)
    transformations: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reason: Mapped[str] = mapped_column(Text, default="")
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)
    replaced_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_twins_version", "version_id", "axis"),)
