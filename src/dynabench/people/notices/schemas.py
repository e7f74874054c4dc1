"""Requests and responses of the API of notifications."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.people.accounts.service import NOTICE_KINDS
from dynabench.people.notices import service
from dynabench.people.notices.tables import CHANNELS, Hook, Try, Wish
from dynabench.people.notices.webhooks import SentMessage

Channel = Literal["page", "mail", "webhook"]


class WishesIn(StrictModel):
    """Your choices of how you want to be notified; members left out stay as they are."""

    channels: dict[str, Annotated[list[Channel], Field(max_length=3)]] = Field(
        {}, max_length=20, description="Kinds of notices and the ways that each takes.", examples=[{"role": []}]
    )


class AddressIn(StrictModel):
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


class HookIn(StrictModel):
    """A new webhook."""

    url: str = Field(max_length=1000, description="An https address.", examples=["https://example.org/dynabench"])
    events: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=20)] = Field(
        [], description="Which events of the task it gets; none for your own, which get your notices."
    )


class HookChange(StrictModel):
    """A change of a webhook."""

    on: bool = Field(description="Whether it is called.")


class TryOut(RowModel):
    """One call."""

    at: datetime
    status: int | None = Field(description="What it answered with; null where no answer came.")
    ms: int = Field(description="Milliseconds until the answer.")
    answer: str = Field(description="How the answer, or the trouble, begins.")


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
    def of(cls, hook: Hook, last: Try | None = None, **more: str) -> Self:
        """Return a webhook as its holder sees it, with its latest call."""
        values = {name: getattr(hook, name) for name in ("id", "url", "events", "reason", "created_at")}
        return cls.model_validate({**values, "on": hook.off_at is None, "last": last, **more})


class NewHook(HookOut):
    """A webhook with its secret, which is shown this once."""

    secret: str = Field(description="Messages are signed with it: `whsec_` and base64.")


class HookList(Page[HookOut]):
    """Webhooks, oldest first, all on one page."""


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
    def of(cls, message: SentMessage) -> Self:
        """Return a message as its receiver's owner sees it."""
        names = ("id", "event", "message", "state", "created_at", "due_at", "body")
        values = {name: getattr(message.delivery, name) for name in names}
        return cls.model_validate({**values, "tries": list(message.tries)})


class DeliveryPage(Page[DeliveryOut]):
    """Messages, newest first."""
