"""Competitions, the teams that entered them, and the examples that used the teams' budgets."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class FreezeMode(StrEnum):
    """The board from the freeze to the final report: live, as it was at the freeze, or hidden."""

    LIVE = "live"
    FROZEN = "frozen"
    HIDDEN = "hidden"


class CompetitionState(StrEnum):
    """States of a competition, which follow from its dates; checking is the time from its end to the final report."""

    UPCOMING = "upcoming"
    RUNNING = "running"
    CHECKING = "checking"
    FINISHED = "finished"


class Competition(Base):
    """A competition on one round, whose targets and config never change; `report` is the final result.

    `budget` is how many examples a team may write, withdrawn ones too. A rank needs `least_examples`.
    """

    __tablename__ = "competitions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    rules: Mapped[str] = mapped_column(Text, default="")
    budget: Mapped[int]
    least_examples: Mapped[int]
    most_members: Mapped[int]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    freeze: Mapped[str] = mapped_column(String(10), default=FreezeMode.LIVE)
    freeze_at: Mapped[datetime | None]
    report: Mapped[dict[str, Any] | None]
    finished_at: Mapped[datetime | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    @property
    def state(self) -> CompetitionState:
        """The state now."""
        if self.finished_at is not None:
            return CompetitionState.FINISHED
        if now() < self.starts_at:
            return CompetitionState.UPCOMING
        return CompetitionState.RUNNING if now() < self.ends_at else CompetitionState.CHECKING


class CompetitionEntry(Base):
    """A team in a competition; `spent` is how much of the budget it used. A withdrawn team is not ranked."""

    __tablename__ = "competition_entries"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True, index=True)
    spent: Mapped[int] = mapped_column(default=0)
    entered_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_at: Mapped[datetime | None]


class CompetitionPerson(Base):
    """A person who wrote in a competition, and for which team: nobody writes for two."""

    __tablename__ = "competition_people"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True, index=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))

    __table_args__ = (Index("ix_competition_people_team_id", "team_id"),)


class CompetitionExample(Base):
    """An example that used one of a team's budget."""

    __tablename__ = "competition_examples"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)

    __table_args__ = (Index("ix_competition_examples_team", "competition_id", "team_id"),)
