"""The choice of a person how releases name them."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, now


class CreditMode(StrEnum):
    """Ways in which releases name a person: not at all, by the public name of the site, or by a name that they give."""

    NONE = "none"
    PSEUDONYM = "pseudonym"
    NAME = "name"


class Credit(Base):
    """A person's choice; people without a row are not named. `name` is the one to print where they gave one."""

    __tablename__ = "credits"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    mode: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(100), default="")
    changed_at: Mapped[datetime] = mapped_column(default=now)
