"""The index that examples are found by: sets of examples by term, and what was not put into them yet.

A projection like the others: `dynabench.validation.reindex` makes it anew from the ledger.
"""

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.db import Base, Key


class SearchNews(Base):
    """Terms that came to an example: all of them when it was written, some when a facet changed.

    Written with what they tell of; every few hundred rows are put into the postings and go.
    """

    __tablename__ = "search_news"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"))
    terms: Mapped[str] = mapped_column(Text)


class SearchPosting(Base):
    """The examples of one block (2**16 neighbouring ids) that have a term: a Roaring bitmap in its portable format."""

    __tablename__ = "search_postings"

    term: Mapped[str] = mapped_column(String(80), primary_key=True)
    block: Mapped[int] = mapped_column(primary_key=True)
    members: Mapped[bytes]
