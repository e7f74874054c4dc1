"""The messages that webhooks get, as documents: what a receiver may rely on, and all that may leave.

A member that is not declared here is refused, so that no caller lets out more than what is documented. Of hidden
datasets that is what the board shows.
"""

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import APIRouter, Header
from pydantic import BaseModel, Field

from dynabench.kit.db import now
from dynabench.kit.schemas import StrictModel

Page = Annotated[str, Field(description="Path of the page on this site, or nothing.", examples=["/evaluations/12"])]
Task = Annotated[str, Field(description="The task's id.", examples=["nli"])]


class Data(StrictModel):
    """The facts that a webhook message is about."""


class NoticeCreated(Data):
    """You were told something, of a kind that you want at webhooks."""

    notice: int = Field(examples=[41])
    kind: str = Field(description="Such as `evaluation`, `submission` or `role`.", examples=["evaluation"])
    text: str = Field(examples=["The evaluation of tiny-bert on ANLI round 3 is done."])
    page: Page = ""


class DatasetReady(Data):
    """A version of a dataset was read and stands; models are being evaluated on it."""

    task: Task
    dataset: str = Field(examples=["anli-r3"])
    title: str = Field(examples=["ANLI round 3"])
    version: int = Field(examples=[1])
    visibility: str = Field(examples=["scoring"])
    page: Page = ""


class EvaluationEnded(Data):
    """A public or anonymous model was evaluated on a dataset, or could not be."""

    task: Task
    evaluation: int = Field(examples=[12])
    submission: int = Field(examples=[7])
    name: str = Field(description="Empty for anonymous submissions.", examples=["tiny-bert"])
    dataset: str = Field(examples=["anli-r3"])
    version: int = Field(examples=[1])
    state: str = Field(description="`done`, `failed` or `cancelled`.", examples=["done"])
    code: str = Field(description="Why it has no scores, such as `out_of_memory`; else empty.", examples=[""])
    page: Page = ""


class SnapshotTaken(Data):
    """A reader froze the public board."""

    task: Task
    snapshot: str = Field(examples=["nli-20261122-1f2e3d4c"])
    title: str = Field(examples=["As submitted"])
    digest: str = Field(description="SHA-256 of its document.", examples=["9f86d081884c7d65" * 4])
    page: Page = ""


class RoundOpened(Data):
    """A round is open for examples."""

    task: Task
    round: int = Field(examples=[3])
    page: Page = ""


class RoundClosed(RoundOpened):
    """A round takes no more examples."""


class RoundReleased(RoundOpened):
    """A round is released: its files never change."""

    digest: str = Field(description="SHA-256 of manifest.json.", examples=["9f86d081884c7d65" * 4])


class AnnouncementMade(Data):
    """An owner announced something to those who take part."""

    task: Task
    text: str = Field(description="Markdown.", examples=["Round 3 closes on Friday."])
    until: datetime = Field(description="Until when it is shown.", examples=["2026-12-01T00:00:00Z"])
    page: Page = ""


class ArchiveReady(Data):
    """An archive of the task is ready to be fetched by its owners, for a week."""

    task: Task
    bytes: int = Field(description="Its size.", examples=[1048576])
    page: Page = ""


class Tested(Data):
    """An owner asked for a test of this webhook."""

    text: str = Field("This is a test.", examples=["This is a test."])


NOTICE, TEST = "notice.created", "webhook.test"
TASK_EVENTS: dict[str, type[Data]] = {
    "dataset.ready": DatasetReady,
    "evaluation.ended": EvaluationEnded,
    "snapshot.taken": SnapshotTaken,
    "round.opened": RoundOpened,
    "round.closed": RoundClosed,
    "round.released": RoundReleased,
    "announcement.made": AnnouncementMade,
    "archive.ready": ArchiveReady,
}
"""What webhooks of tasks may want."""
EVENTS: dict[str, type[Data]] = {NOTICE: NoticeCreated, **TASK_EVENTS, TEST: Tested}

D = TypeVar("D", bound=Data)


class Message(BaseModel, Generic[D]):
    """The message that is posted to a webhook."""

    type: str = Field(description="What happened, such as `evaluation.ended`.")
    timestamp: datetime = Field(description="When it happened, ISO 8601.")
    data: D


def event_body(event: str, data: dict[str, Any]) -> str:
    """The text that is signed and sent; raises `ValidationError` for members that `event` does not have."""
    message = Message[Data](type=event, timestamp=now(), data=EVENTS[event](**data))
    return message.model_dump_json(serialize_as_any=True)


def _describe(router: APIRouter, name: str, kind: type[Data]) -> None:
    def receive(
        body: Message[kind],  # type: ignore[valid-type]
        webhook_id: Annotated[str, Header(description="The same in each try of one message.")],
        webhook_timestamp: Annotated[int, Header(description="When this try was sent, in seconds since 1970.")],
        webhook_signature: Annotated[
            str, Header(description="`v1,` and base64 of HMAC-SHA-256 over `id.timestamp.body` under the secret.")
        ],
    ) -> None:
        """Answer with any status from 200 to 299 within 15 seconds."""

    data = {
        field: information.examples[0] if information.examples else information.default
        for field, information in kind.model_fields.items()
    }
    example = {"type": name, "timestamp": "2026-11-22T09:30:00Z", "data": data}
    more = {"requestBody": {"content": {"application/json": {"example": example}}}}
    about = (kind.__doc__ or "").strip()
    router.post(name, name=name, summary=about, operation_id=name, tags=["webhooks"], openapi_extra=more)(receive)


documented = APIRouter()
"""The webhooks of the OpenAPI document."""
for _name, _kind in EVENTS.items():
    _describe(documented, _name, _kind)
