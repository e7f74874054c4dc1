"""Studies that recruit workers for a round, the workers' participations, and what platforms reported."""

import secrets
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class StudyState(StrEnum):
    """States of a study: workers enter a published one; those who are in a paused or stopped one may finish."""

    DRAFT = "draft"
    PUBLISHED = "published"
    PAUSED = "paused"
    STOPPED = "stopped"


class ParticipationState(StrEnum):
    """States of a worker's part in a study, from the first page to the owner's decision."""

    ARRIVED = "arrived"
    WORKING = "working"
    DECLINED = "declined"
    SCREENED_OUT = "screened_out"
    FAILED_QUIZ = "failed_quiz"
    FINISHED = "finished"
    TIMED_OUT = "timed_out"
    RETURNED = "returned"
    WITHDRAWN = "withdrawn"
    APPROVED = "approved"
    REJECTED = "rejected"

    @property
    def running(self) -> bool:
        """True while the worker may go on."""
        return self in (ParticipationState.ARRIVED, ParticipationState.WORKING)


PAID_INSTEAD = "paid_instead"
"""`synced_state` of a submission that is approved here, rejected at its platform, and paid by the ledger."""


class CrowdCredentials(Base):
    """An owner's account at a platform, for the studies of one task; the secrets are sealed (`kit.sealing`)."""

    __tablename__ = "crowd_credentials"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    provider: Mapped[str] = mapped_column(String(40))
    name: Mapped[str] = mapped_column(String(100))
    sealed: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    removed_at: Mapped[datetime | None]


class ConsentText(Base):
    """One version of the text that a task's workers consent to; a version never changes."""

    __tablename__ = "consent_texts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    version: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (UniqueConstraint("task_id", "version"),)


class Study(Base):
    """A study at a crowd platform that recruits workers for one round.

    `slug` is its name in addresses, random so that it cannot be guessed. `settings` are the provider's, `work` says
    how much a worker does (`crowd.studies.Work`). `external_id` is the platform's id; `details` are what it answered
    (addresses, codes). `key` is the study's own secret, for codes and signed addresses. `reconciled_at` is when its
    submissions were last compared with the platform's.
    """

    __tablename__ = "studies"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), index=True)
    provider: Mapped[str] = mapped_column(String(40))
    credentials_id: Mapped[int | None] = mapped_column(ForeignKey("crowd_credentials.id"))
    slug: Mapped[str] = mapped_column(String(40), unique=True, default=lambda: secrets.token_urlsafe(12))
    key: Mapped[str] = mapped_column(String(64), default=lambda: secrets.token_hex(32))
    name: Mapped[str] = mapped_column(String(100))
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    work: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(String(10), default=StudyState.DRAFT)
    external_id: Mapped[str] = mapped_column(String(100), default="")
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    published_at: Mapped[datetime | None]
    reconciled_at: Mapped[datetime | None]
    stopped_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_studies_external", "provider", "external_id"),)


class Participation(Base):
    """A worker's part in a study.

    `worker_digest` finds a worker of the same platform and task again (an HMAC of the id), `worker_sealed` is the id
    itself, encrypted, for owners and the platform alone. `external_session` is the platform's id of the submission.
    `outcome` and `reason` say how it ended; `synced_state` is what the platform last said of the submission.
    """

    __tablename__ = "participations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    worker_digest: Mapped[str] = mapped_column(String(64))
    worker_sealed: Mapped[str] = mapped_column(Text)
    external_session: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20), default=ParticipationState.ARRIVED)
    outcome: Mapped[str] = mapped_column(String(20), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    consent_id: Mapped[int | None] = mapped_column(ForeignKey("consent_texts.id"))
    consented_at: Mapped[datetime | None]
    arrived_at: Mapped[datetime] = mapped_column(default=now)
    seen_at: Mapped[datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    synced_state: Mapped[str] = mapped_column(String(20), default="")
    synced_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("study_id", "worker_digest"),
        Index("ix_participations_session", "study_id", "external_session"),
        Index("ix_participations_state", "study_id", "state"),
        Index("ix_participations_worker", "worker_digest"),
    )


class BonusOrderState(StrEnum):
    """States of an order of bonuses: `sent` once the platform may have been told to pay, `undecided` where its books
    do not say whether it did; `listed` where the owner pays by hand; the last two are final."""

    LISTED = "listed"
    CLAIMED = "claimed"
    SET_UP = "set_up"
    SENT = "sent"
    UNDECIDED = "undecided"
    PAID = "paid"
    REFUSED = "refused"


class BonusOrder(Base):
    """Payouts of the ledger that a platform is asked to pay together, or that the owner pays by hand (`listed`).

    `payouts` are their ids, `before` the bonuses that each submission had been paid before, by its id at the platform.
    """

    __tablename__ = "bonus_orders"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    payouts: Mapped[list[Any]]
    before: Mapped[dict[str, Any]] = mapped_column(default=dict)
    external_id: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[str] = mapped_column(String(10), default=BonusOrderState.CLAIMED)
    problem: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    asked_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]


class CrowdEvent(Base):
    """An event that a platform reported by webhook, so that a repeated one changes nothing."""

    __tablename__ = "crowd_events"

    provider: Mapped[str] = mapped_column(String(40), primary_key=True)
    event: Mapped[str] = mapped_column(String(100), primary_key=True)
    study_id: Mapped[int | None] = mapped_column(ForeignKey("studies.id"), index=True)
    kind: Mapped[str] = mapped_column(String(60))
    at: Mapped[datetime] = mapped_column(default=now)
