"""Schemas of the JSON API of the registry."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Word = Annotated[str, Field(max_length=100)]


class Strict(BaseModel):
    """A body in which unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class AskIn(Strict):
    """Inputs by name, as the model's `inputs` list them: texts, pictures as `data:image/png;base64,...` (2 MiB).

    Without a `version` the first that is ready.
    """

    inputs: Annotated[dict[str, Any], Field(max_length=8)]
    version: Word = ""


class ExplainIn(AskIn):
    """A request for an explanation: `label` is one of the model's `explains`, by default its answer; `method` one of
    its `methods`, by default the first."""

    method: Word = ""
    label: Annotated[str, Field(max_length=200)] = ""


class ListingIn(Strict):
    """The visibility of a model: everybody, people with a role in its task, or its keeper and admins.

    An absent `note` or `keeper` stays as it is; an empty `keeper` means that there is none. Only admins name
    keepers, by username.
    """

    visibility: Literal["public", "task", "private"]
    note: Annotated[str, Field(max_length=500)] | None = None
    keeper: Annotated[str, Field(max_length=40)] | None = None


class ListingOut(BaseModel):
    """The visibility of a model."""

    name: str
    visibility: str
    keeper: str
    note: str


class HealthOut(BaseModel):
    """The health of a version since this web process started; the times in milliseconds are those of its last
    answers. `last_failure` is for the model's keeper and admins."""

    answers: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    last_failure: str


class CopyOut(BaseModel):
    """A version on its hosts: `state` is READY, LOADING or UNAVAILABLE, with the reason for who looks after it."""

    version: str
    state: str
    reason: str
    where: str
    health: HealthOut | None


class ModelRow(BaseModel):
    """A model in a list; `copies` are its versions by host, that which answers by default first."""

    name: str
    task: str
    kind: str
    summary: str
    returns: str
    languages: list[str]
    licence: str
    size_bytes: int
    inside: bool
    visibility: str
    copies: list[CopyOut]


class ModelPage(BaseModel):
    """A page of models by name."""

    items: list[ModelRow]
    next: str | None


class ShareOut(BaseModel):
    """A share with its 95 % interval; `value` is null where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class PlayedOut(BaseModel):
    """A round against the model; the rates are those of its own answers, whatever other `targets` said.

    `vmer_is_lower_bound`: examples that fooled it, but not all targets together, are not checked in this round.
    """

    task: str
    number: int
    state: str
    version: str
    targets: list[str]
    mer: ShareOut
    vmer: ShareOut
    vmer_is_lower_bound: bool


class ModelOut(ModelRow):
    """One model: what it takes, gives and can explain, its card in Markdown, the rounds against it."""

    inputs: list[str]
    images: list[str]
    answer: str
    labels: list[str]
    methods: list[str]
    explains: list[str]
    readme: str
    rounds: list[PlayedOut]


class ModelAnswerOut(BaseModel):
    """A model's answer; `latency_ms` is the time that the platform waited."""

    model: str
    version: str
    answer: dict[str, Any]
    probabilities: dict[str, float] | None
    latency_ms: float
