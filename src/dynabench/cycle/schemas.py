"""Schemas of the cycle's JSON API."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, SkipValidation

from dynabench.cycle.report import TurnReport
from dynabench.kit.schemas import Page
from dynabench.rounds.schemas import Strict


class TurnIn(Strict):
    """A turn to be started: its round, by default the open one, and the plan as an object with the keys of the YAML."""

    round: int | None = Field(None, ge=1, le=100_000)
    plan: dict[str, Any] = Field({}, description="What is absent is as the plan has it by default.")


class CandidateOut(BaseModel):
    """A model that a turn trains: `waiting`, `ready` or `failed` with the `reason`."""

    name: str
    method: str
    seed: int
    state: str
    reason: SkipValidation[str]  # which would make a plain text of a phrase
    version: str
    submission: int | None
    rows: int | None
    seconds: float | None


class TurnProgressOut(BaseModel):
    """The progress of a turn: the step, its present activity, and the number of its parts that are done, of all."""

    step: str
    what: str = ""
    done: int = 0
    of: int = 0


class TurnOut(BaseModel):
    """A turn: `queued`, `running`, `paused`, `done`, `failed` with the `reason`, or `undone`."""

    id: int
    task: str
    round: int
    state: str
    step: str
    reason: SkipValidation[str]  # which would make a plain text of a phrase
    present: list[str]
    plan: dict[str, Any]
    candidates: list[CandidateOut]
    release: str | None = Field(None, description="The digest of the round's release.")
    progress: TurnProgressOut | None = None
    report: TurnReport | None = None
    next: int | None = Field(None, description="The round that the turn drafted or opened.")
    back: int | None = Field(None, description="The round that took its place when the turn was undone.")
    created_at: datetime
    ended_at: datetime | None


class TurnPage(Page[TurnOut]):
    """Turns of a task, newest first."""


class Foreseen(BaseModel):
    """The effects that a turn would have.

    `examples` and `verified` count those of a round that is not released yet; `rows` the training rows that the
    releases of earlier rounds hold now. `seconds` is the estimated time of training and evaluation without
    waiting for other jobs; None where no comparable training was done before.
    """

    task: str
    round: int
    closes: bool
    releases: bool
    examples: int
    verified: int
    rows: int
    ancestors: list[int]
    models: list[str]
    present: list[str]
    evaluations: int
    rule: str
    next: int
    opens: bool
    parents: list[int]
    seconds: float | None


class RoundLineageOut(BaseModel):
    """A round with those that it follows and those that follow it, by number."""

    round: int
    state: str
    targets: list[str]
    parents: list[int]
    children: list[int]


class LineagePage(Page[RoundLineageOut]):
    """The rounds of a task as a graph, newest first, all on one page."""
