"""Tasks with their config versions, rounds with their targets, and the contexts that annotators are given."""

import random
import secrets
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from dynabench.kit.db import Base, Key, now


class RoundState(StrEnum):
    """States of a round, in their order; a draft collects nothing, and a released round never changes."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"
    RELEASED = "released"


class Task(Base):
    """A task by its id from the config; the current version is the newest one."""

    __tablename__ = "tasks"

    id: Mapped[str] = mapped_column(String(60), primary_key=True)
    version_id: Mapped[int | None] = mapped_column(Key)
    created_at: Mapped[datetime] = mapped_column(default=now)


class TaskVersion(Base):
    """One version of a task's config, as written."""

    __tablename__ = "task_versions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    number: Mapped[int]
    source: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (UniqueConstraint("task_id", "number"),)


class Invitation(Base):
    """A link that gives the person who follows it a role in a task; only the digest of its secret is stored.

    With a `round_id` it lets them take part in that round for invited people, too.
    """

    __tablename__ = "invitations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    role: Mapped[str] = mapped_column(String(20))
    round_id: Mapped[int | None] = mapped_column(Key, index=True)
    note: Mapped[str] = mapped_column(String(100), default="")
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    uses: Mapped[int] = mapped_column(default=0)
    most_uses: Mapped[int]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class Round(Base):
    """One period of collection, in a `RoundState`; `fooled_when` is the ensemble's rule.

    `arms` are conditions that are assigned at random (`rounds.plan`), with each context or once per person as `assign`
    says (`item` or `person`); none for a plain round. All draws of arms follow from `seed`. `judge` is the model
    version that judges answers, where the task's rule has one. `plan` says when, how much, by whom and on which
    contexts (`rounds.plan.Plan`). `vote_weight` is the weight of a validator's first vote where the round weighs votes
    by reliability, null where all votes count the same.
    `competition` is true where teams compete in it (`communities.competitions`).
    """

    __tablename__ = "rounds"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    number: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("task_versions.id"))
    state: Mapped[str] = mapped_column(String(10), default=RoundState.DRAFT)
    fooled_when: Mapped[str] = mapped_column(String(10), default="any")
    arms: Mapped[list[Any]] = mapped_column(default=list)
    assign: Mapped[str] = mapped_column(String(10), default="item")
    seed: Mapped[int] = mapped_column(default=lambda: secrets.randbelow(2**31))
    judge: Mapped[dict[str, Any] | None]
    plan: Mapped[dict[str, Any]] = mapped_column(default=dict)
    competition: Mapped[bool] = mapped_column(default=False, server_default=false())
    vote_weight: Mapped[float | None]
    opened_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)

    targets: Mapped[list["Target"]] = relationship(order_by="Target.position", lazy="selectin")

    __table_args__ = (UniqueConstraint("task_id", "number"),)


class Assignment(Base):
    """The arm of a round that a person was assigned to, once and for all; `place` counts a round's people from 0."""

    __tablename__ = "assignments"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    arm: Mapped[str] = mapped_column(String(40))
    place: Mapped[int]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (UniqueConstraint("round_id", "place"),)


class Target(Base):
    """A model version in the loop of a round."""

    __tablename__ = "targets"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    position: Mapped[int]
    model: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(64))


class RoundPerson(Base):
    """A person who may take part in a round for invited people: named by an owner, or come by a link."""

    __tablename__ = "round_people"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
    at: Mapped[datetime] = mapped_column(default=now)


class RoundContext(Base):
    """One of the few contexts that a round works on, where its plan says so."""

    __tablename__ = "round_contexts"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
    context_id: Mapped[int] = mapped_column(ForeignKey("contexts.id", ondelete="CASCADE"), primary_key=True, index=True)


LIVE = "retired_at IS NULL"
FAILED = "retired_at IS NULL AND failed > 0 AND good = 0"


def _partial(name: str, *columns: str, where: str = LIVE) -> Index:
    return Index(name, "task_id", *columns, postgresql_where=text(where), sqlite_where=text(where))


class Context(Base):
    """The material that an annotator writes about; each way of sampling walks its own index, and none sorts.

    `draw` is a random key. `clock` is the time of the next hand-out where contexts are drawn by `weight`
    (see `samplers.weighted`). Of the examples that fooled, `failed` were found wrong and `good` were not,
    or not yet. `doubt` says how unsure targets were lately, from 0 to 1000.
    A retired context is no longer handed out. `language` is the code of the language that it is in; people who named
    the languages that they know are given contexts in those and such without one.
    """

    __tablename__ = "contexts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    values: Mapped[dict[str, Any]]
    tag: Mapped[str] = mapped_column(String(100), default="")
    language: Mapped[str] = mapped_column(String(12), default="", server_default="")
    digest: Mapped[str] = mapped_column(String(64))
    draw: Mapped[int]
    used: Mapped[int] = mapped_column(default=0)
    fooled: Mapped[int] = mapped_column(default=0)
    good: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    doubt: Mapped[int] = mapped_column(default=500)
    weight: Mapped[float] = mapped_column(default=1.0)
    clock: Mapped[float] = mapped_column(default=lambda: random.expovariate(1))
    created_at: Mapped[datetime] = mapped_column(default=now)
    retired_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("task_id", "digest"),
        _partial("ix_contexts_draw", "draw"),
        _partial("ix_contexts_used", "used", "draw"),
        _partial("ix_contexts_fooled", "fooled", "draw"),
        _partial("ix_contexts_doubt", "doubt", "draw"),
        _partial("ix_contexts_clock", "clock"),
        _partial("ix_contexts_failed", "draw", where=FAILED),
        Index("ix_contexts_listed", "task_id", "id"),
        _partial("ix_contexts_retired", "id", where="retired_at IS NOT NULL"),
        Index("ix_contexts_tag", "task_id", "tag", "id"),
    )


class RefusedRow(Base):
    """A row of an imported file that was left out: why, and what stood in it (None where it could not be read)."""

    __tablename__ = "refused_rows"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(Key, primary_key=True)
    message: Mapped[str] = mapped_column(Text)
    values: Mapped[dict[str, Any] | None]


class ProposalState(StrEnum):
    """States of a proposed task: a draft is its author's alone, one that waits is decided, all others are final."""

    DRAFT = "draft"
    WAITING = "waiting"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


class Proposal(Base):
    """A task that a person wrote and an admin accepts or refuses; `state` is a `ProposalState`.

    `note` is what the proposer says of it, `reason` what the admin says.
    """

    __tablename__ = "proposals"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(String(60))
    source: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(String(1000), default="")
    state: Mapped[str] = mapped_column(String(10), default=ProposalState.WAITING)
    reason: Mapped[str] = mapped_column(String(500), default="")
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    decided_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_proposals_state", "state", "id"),)


class DemoMark(Base):
    """Something that the demo added: a `task`, `person`, `round`, `dataset` or `submission`, by its id as a text.

    All other rows of the demo belong to one of these. Nothing else refers to a mark.
    """

    __tablename__ = "demo_marks"

    kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    key: Mapped[str] = mapped_column(String(60), primary_key=True)
