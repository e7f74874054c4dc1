"""Open evaluations, their models, what these answered, in shards, with scores and a signed record; uploaded files."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class OpenState(StrEnum):
    """States of an open evaluation and of each of its models, in their order; the last three are final."""

    QUEUED = "queued"
    READING = "reading"
    RUNNING = "running"
    SCORING = "scoring"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CardLocation(StrEnum):
    """Places of a model's card: the platform's registry of models, or a repository of the hub."""

    REGISTRY = "registry"
    REPOSITORY = "repository"


class CardState(StrEnum):
    """States of results on a card of the registry: proposed to its keeper, on the card, or declined."""

    PROPOSED = "proposed"
    ON_CARD = "shown"
    DECLINED = "declined"


OPEN_STATES = (OpenState.QUEUED, OpenState.READING, OpenState.RUNNING, OpenState.SCORING)


class DatasetFile(Base):
    """A file of rows that a person uploaded for open evaluations; `id` is a UUID, `rows` the rows that can be read."""

    __tablename__ = "dataset_files"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    size: Mapped[int] = mapped_column(Key)
    rows: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(default=now)


class OpenEvaluation(Base):
    """Chosen models on one split of a dataset.

    `state` is an `OpenState`. `choices` are a person's choices (`choices.OpenChoices`), from which the form can be
    filled again. `source` and `title` name the dataset, `edition` says which rows of it (a version, a commit, the
    digest of a file). `digest` is the SHA-256 of the rows as they were read (`datasets.stored`), `refused` counts rows
    that were left out, `report` has the first reasons. `labels` are the labels of the rows. `listed` says whether
    everybody may see the scores.
    """

    __tablename__ = "open_evaluations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"), index=True)
    kind: Mapped[str] = mapped_column(String(40))
    source: Mapped[str] = mapped_column(String(300))
    title: Mapped[str] = mapped_column(String(200))
    edition: Mapped[str] = mapped_column(String(100), default="")
    choices: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(10), default=OpenState.QUEUED)
    reason: Mapped[str] = mapped_column(Text, default="")
    digest: Mapped[str] = mapped_column(String(64), default="")
    rows: Mapped[int] = mapped_column(default=0)
    refused: Mapped[int] = mapped_column(default=0)
    report: Mapped[list[Any]] = mapped_column(default=list)
    labels: Mapped[list[Any]] = mapped_column(default=list)
    listed: Mapped[bool] = mapped_column(default=False)
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_open_evaluations_state", "state"),)


class OpenEvaluationModel(Base):
    """One model of an open evaluation, by its `number`.

    `reference` is what the person named: a model of the platform, a hub id or an address. `inputs` says which role of
    the rows each input of the model reads, `labels` what its labels mean among those of the rows.
    """

    __tablename__ = "open_evaluation_models"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("open_evaluations.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    reference: Mapped[str] = mapped_column(String(300))
    name: Mapped[str] = mapped_column(String(300), index=True)
    version: Mapped[str] = mapped_column(String(64), default="")
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    labels: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(String(10), default=OpenState.QUEUED)
    code: Mapped[str] = mapped_column(String(30), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    log: Mapped[str] = mapped_column(Text, default="")
    rows_done: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    cost: Mapped[float | None]


class OpenShard(Base):
    """Rows `first` to `first + rows` that one model answered, once; the answers lie in a Parquet file."""

    __tablename__ = "open_evaluation_shards"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("open_evaluations.id", ondelete="CASCADE"), primary_key=True)
    model: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    first: Mapped[int]
    rows: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    seconds: Mapped[float]
    done_at: Mapped[datetime] = mapped_column(default=now)


class OpenScore(Base):
    """One number of one metric for one model.

    `metric` is the metric with its options, `key` the member of its result. `replicates` are as in
    `benchmark.evaluations.tables.Score`: drawn by the digest of the rows, so that those of two models are paired.
    `better` is the direction of a metric of the hub (higher, lower); the library's own cards have theirs.
    """

    __tablename__ = "open_evaluation_scores"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("open_evaluations.id", ondelete="CASCADE"))
    model: Mapped[int]
    metric: Mapped[str] = mapped_column(String(200))
    key: Mapped[str] = mapped_column(String(100))
    place: Mapped[int]
    value: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    n: Mapped[int]
    replicates: Mapped[bytes | None] = mapped_column(LargeBinary)
    better: Mapped[str] = mapped_column(String(6), default="")

    __table_args__ = (UniqueConstraint("evaluation_id", "model", "metric", "key"),)

    @property
    def unvaried(self) -> bool:
        """True where every sample of the rows gives this value, so that it has no interval."""
        return self.replicates is not None and self.low == self.high


class OpenRecord(Base):
    """The signed statement of an open evaluation: rows, models, answers and scores."""

    __tablename__ = "open_evaluation_records"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("open_evaluations.id", ondelete="CASCADE"), primary_key=True)
    document: Mapped[dict[str, Any]]
    signature: Mapped[str] = mapped_column(String(128))
    made_at: Mapped[datetime] = mapped_column(default=now)


class ModelCardEntry(Base):
    """The results of one model of an open evaluation on a card: at most one entry for each `place`, a `CardLocation`.

    `target` is the name of the model in the registry, `repository_id` the repository of the hub. `state` is a
    `CardState`; results in a repository are `shown` by the commit `revision`, or proposed by the pull request `pull`.
    `tokens` are the tokens in the repository's card, by which its results are found again.
    """

    __tablename__ = "open_evaluation_cards"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("open_evaluations.id", ondelete="CASCADE"), primary_key=True)
    model: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[str] = mapped_column(String(12), primary_key=True)
    target: Mapped[str] = mapped_column(String(300), default="", index=True)
    repository_id: Mapped[int | None] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"), index=True)
    state: Mapped[str] = mapped_column(String(10))
    revision: Mapped[str] = mapped_column(String(40), default="")
    pull: Mapped[int] = mapped_column(default=0)
    tokens: Mapped[list[Any]] = mapped_column(default=list)
    made_at: Mapped[datetime] = mapped_column(default=now)
