"""Requests and responses of the API of notifications."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dynabench.people.accounts.service import NOTICE_KINDS
from dynabench.people.notices import service
from dynabench.people.notices.tables import CHANNELS, Hook, Try, Wish
from dynabench.people.notices.webhooks import SentMessage

Channel = Literal["page", "mail", "webhook"]


class In(BaseModel):
    """A body; members that are not listed are refused."""

    model_config = ConfigDict(extra="forbid")


class WishesIn(In):
    """Your choices of how you want to be notified; members left out stay as they are."""

    channels: Annotated[
        dict[str, Annotated[list[Channel], Field(max_length=3)]],
        Field(max_length=20, description="Kinds of notices and the ways that each takes.", examples=[{"role": []}]),
    ] = {}


class AddressIn(In):
    """The address that mail should go to."""

    address: str = Field(max_length=300, description="A question goes there first; empty for no mail.")


class Wishes(BaseModel):
    """Your choices of how you are notified."""

    channels: dict[str, list[Channel]] = Field(description="Kinds of notices and the ways that each takes.")
    address: str = Field(description="Where mail goes once it is verified; empty for none.")
    verified: bool
    problem: str = Field(description="What the mail server last said against the address, or nothing.")
    mail: bool = Field(description="Whether this site sends mail at all.")

    @classmethod
    def of(cls, wish: Wish, mail: bool) -> "Wishes":
        """As the person sees it."""
        channels = {kind: [c for c in CHANNELS if service.wants_channel(wish, kind, c)] for kind in NOTICE_KINDS}
        return cls(
            channels=channels,
            address=wish.address,
            verified=wish.verified_at is not None,
            problem=wish.problem,
            mail=mail,
        )


class HookIn(In):
    """A new webhook."""

    url: str = Field(max_length=1000, description="An https address.", examples=["https://example.org/dynabench"])
    events: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=20)] = Field(
        [], description="Which events of the task it gets; none for your own, which get your notices."
    )


class HookChange(In):
    """A change of a webhook."""

    on: bool = Field(description="Whether it is called.")


class TryOut(BaseModel):
    """One call."""

    at: datetime
    status: int | None = Field(description="What it answered with; null where no answer came.")
    ms: int = Field(description="Milliseconds until the answer.")
    answer: str = Field(description="How the answer, or the trouble, begins.")

    @classmethod
    def of(cls, row: Try) -> "TryOut":
        """From its row."""
        return cls.model_validate(row, from_attributes=True)


class HookOut(BaseModel):
    """A webhook, without its secret."""

    id: int
    url: str
    events: list[str]
    on: bool
    reason: str = Field(description="Why it was turned off, or nothing.")
    created_at: datetime
    last: TryOut | None = Field(description="The latest call.")

    @classmethod
    def of(cls, hook: Hook, last: Try | None = None) -> "HookOut":
        """From its row and its latest call."""
        return cls(**_hook_values(hook), last=TryOut.of(last) if last else None)


class NewHook(HookOut):
    """A webhook with its secret, which is shown this once."""

    secret: str = Field(description="Messages are signed with it: `whsec_` and base64.")


def new_hook(hook: Hook, secret: str) -> NewHook:
    """A webhook whose secret is told."""
    return NewHook(**_hook_values(hook), last=None, secret=secret)


def _hook_values(hook: Hook) -> dict[str, object]:
    names = ("id", "url", "events", "reason", "created_at")
    return {name: getattr(hook, name) for name in names} | {"on": hook.off_at is None}


class HookList(BaseModel):
    """Webhooks, oldest first, all on one page."""

    items: list[HookOut]
    next: str | None = None


class DeliveryOut(BaseModel):
    """A message and the calls that were to deliver it."""

    id: int
    event: str
    message: str = Field(description="Its `webhook-id`.")
    state: str = Field(description="`waiting`, `done` or `failed`.")
    created_at: datetime
    due_at: datetime | None = Field(description="When it is tried again.")
    body: str = Field(description="The text that is sent.")
    tries: list[TryOut]

    @classmethod
    def of(cls, sent: SentMessage) -> "DeliveryOut":
        """From its rows."""
        row = sent.delivery
        names = ("id", "event", "message", "state", "created_at", "due_at", "body")
        return cls(**{name: getattr(row, name) for name in names}, tries=[TryOut.of(attempt) for attempt in sent.tries])


class DeliveryPage(BaseModel):
    """Messages, newest first."""

    items: list[DeliveryOut]
    next: str | None = None

    @classmethod
    def of(cls, messages: Sequence[SentMessage], next_id: int | None) -> "DeliveryPage":
        """One page of them."""
        return cls(items=[DeliveryOut.of(message) for message in messages], next=str(next_id) if next_id else None)
