"""The table of the parts of a release that examples went into.

It belongs to the ledger, and `Standing.withheld` is counted from it.
"""

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base

WITHHELD = ("hidden", "withheld")
"""Parts of a release that nobody reads."""


class ReleasedExample(Base):
    """The part of its round's release that an example went into; written once.

    `train`, `dev`, `test`, `rejected` and `unverified` are files that everybody may read. Those in `hidden`, and in
    `withheld` (too much like one of these), are kept from everybody for good.
    """

    __tablename__ = "released_examples"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    part: Mapped[str] = mapped_column(String(10))
