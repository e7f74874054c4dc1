"""Who may see a model, where somebody said so."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.db import Base, now


class ModelListing(Base):
    """Who may see a model: `public`, `task` (people with a role in its task) or `private` (its keeper and admins).

    Models without a row are public, and admins alone may change that.
    """

    __tablename__ = "model_listings"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    visibility: Mapped[str] = mapped_column(String(10), default="public")
    keeper_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"), index=True)
    note: Mapped[str] = mapped_column(String(500), default="")
    changed_at: Mapped[datetime] = mapped_column(default=now)
