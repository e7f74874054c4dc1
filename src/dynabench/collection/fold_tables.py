"""Tables that follow the ledger: search postings and breakdowns, which are folded, and changes that are not yet.

Projections like the others: `dynabench.validation.rebuild` and `reindex` make them anew from the ledger.
"""

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key


class ExampleChange(Base):
    """A change of examples that is recorded and not yet folded; written in the transaction of its cause.

    `terms` are those that came to an example, NULL where it is new and has all that it was written with. `counts` is a
    change of somebody's counts in a round, as `collection.breakdowns` writes it; empty where there is none.
    """

    __tablename__ = "example_changes"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    terms: Mapped[str | None] = mapped_column(Text)
    counts: Mapped[str] = mapped_column(Text)


class SearchPosting(Base):
    """The examples of one block (2**16 neighbouring ids) that have a term: a Roaring bitmap in its portable format."""

    __tablename__ = "search_postings"

    term: Mapped[str] = mapped_column(String(80), primary_key=True)
    block: Mapped[int] = mapped_column(primary_key=True)
    members: Mapped[bytes]


class Breakdown(Base):
    """The counts of `Tally` for one day, start, arm or tag, as rows by person and source, packed."""

    __tablename__ = "breakdowns"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(10), primary_key=True)  # see `breakdowns.NAMES`
    value: Mapped[str] = mapped_column(String(100), primary_key=True)
    counts: Mapped[bytes]
