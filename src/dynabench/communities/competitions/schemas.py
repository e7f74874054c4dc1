"""Competitions as JSON."""

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field

from dynabench.communities.competitions.tables import CompetitionState, FreezeMode
from dynabench.communities.teams.schemas import TeamRateOut
from dynabench.kit.schemas import Page, StrictModel

Budget = Annotated[int, Field(ge=1, le=10_000)]


class CompetitionIn(StrictModel):
    """A new competition on a draft or an open round without examples."""

    name: str = Field(max_length=200)
    round: int = Field(ge=1, le=10**6)
    rules: str = Field("", max_length=10_000, description="Markdown.")
    budget: Budget = Field(100, description="Examples of a team; withdrawn ones count, too.")
    least_examples: Budget | None = Field(None, description="Examples that a rank needs; by default half the budget.")
    most_members: int = Field(10, ge=1, le=50, description="Members of a team who may write.")
    starts_at: AwareDatetime
    ends_at: AwareDatetime
    freeze: FreezeMode = FreezeMode.LIVE
    freeze_at: AwareDatetime | None = None


class CompetitionChangeIn(StrictModel):
    """Changes of a competition; budget and start cannot change once it runs. What is left out stays."""

    name: str | None = Field(None, max_length=200)
    rules: str | None = Field(None, max_length=10_000)
    budget: Budget | None = None
    least_examples: Budget | None = None
    most_members: int | None = Field(None, ge=1, le=50)
    starts_at: AwareDatetime | None = None
    ends_at: AwareDatetime | None = None
    freeze: FreezeMode | None = None
    freeze_at: AwareDatetime | None = None


class CompetitionOut(BaseModel):
    """A competition."""

    id: int
    task: str
    round: int
    name: str
    state: CompetitionState
    rules: str
    budget: int
    least_examples: int
    most_members: int
    starts_at: datetime
    ends_at: datetime
    freeze: FreezeMode
    freeze_at: datetime | None
    finished_at: datetime | None
    targets: list[str] = Field(description="Models with their versions, fixed for the competition.")
    teams: int


class CompetitionList(Page[CompetitionOut]):
    """Competitions, newest first."""


class EntryIn(StrictModel):
    """The team that enters; its captain says so."""

    team: int = Field(ge=1, le=2**63 - 1)


class RankedTeamOut(BaseModel):
    """A team's line; the places are null where the team is not ranked, for this `reason`."""

    team: int
    name: str
    rank_low: int | None
    rank_high: int | None
    group: int | None = Field(description="Teams of one group cannot be told apart from the best of it.")
    reason: str
    spent: int
    fooled: int
    verified: int
    pending: int = Field(description="Fooling examples without a verdict, which count as not verified yet.")
    vmer: TeamRateOut


class CompetitionBoardOut(Page[RankedTeamOut]):
    """The ranking of a competition; `as_of` is the moment of a frozen one, `hidden` says that it is not shown now."""

    as_of: datetime | None = None
    hidden: bool = False


class FinishIn(StrictModel):
    """The end of a competition: the ranking becomes the final report."""

    despite_pending: bool = Field(False, description="Finish although fooling examples wait for a verdict.")


class CompetitionReportOut(BaseModel):
    """The final report of a competition; it never changes."""

    name: str
    task: str
    round: int
    targets: list[str]
    budget: int
    least_examples: int
    starts_at: datetime
    ends_at: datetime
    finished_at: datetime
    examples: int
    votes: int
    pending: int
    lines: list[RankedTeamOut]
