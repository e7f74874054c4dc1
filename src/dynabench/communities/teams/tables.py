"""Teams and their members."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false, func, text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Team(Base):
    """A team, in one task or on the whole site (`task_id` None); only the digest of its link's secret is stored.

    `dissolved_at` is when it ended: it stays for the competitions that it took part in. `thanked` is true where the
    captain wants the team named in the thanks of releases.
    """

    __tablename__ = "teams"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str | None] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    about: Mapped[str] = mapped_column(Text, default="")
    link_digest: Mapped[str | None] = mapped_column(String(64))
    thanked: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=now)
    dissolved_at: Mapped[datetime | None]

    __table_args__ = (
        Index("uq_teams_name", func.lower(name), unique=True),
        UniqueConstraint("link_digest"),
    )


class TeamMember(Base):
    """A person's time in a team; the row stays when the person leaves, with `left_at`. One member is the `captain`.

    `first_day` and `last_day` are the days (UTC) between which the person's examples count for the team.
    """

    __tablename__ = "team_members"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"))
    captain: Mapped[bool] = mapped_column(default=False, server_default=false())
    first_day: Mapped[str] = mapped_column(String(10))
    last_day: Mapped[str | None] = mapped_column(String(10))
    joined_at: Mapped[datetime] = mapped_column(default=now)
    left_at: Mapped[datetime | None]

    __table_args__ = (
        Index("ix_team_members_team", "team_id", "id"),
        Index(
            "uq_team_members_present",
            "team_id",
            "person_id",
            unique=True,
            sqlite_where=text("left_at IS NULL"),
            postgresql_where=text("left_at IS NULL"),
        ),
        Index("ix_team_members_person", "person_id", "team_id"),
    )
