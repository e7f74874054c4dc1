"""The table of programs that proposed examples, and of the cost of each example to its program."""

from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key


class Proposed(Base):
    """A program wrote this example; whoever ran it is the author. `queries` and `cost` are what the program says that
    the example took, `facts` what else it tells. `round_id` is the example's own, for figures of a round.
    """

    __tablename__ = "proposed"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    name: Mapped[str] = mapped_column(String(60))
    version: Mapped[str] = mapped_column(String(60))
    queries: Mapped[int] = mapped_column(Key)
    cost: Mapped[float]
    facts: Mapped[dict[str, Any]]

    __table_args__ = (Index("ix_proposed_round", "round_id", "name", "version"),)
