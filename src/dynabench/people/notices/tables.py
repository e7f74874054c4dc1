"""People's choices of how they are notified, webhooks, and the result of each call."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now

CHANNELS = ("page", "mail", "webhook")


class DeliveryState(StrEnum):
    """States of a message to a webhook."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class Wish(Base):
    """A person's choices of how to be notified. No mail goes anywhere before `verified_at`.

    `channels` maps kinds of notices to some of `CHANNELS`; a kind that it lacks takes all of them. `problem`
    is the last complaint of the mail server about the address.
    """

    __tablename__ = "notice_wishes"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    address: Mapped[str] = mapped_column(String(254), default="")
    verified_at: Mapped[datetime | None]
    channels: Mapped[dict[str, Any]] = mapped_column(default=dict)
    problem: Mapped[str] = mapped_column(String(300), default="")


class Hook(Base):
    """An address that is called when something happens: to a person, or in a task (then with the `events` it wants).

    Its secret is made from `salt` and the deployment's key, so that no table holds it. `failing_since` is when calls
    began to fail without one that got through; `off_at` and `reason` say when and why it is called no more.
    """

    __tablename__ = "webhooks"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    task_id: Mapped[str | None] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"), index=True)
    url: Mapped[str] = mapped_column(String(500))
    events: Mapped[list[Any]] = mapped_column(default=list)
    salt: Mapped[str] = mapped_column(String(64))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    failing_since: Mapped[datetime | None]
    off_at: Mapped[datetime | None]
    reason: Mapped[str] = mapped_column(String(300), default="")


class Delivery(Base):
    """One message to a webhook, with the very text that is sent; `state` is a `DeliveryState`.

    `message` is its `webhook-id`, the same in each try, so that receivers can tell repetitions.
    """

    __tablename__ = "webhook_deliveries"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    hook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    event: Mapped[str] = mapped_column(String(40))
    message: Mapped[str] = mapped_column(String(40), unique=True)
    body: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(10), default=DeliveryState.WAITING)
    tries: Mapped[int] = mapped_column(default=0)
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(default=now, index=True)
    due_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_webhook_deliveries_hook", "hook_id", "id"),)


class Try(Base):
    """One call of a webhook: the status that it answered with (None without one), how long that took, how it began."""

    __tablename__ = "webhook_tries"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    delivery_id: Mapped[int] = mapped_column(ForeignKey("webhook_deliveries.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)
    status: Mapped[int | None]
    ms: Mapped[int]
    answer: Mapped[str] = mapped_column(String(300))
