"""The annotator's side as JSON."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from dynabench.collection.figure_schemas import FigureRateOut
from dynabench.collection.search import Filters
from dynabench.collection.writing_facts import WritingIn
from dynabench.kit.schemas import Page, StrictModel

Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\s\x00-\x1f](?:[^\x00-\x1f]*[^\s\x00-\x1f])?$")]
FactValue = Annotated[str, Field(max_length=500)] | bool | int | Annotated[float, Field(allow_inf_nan=False)] | None


class Program(StrictModel):
    """The program that wrote an example, and what the example took it: `queries` to models, and `cost` in dollars."""

    name: Name
    version: Name = "0"
    queries: int = Field(0, ge=0, le=10**9)
    cost: float = Field(0.0, ge=0, le=10**6, allow_inf_nan=False)


class ProgramIn(Program):
    """The program that proposes an example; `facts` are what else it tells, such as `similarity` or `strategy`."""

    facts: dict[Annotated[str, Field(max_length=60)], FactValue | Annotated[list[FactValue], Field(max_length=50)]] = (
        Field({}, max_length=20)
    )


class ProgramRow(BaseModel):
    """One version of a program in a round. `queries_per_fooled` and `cost_per_validated`, in dollars, are null where
    there is nothing to divide by.
    """

    name: str
    version: str
    examples: int
    fooled: int
    validated: int
    resolved: int
    unknown: int
    people: int
    mer: FigureRateOut
    vmer: FigureRateOut
    queries: int
    cost: float
    queries_per_fooled: float | None
    cost_per_validated: float | None


class ComparedOut(BaseModel):
    """A rate of people, clustered by annotator, of programs, by example, and the first minus the second."""

    people: FigureRateOut
    programs: FigureRateOut
    difference: FigureRateOut


class ProgramsOut(BaseModel):
    """The programs of a round, best first: validated fooling examples, then fooling ones, then fewest examples.

    `mer` and `vmer` compare people with programs.
    """

    items: list[ProgramRow]
    mer: ComparedOut
    vmer: ComparedOut


Values = dict[str, Any]
Id = Annotated[int, Field(ge=1, le=2**53)]


class ExampleIn(StrictModel):
    """A draft: everything else (predictions, fooled, time) is decided by the server.

    `handout` says which time that the context was given is meant; the last one where it is left out. `suggestion` is
    the assistant's that the text was made from, if any. `program` marks an example as written by a program; whoever
    sends it is its author all the same. `active_seconds` is the time for which the author worked on it, as a page
    measures it: with the page in sight, and a key or pointer used within the last minute. `writing` are claims of how
    it was written.
    """

    context_id: Id
    input: Values
    answer: Values
    handout: Id | None = None
    sandbox: bool = False
    made_from: Id | None = None
    suggestion: Id | None = None
    program: ProgramIn | None = None
    active_seconds: float | None = Field(None, ge=0, le=10_000_000)
    writing: WritingIn | None = None


class NextContextIn(StrictModel):
    """The wish for the next hand-out: an example of one's own to perturb, or (left out) another context.

    `link` are the parameters of the address by which the annotator came, where the task asks for any.
    """

    perturb: Id | None = None
    link: dict[Annotated[str, Field(max_length=60)], Annotated[str, Field(max_length=500)]] = Field({}, max_length=20)


class StartAnswerOut(BaseModel):
    """One model's answer to the text that a field begins with."""

    model: str
    answer: Values
    probabilities: dict[str, float] | None


class SeedOut(BaseModel):
    """The example to start from: `answer` is what is known of it, `predictions` what the models say."""

    input: Values
    answer: Values | None
    predictions: list[StartAnswerOut]


class HandoutOut(BaseModel):
    """A context as it was given; `initial` is what the input fields begin with.

    `id` is the context's, `handout` that of this time it was given (null for visitors); `start` is `blank`, `prompt`,
    `seed` or `perturb`; `made_from` is the example that the text comes from, `seed` what is known of it. `assistant`
    says that suggestions may be asked for.
    """

    id: int
    handout: int | None = None
    values: Values
    goal: Values | None
    start: str
    arm: str = ""
    initial: Values
    made_from: int | None = None
    seed: SeedOut | None = None
    assistant: bool = False


class ExampleLinkOut(BaseModel):
    """The parameters of the link by which the author of an example came; `uid` names it in exports."""

    id: int
    uid: str
    at: datetime
    link: Values


class LinkPage(Page[ExampleLinkOut]):
    """A page of them; `next` is the cursor of the page after it."""


class PredictionOut(BaseModel):
    """One model's answer; `probabilities` maps labels to probabilities where the model gives them.

    `fooled` is null where nobody has judged the answer (yet).
    """

    model: str
    answer: Values
    probabilities: dict[str, float] | None
    fooled: bool | None
    latency_ms: float


class OutcomeOut(BaseModel):
    """The targets' answers to a draft. `id`, `uid`, `attempt` and `seconds` are null in the sandbox.

    `edit_distance` counts the characters changed from the text that the fields began with; null for a blank
    start. Where no model was asked, `predictions` is empty. `fooled` is null while it is not known: no model
    was asked, or people have yet to say whether it was wrong. `near` is given where the task wants it: the
    share of the text that is that of an earlier example, from 0 to 1. `seconds` is the time since the
    context was given, `active_seconds` the part of it for which the author worked on the page, null if
    nobody measured it.
    """

    id: int | None
    uid: str | None = None
    arm: str = ""
    edit_distance: int | None = None
    predictions: list[PredictionOut]
    fooled: bool | None
    latency_ms: float
    attempt: int | None
    seconds: float | None
    active_seconds: float | None = None
    near: float | None = None


class ExampleOut(OutcomeOut):
    """A stored example, for its author and the task's owners; `author` is named in lists of everybody's.

    `program` is null where a person wrote it.
    """

    task: str
    round: int
    author: str | None = None
    context_id: int
    context: Values
    input: Values
    answer: Values
    made_from: int | None
    source: str
    program: ProgramIn | None = None
    start: str
    verdict: str
    retracted: bool
    hidden: bool = False
    explanation: Values | None
    at: datetime


class ExamplePage(Page[ExampleOut]):
    """A page of examples; `next` is the cursor of the page after it."""


class ExampleQuery(StrictModel):
    """A search among a task's examples; an example must match all conditions.

    `mine` asks for one's own and takes no filters. `q` are words of context, input, answer or explanation,
    `since` and `until` UTC days, `perturbed` examples that another one was made from, `noted` and `label`
    what moderators wrote beside it.
    """

    mine: bool = False
    after: int = Field(0, ge=0, le=2**53)
    limit: int = Field(50, ge=1, le=100)
    q: str = Field("", max_length=1000)
    round: int | None = Field(None, ge=1, le=2**31 - 1)
    author: str = Field("", max_length=100)
    verdict: Literal["", "pending", "correct", "incorrect", "flagged", "disputed"] = ""
    fooled: bool | Literal["unknown"] | None = None
    source: Literal["", "person", "expert", "owner", "program"] = ""
    start: Literal["", "blank", "prompt", "seed", "perturb"] = ""
    arm: str | None = Field(None, max_length=40)
    tag: str | None = Field(None, max_length=100)
    flagged: bool | None = None
    retracted: bool | None = None
    hidden: Literal["no", "yes", "any"] = "no"
    made_from: bool | None = None
    perturbed: bool | None = None
    noted: bool | None = None
    label: str = Field("", max_length=40)
    since: date | None = None
    until: date | None = None

    def filters(self) -> Filters:
        """As `collection.search` takes them."""
        conditions = self.model_dump(exclude={"mine", "after", "limit", "hidden"})
        return Filters(**conditions, hidden={"no": False, "yes": True, "any": None}[self.hidden])


class AttributionIn(StrictModel):
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


class JudgementIn(StrictModel):
    """For each model's answer to your example, whether it is wrong, in the order of its predictions."""

    wrong: list[bool] = Field(min_length=1, max_length=100)


class ExplanationOut(BaseModel):
    """The author's explanation of their example: a draft while fewer answers are given than the task requires."""

    id: int
    values: Values
    complete: bool
    answered: int
    required: int


class RetractionOut(BaseModel):
    """The example as taken back."""

    id: int
    retracted: bool


class HidingIn(StrictModel):
    """Why an example is hidden or shown again; for the audit log and its author."""

    reason: str = Field("", max_length=500)


class HidingOut(BaseModel):
    """The example, and whether it is hidden now."""

    id: int
    hidden: bool


class SeedIn(BaseModel):
    """One seed; what does not fit is reported row by row, so nothing is checked here."""

    context: Any = None
    input: Any = None
    answer: Any = None
    tag: Any = ""


class SeedsIn(StrictModel):
    """Up to 1,000 seeds."""

    seeds: list[SeedIn] = Field(max_length=1000)


class SeedlingsIn(StrictModel):
    """The examples that become seeds: those of a round with this verdict."""

    round: Annotated[int, Field(ge=1, le=2**31 - 1)]
    verdict: Literal["pending", "correct", "incorrect", "flagged", "disputed"] = "correct"


class SeedlingsOut(BaseModel):
    """The number of new seeds."""

    created: int
