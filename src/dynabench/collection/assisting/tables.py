"""Tables of the suggestions that annotators saw, and of their outcomes."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Suggestion(Base):
    """A text that was suggested to somebody on a handout of theirs, for one field of the input.

    `asking` counts from 1 how often they had asked; `provider` is where the text comes from, with `model` and `version`
    where a model wrote it; `about` is what is told of it, such as the name of an edit.
    """

    __tablename__ = "suggestions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    asking: Mapped[int]
    provider: Mapped[str] = mapped_column(String(40))
    model: Mapped[str] = mapped_column(String(100), default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    field: Mapped[str] = mapped_column(String(40))
    text: Mapped[str]
    about: Mapped[dict[str, Any]]
    latency_ms: Mapped[float]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_suggestions_handout", "handout_id", "id"),)


class Assistance(Base):
    """The outcome of the suggestions that an author saw on the hand-out of an example.

    There is no row where the author saw none. `outcome` is `accepted` (the text is a suggestion's), `edited`
    (it was made from one, `distance` characters away) or `ignored`; for `ignored`, `provider`, `model`,
    `version` and `text` are empty.
    """

    __tablename__ = "assistances"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    shown: Mapped[int]
    outcome: Mapped[str] = mapped_column(String(10))
    distance: Mapped[int | None]
    provider: Mapped[str] = mapped_column(String(40), default="")
    model: Mapped[str] = mapped_column(String(100), default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    text: Mapped[str] = mapped_column(default="")
