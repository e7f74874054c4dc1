"""Request and response bodies of the JSON API of tasks and rounds."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.people.roles import TaskRole
from dynabench.rounds.plan import PARTS, PartName, PlannedRound

Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="The round's number, from 1.")]
VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1, description="The version's number, from 1.")]
# Checked by `rounds.plan`, which names the arm: a union here would put its alternatives into the names of errors.
ArmTargets = Annotated[
    Any,
    WithJsonSchema(
        {"anyOf": [{"enum": ["round", "none"]}, {"type": "array", "items": {"type": "string"}, "maxItems": 16}]}
    ),
]
ModelName = Annotated[str, Field(max_length=200)]
Config = Annotated[str, Field(max_length=200_000, description="The task's config, YAML.")]


class TaskIn(StrictModel):
    """A task to create, or a new version of one."""

    config: Config


class TargetOut(RowModel):
    """A model version in the loop."""

    model: str
    version: str


class ArmIn(StrictModel):
    """A condition of a round, drawn by its share with each context that is handed out, or once per person."""

    name: str = Field(max_length=40)
    share: float = Field(1, gt=0, le=1e6, allow_inf_nan=False, description="Weight in the draw.")
    targets: ArmTargets = Field(
        "round", description="none: no model is asked, a control. A list: these models instead of the round's."
    )
    start: Literal["blank", "prompt", "seed"] | None = Field(None, description="By default as the task draws it.")
    assistant: bool = Field(False, description="Help with writing is offered; recorded with each example.")


class ArmOut(BaseModel):
    """A condition of a round."""

    name: str
    share: float
    targets: Literal["round", "none"] | list[TargetOut]
    start: str | None = None
    assistant: bool = False


class RoundOut(BaseModel):
    """A round; its targets are fooled together when `any`, the `majority` or `all` of them are."""

    task: str
    number: int
    state: Literal["draft", "open", "closed", "released"]
    targets: list[TargetOut]
    ensemble: str
    arms: list[ArmOut] = []
    assign: Literal["item", "person"] = "item"
    judge: TargetOut | None = None
    plan: PlannedRound = PlannedRound()
    version: int
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None


class TaskRow(BaseModel):
    """A task in a list; `open_round` is the number of the round that collects now."""

    id: str
    name: str
    description: str
    goal: str
    open_round: int | None
    rounds: int


class TaskPage(Page[TaskRow]):
    """A page of tasks; `next` is the cursor of the page after it."""


class TaskOut(BaseModel):
    """A task's config as people see it (the members of the YAML file), with its version and the open round."""

    model_config = ConfigDict(extra="allow")

    id: str
    name: str
    description: str
    version: int
    goal: str
    context: list[dict[str, Any]]
    input: list[dict[str, Any]]
    answer: list[dict[str, Any]]
    round: RoundOut | None


class SavedOut(BaseModel):
    """A stored config; `changed` is false where it was the newest version already."""

    id: str
    version: int
    created: bool
    changed: bool


class RoundIn(StrictModel):
    """A round to open: models by `name` or `name@version`, or `none` alone. A draft waits for `/open`."""

    targets: list[ModelName] = Field(max_length=16)
    ensemble: Literal["any", "majority", "all"] = "any"
    arms: list[ArmIn] = Field([], max_length=20)
    assign: Literal["item", "person"] = Field("item", description="An arm with each context, or once per person.")
    plan: PlannedRound = PlannedRound()
    draft: bool = False


class ContextIn(BaseModel):
    """One context; what does not fit is reported row by row, so nothing is checked here."""

    values: Any = None
    tag: Any = ""
    language: Any = Field("", description="ISO 639 code of its language, such as en; empty for none.")


class ContextsIn(StrictModel):
    """Up to 1,000 contexts."""

    contexts: list[ContextIn] = Field(max_length=1000)


class RowError(BaseModel):
    """Why a row was left out; rows are counted from 1."""

    row: int
    message: str


class UploadOut(BaseModel):
    """The result of uploading contexts."""

    created: int
    duplicates: int
    errors: list[RowError]


class RoleIn(StrictModel):
    """The role of a person in a task; null takes it away."""

    username: str = Field(max_length=40)
    role: TaskRole | None


class RoleOut(BaseModel):
    """The role of a person in a task, with the username."""

    username: str
    role: str | None


class RoundPage(Page[RoundOut]):
    """A page of a task's rounds, newest first; drafts are there for its owners alone."""


class ContextOut(RowModel):
    """A context as its task's owners see it: `used` examples were written against it, of which `fooled` fooled.

    `weight` counts where contexts are drawn by weight; a retired one is handed out no more.
    """

    id: int
    values: dict[str, Any]
    tag: str
    language: str
    used: int
    fooled: int
    weight: float
    created_at: datetime
    retired_at: datetime | None


class ContextPage(Page[ContextOut]):
    """A page of contexts, newest first."""


class ActOut(BaseModel):
    """A line of a task's audit log; `by` is null for the operator at the command line."""

    id: int
    at: datetime
    by: str | None
    kind: str
    subject: dict[str, Any]


class ActPage(Page[ActOut]):
    """A page of a task's audit log, newest first."""


class VersionRow(BaseModel):
    """A version of a task's config; `by` is null for the operator at the command line, `rounds` used it."""

    number: int
    by: str | None
    created_at: datetime
    rounds: list[int]


class VersionPage(Page[VersionRow]):
    """A page of a task's config versions, newest first."""


class TaskVersionOut(VersionRow):
    """A version with its YAML text."""

    config: str


class RefusedOut(RowModel):
    """A row that an import left out: its line, why, and what stood in it, unless it could not be read."""

    row: int
    message: str
    values: dict[str, Any] | None


class RefusedPage(Page[RefusedOut]):
    """A page of refused rows, in the file's order."""


class RoundCloneIn(StrictModel):
    """The parts of a round that its clone takes over in addition to the targets: by default all of them."""

    parts: list[PartName] = Field(list(PARTS), max_length=10)


class ChosenIn(StrictModel):
    """The few contexts that a round works on, by id; none for all of the task's. Or the round to take them from."""

    contexts: list[Annotated[int, Field(ge=1, le=2**53)]] | None = Field(None, max_length=200)
    from_round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class ChosenOut(BaseModel):
    """The contexts that were chosen for a round; it works on all of the task's where there are none."""

    contexts: list[int]


class NamedIn(StrictModel):
    """The people who may take part in a round for invited people, by username."""

    people: list[Annotated[str, Field(max_length=40)]] = Field(max_length=1000)


class NamedOut(BaseModel):
    """The people who may take part in a round for invited people: they were named, or came by a link."""

    people: list[str]


class ContextChangeIn(StrictModel):
    """Changes to contexts, by id; null leaves a value as it is."""

    contexts: list[Annotated[int, Field(ge=1, le=2**53)]] = Field(min_length=1, max_length=1000)
    tag: Annotated[str, Field(max_length=100)] | None = None
    language: Annotated[str, Field(max_length=3)] | None = None
    weight: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] | None = None
    retired: bool | None = None


class ChangedOut(BaseModel):
    """The number of the named contexts that belong to the task."""

    changed: int
