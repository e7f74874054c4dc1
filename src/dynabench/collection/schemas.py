"""What the JSON API of collection takes and gives."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Values = dict[str, Any]
Id = Annotated[int, Field(ge=1, le=2**53)]


class Strict(BaseModel):
    """A body in which unknown members, such as a forged `fooled`, are refused."""

    model_config = ConfigDict(extra="forbid")


class ExampleIn(Strict):
    """A draft: everything else (predictions, fooled, time) is decided by the server."""

    context_id: Id
    input: Values
    answer: Values
    sandbox: bool = False
    made_from: Id | None = None


class HandoutOut(BaseModel):
    """A context as it was given; `initial` is what the input fields begin with."""

    id: int
    values: Values
    goal: Values | None
    start: str
    initial: Values


class PredictionOut(BaseModel):
    """What one model answered; `probabilities` maps labels to probabilities where the model gives them."""

    model: str
    answer: Values
    probabilities: dict[str, float] | None
    fooled: bool
    latency_ms: float


class OutcomeOut(BaseModel):
    """What the round's targets said about a draft. `id`, `attempt` and `seconds` are null in the sandbox."""

    id: int | None
    predictions: list[PredictionOut]
    fooled: bool
    latency_ms: float
    attempt: int | None
    seconds: float | None


class ExampleOut(OutcomeOut):
    """A stored example, for its author and the task's owners."""

    task: str
    round: int
    context_id: int
    context: Values
    input: Values
    answer: Values
    made_from: int | None
    source: str
    start: str
    verdict: str
    retracted: bool
    explanation: Values | None
    at: datetime


class ExamplePage(BaseModel):
    """A page of examples; `next` is the cursor of the page after it."""

    items: list[ExampleOut]
    next: str | None


class AttributionIn(Strict):
    """Asks which words of a draft a model looked at; `answer` is the draft's claim and changes nothing.

    `label` is the answer to explain; without it the one that the model gives. Of an answer that is marked in a text,
    `start` and `end` are explained. Without `model` the first target, without `method` the model's first.
    """

    task: str
    context_id: Id
    input: Values
    answer: Values | None = None
    model: str = ""
    method: str = ""
    label: str = ""


class ExplanationOut(BaseModel):
    """What the author said of their example."""

    id: int
    values: Values


class RetractionOut(BaseModel):
    """The example as taken back."""

    id: int
    retracted: bool


class RateOut(BaseModel):
    """A rate with its 95 % Wilson interval; null where nothing was counted."""

    value: float | None
    low: float | None
    high: float | None


class BoardRow(BaseModel):
    """One person's counts in a round; `source` is `person`, `expert` or `owner`."""

    rank: int
    name: str
    source: str
    examples: int
    fooled: int
    validated: int
    resolved: int
    mer: RateOut
    mine: bool = False


class BoardPage(BaseModel):
    """A page of a round's board, best first: validated fooling examples, then fooling ones, then fewest tries."""

    items: list[BoardRow]
    next: str | None
