"""One example as exports write it and imports read it: the members of a row, and the names that people have in it.

`docs/reference/data.md` describes each member; `Row` checks what comes from outside.
"""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from dynabench.collection.schemas import Program
from dynabench.kit import errors, security, storable
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.settings import Settings

PSEUDONYM = re.compile(r"[a-z]{1,20}-[a-z2-7]{16}")
"""What pseudonyms of any deployment look like (`security.pseudonym`)."""

COLUMNS = (
    "uid", "task", "task_version", "round", "context", "initial", "goal", "input", "answer", "fooled", "author",
    "source", "condition", "made_from", "edit_distance", "attempt", "seconds", "latency_ms", "at", "predictions",
    "validations", "verdict", "explanation", "assistance", "program",
)  # fmt: skip
"""The members of a row, in order; `attributions` comes after them where it was asked for."""

MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"
Values = dict[str, Any]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Milliseconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _utc(moment: datetime) -> datetime:
    if not 1970 <= moment.year <= 2100:
        raise ValueError("Give a moment between 1970 and 2100.")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_utc)]


def foreign_pseudonym(settings: Settings, text: str) -> str:
    """A pseudonym for a person whom a foreign file names by `text`, such as a worker's number: a keyed hash of it."""
    number = int.from_bytes(security.keyed(settings.key, "imported person", text)[:8], "big")
    return security.pseudonym(settings.key, "imported", number)


def format_moment(at: datetime) -> str:
    """A moment in UTC as rows write it, with microseconds."""
    return at.astimezone(UTC).strftime(MOMENT)


def check_storable(document: dict[str, Any]) -> None:
    """Raises `Invalid` for what databases and JSON cannot hold: NUL, broken Unicode, deep nesting, NaN, infinity."""
    if wrong := next(storable.unstorable(document), None):
        message = _("This cannot be stored: remove control characters or deep nesting.")
        raise errors.Invalid({storable.printable(wrong): message})
    try:
        json.dumps(document, allow_nan=False, default=str)
    except (ValueError, TypeError):
        raise errors.Invalid({"row": _("It contains NaN or infinity; leave it out.")}) from None


class ExamplePart(StrictModel):
    """A part of a row from outside; members that are not known are refused."""


class ContextPart(ExamplePart):
    """The context that the annotator was given."""

    values: Values = Field({})
    tag: Annotated[str, Field(max_length=100)] = ""


class TargetPart(ExamplePart):
    """A model version in the loop."""

    model: Name
    version: Annotated[str, Field(max_length=64)] = ""


class ConditionPart(ExamplePart):
    """The condition under which the example was written.

    `targets` is empty if no model was asked. `share` is the arm's weight in the draw. `inspired` is true where the
    author opened examples of others for the context before writing, `model_written` where they
    declared that a language model wrote a part.
    """

    start: Annotated[str, Field(max_length=10)] = "blank"
    arm: Annotated[str, Field(max_length=40)] = ""
    share: Annotated[float, Field(gt=0, le=1e6)] | None = None
    ensemble: Literal["any", "majority", "all"] = "any"
    targets: list[TargetPart] = Field([])
    assistant: bool = False
    inspired: bool = False
    model_written: bool = False


class PredictionPart(TargetPart):
    """The answer of one model version; `fooled` is null if nobody has judged the answer."""

    answer: Values
    probabilities: dict[str, float] | None = None
    fooled: bool | None = None
    latency_ms: Milliseconds = 0.0


class ValidationPart(ExamplePart):
    """One vote that stands. `blind` tells an answer given before the claim was seen; only those measure people.

    `weight` is the vote's, in a round that weighs votes by reliability. `excluded` votes, which archives have, count
    for nothing.
    """

    validator: Annotated[str, Field(min_length=1, max_length=200)]
    vote: Literal["correct", "incorrect", "flagged"]
    blind_answer: Values | None = None
    blind: bool = False
    by_owner: bool = False
    values: Values = Field({})
    weight: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    at: Moment | None = None
    excluded: bool = False


class ExplanationPart(ExamplePart):
    """The author's explanation of the example."""

    values: Values
    at: Moment | None = None


class AssistancePart(ExamplePart):
    """The outcome of the suggestions to the author: `shown` texts, of which one or none was used."""

    shown: Annotated[int, Field(ge=1, le=1000)]
    outcome: Literal["accepted", "edited", "ignored"]
    distance: Count | None = None
    provider: Annotated[str, Field(max_length=40)] = ""
    model: Annotated[str, Field(max_length=100)] = ""
    version: Annotated[str, Field(max_length=64)] = ""
    text: Annotated[str, Field(max_length=100_000)] = ""


class AttributionPart(ExamplePart):
    """The words that one model looked at."""

    model: Name
    method: Annotated[str, Field(max_length=40)]
    label: Annotated[str, Field(max_length=200)]
    fields: Values
    completeness_error: float | None = None


class ExampleRow(ExamplePart):
    """A finished example. `verdict` is for readers: imports count it again from the votes.

    `fooled` is null where it is not known, as it always is where no model was asked.
    """

    uid: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
    task: str = ""
    task_version: Count = 0
    round: Annotated[int, Field(ge=0, le=100_000)] = 1
    context: ContextPart = ContextPart()
    initial: Values = Field({})
    goal: Values | None = None
    input: Values
    answer: Values
    fooled: bool | None = None
    author: Annotated[str, Field(max_length=200)] = ""
    source: Literal["person", "expert", "owner", "program"] = "person"
    condition: ConditionPart = ConditionPart()
    made_from: Annotated[str, Field(max_length=64)] | None = None
    edit_distance: Count | None = None
    attempt: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    seconds: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] = 0.0
    latency_ms: Milliseconds = 0.0
    at: Moment | None = None
    predictions: Annotated[list[PredictionPart], Field(max_length=100)] = Field([])
    validations: Annotated[list[ValidationPart], Field(max_length=1000)] = Field([])
    verdict: str = "pending"
    explanation: ExplanationPart | None = None
    assistance: AssistancePart | None = None
    program: Program | None = None
    attributions: Annotated[list[AttributionPart], Field(max_length=1000)] = Field([])

    @model_validator(mode="after")
    def _nobody_was_fooled(self) -> "ExampleRow":
        if not self.predictions:  # older exports say that nobody was fooled where nobody was asked
            self.fooled = None
        return self
