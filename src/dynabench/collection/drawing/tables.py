"""The table of pictures that models drew from an annotator's words, before anything is sent in."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Sheet(Base):
    """The pictures that all models of a handout drew of the same words.

    `words` are the input's texts by field; `sides` one `{model, version, ms, pictures}` a model, its pictures as
    references to stored files. `key` tells a request that was sent again.
    """

    __tablename__ = "sheets"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"))
    words: Mapped[dict[str, Any]]
    sides: Mapped[list[Any]]
    key: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        UniqueConstraint("person_id", "key"),
        Index("ix_sheets_handout", "handout_id", "id"),
    )
