"""Counts by person for each value of what figures are broken down by, packed; and what was not counted in yet."""

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.db import Base, Key


class TallyNews(Base):
    """A change of somebody's counts, as `collection.breakdowns` writes it; every few hundred rows are counted in."""

    __tablename__ = "tally_news"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    told: Mapped[str] = mapped_column(Text)


class Breakdown(Base):
    """Projection: the counts of `Tally` for one day, start, arm or tag, as rows by person and source, packed."""

    __tablename__ = "breakdowns"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(10), primary_key=True)  # see `breakdowns.NAMES`
    value: Mapped[str] = mapped_column(String(100), primary_key=True)
    counts: Mapped[bytes]
