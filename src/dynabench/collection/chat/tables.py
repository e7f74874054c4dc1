"""Conversations, their turns and the replies to each, written down from the moment that a turn begins."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from dynabench.kit.db import Base, Key, now


class ChatTurnState(StrEnum):
    """States of a turn of a conversation: replies are written, a choice among them is due, or it was made."""

    WRITING = "writing"
    ANSWERED = "answered"
    CHOSEN = "chosen"


class ReplyState(StrEnum):
    """States of one side's reply; all but the first are final."""

    WRITING = "writing"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    CUT_OFF = "cut_off"


class Conversation(Base):
    """The conversation of one person with a round's models on one hand-out.

    `sides` are [model, version] pairs, side A first. Once the conversation is sent in, `example_id` is the
    example that it became, and no turn is added.
    """

    __tablename__ = "conversations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"))
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    sides: Mapped[list[Any]]
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"), unique=True)
    at: Mapped[datetime] = mapped_column(default=now)

    turns: Mapped[list["Turn"]] = relationship(order_by="Turn.number", lazy="selectin")

    __table_args__ = (
        Index("ix_conversations_handout", "handout_id", "id"),
        Index("ix_conversations_round", "round_id", "id"),
        Index("ix_conversations_person", "person_id"),
    )


class Turn(Base):
    """A turn of a conversation, in a `ChatTurnState`: the person's message and what became of it.

    `continued` is the side that the conversation goes on from; None leaves the turn out of what models are told next.
    `attempt` counts how often models were asked; `beat_at` is the last sign of life of who writes the replies down.
    """

    __tablename__ = "conversation_turns"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id"))
    number: Mapped[int]
    said: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(String(100))
    request: Mapped[str] = mapped_column(String(64))
    state: Mapped[str] = mapped_column(String(10), default=ChatTurnState.WRITING)
    attempt: Mapped[int] = mapped_column(default=1)
    stop: Mapped[bool] = mapped_column(default=False)
    choice: Mapped[str] = mapped_column(String(10), default="")
    continued: Mapped[int | None]
    at: Mapped[datetime] = mapped_column(default=now)
    beat_at: Mapped[datetime] = mapped_column(default=now)
    chosen_at: Mapped[datetime | None]

    replies: Mapped[list["Reply"]] = relationship(order_by="Reply.side", lazy="selectin")

    __table_args__ = (UniqueConstraint("conversation_id", "number"), UniqueConstraint("conversation_id", "key"))


class Reply(Base):
    """The text of one side so far, in a `ReplyState`; times are milliseconds.

    `reason` says why it failed; it may name the model, so people who converse never see it.
    """

    __tablename__ = "conversation_replies"

    turn_id: Mapped[int] = mapped_column(ForeignKey("conversation_turns.id"), primary_key=True)
    side: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str] = mapped_column(Text, default="")
    state: Mapped[str] = mapped_column(String(10), default=ReplyState.WRITING)
    reason: Mapped[str] = mapped_column(String(500), default="")
    rating: Mapped[int | None]
    first_ms: Mapped[float | None]
    whole_ms: Mapped[float | None]
