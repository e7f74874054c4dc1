"""Studies and participants as JSON."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from dynabench.crowd.consent import LONGEST
from dynabench.crowd.tables import ParticipationState, StudyState
from dynabench.crowd.work import Work
from dynabench.kit.schemas import Page, StrictModel


class StudyIn(StrictModel):
    """A study to draft."""

    round: int = Field(ge=1, description="Number of the round that workers write in or check.")
    provider: str = Field("generic", max_length=40, description="Crowd platform, such as `generic`.")
    name: str = Field(max_length=200, description="Name that workers see.")
    work: Work = Field(default_factory=Work, description="Work of each worker.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings of the platform.")


class StudyOut(BaseModel):
    """A study, with the number of its participants by state; `entry` is the address that workers are sent to."""

    id: int
    round: int
    provider: str
    name: str
    state: StudyState
    work: Work
    settings: dict[str, Any]
    entry: str
    participants: dict[ParticipationState, int]
    created_at: datetime
    published_at: datetime | None
    stopped_at: datetime | None


class StudyPage(Page[StudyOut]):
    """Studies of a task, the newest first."""


class StudyStateIn(StrictModel):
    """The state that a study is to have."""

    state: Literal["published", "paused", "stopped"]


class ParticipantOut(BaseModel):
    """A worker in a study; `worker` is the platform's id, which no export has."""

    id: int
    username: str
    worker: str
    session: str
    state: ParticipationState
    outcome: str
    code: str
    examples: int
    fooled: int
    verified: int
    votes: int
    active_seconds: float
    arrived_at: datetime
    finished_at: datetime | None
    reason: str


class ParticipantPage(Page[ParticipantOut]):
    """Participants of a study, in the order of their arrival."""


class ParticipantDecisionIn(StrictModel):
    """The owner's decision on a participant who has finished; a rejection needs a reason."""

    approve: bool
    reason: str = Field("", max_length=500, description="Shown to the worker.")
    category: str = Field(
        "other", max_length=40, description="Category of the rejection on the platform, if it has any."
    )


class ConsentIn(StrictModel):
    """A new version of the text that workers agree to."""

    text: str = Field(max_length=LONGEST + 1000, description="Markdown.")


class ConsentOut(BaseModel):
    """The newest version of a task's consent text; version 0 is the text that tasks begin with, not saved yet."""

    version: int
    text: str
