"""The tables of turns, their candidates, and the parents of rounds."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, TranslatedText, now


class TurnState(StrEnum):
    """States of a turn of the cycle; a failed or paused one can go on, one that is done can be undone."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    UNDONE = "undone"


class CandidateState(StrEnum):
    """States of a model that a turn trains."""

    WAITING = "waiting"
    READY = "ready"
    FAILED = "failed"


class CycleTurn(Base):
    """One turn of a task's cycle, which begins with a round and ends with the next.

    `state` is a `TurnState`, `failed` with the `reason`; `step` is the one it is
    at (`service.STEPS`). `plan` is that of `plan.Plan`, `present` are the targets that candidates have to beat
    (`name@version`), `outside` the rows from elsewhere with their digests, `report` what came of it (`report.Report`).

    `next_id` is the round that it drafted or opened, `back_id` the one that took its place when the turn was undone.
    `attempt` rises whenever it goes on after a pause or a failure: a job of an earlier one does nothing any more.
    """

    __tablename__ = "cycle_turns"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    state: Mapped[str] = mapped_column(String(10), default=TurnState.QUEUED)
    step: Mapped[str] = mapped_column(String(10), default="close")
    plan: Mapped[dict[str, Any]]
    present: Mapped[list[Any]]
    outside: Mapped[list[Any]] = mapped_column(default=list)
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reason: Mapped[str] = mapped_column(TranslatedText, default="")
    attempt: Mapped[int] = mapped_column(default=1)
    job_id: Mapped[str | None] = mapped_column(String(36))
    next_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id", ondelete="SET NULL"))
    back_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id", ondelete="SET NULL"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    ended_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_cycle_turns_task", "task_id", "id"),)


class CycleCandidate(Base):
    """One model that a turn trains. `state` is a `CandidateState`, `failed` with the `reason`.

    `seconds` and `rows` say how long it was trained and on how many rows.
    """

    __tablename__ = "cycle_candidates"

    turn_id: Mapped[int] = mapped_column(ForeignKey("cycle_turns.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    method: Mapped[str] = mapped_column(String(10))
    seed: Mapped[int]
    state: Mapped[str] = mapped_column(String(10), default=CandidateState.WAITING)
    reason: Mapped[str] = mapped_column(TranslatedText, default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))
    seconds: Mapped[float | None]
    rows: Mapped[int | None]


class RoundParent(Base):
    """A round and one that it follows; a round without any follows the one before it by number."""

    __tablename__ = "round_parents"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
    parent_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
