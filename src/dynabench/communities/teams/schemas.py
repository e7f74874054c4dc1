"""Teams as JSON."""

from datetime import datetime

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page, RowModel, StrictModel


class TeamIn(StrictModel):
    """A new team."""

    name: str = Field(max_length=200)
    task: str = Field("", max_length=60, description="The task of the team; empty for the whole site.")
    about: str = Field("", max_length=2000, description="Markdown.")


class TeamChangeIn(StrictModel):
    """Changes of a team; what is left out stays."""

    name: str | None = Field(None, max_length=200)
    about: str | None = Field(None, max_length=2000)
    thanked: bool | None = Field(None, description="Releases name the team in their thanks.")


class TeamRateOut(RowModel):
    """A share with its 95 % interval; null where nothing is known."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class TeamMemberOut(BaseModel):
    """A member, and what the member wrote for the team; the name is null where the profile is not public."""

    person: int | None
    name: str | None
    captain: bool
    examples: int
    fooled: int
    verified: int


class TeamLineOut(BaseModel):
    """A team with its figures; `rank` is null where there are too few examples for one."""

    id: int
    name: str
    task: str | None
    rank: int | None
    members: int
    examples: int
    fooled: int
    verified: int
    vmer: TeamRateOut = Field(description="Clustered by member.")


class TeamBoardOut(Page[TeamLineOut]):
    """Teams, ranked by verified fooling examples."""


class TeamOut(TeamLineOut):
    """A team with its members."""

    about: str
    thanked: bool
    created_at: datetime
    people: list[TeamMemberOut]


class TeamLinkOut(BaseModel):
    """A new link for joining, shown this once."""

    secret: str
    link: str


class TeamJoinIn(StrictModel):
    """The secret of a team's link."""

    secret: str = Field(max_length=100)


class CaptainIn(StrictModel):
    """The member who becomes the captain."""

    person: int = Field(ge=1, le=2**63 - 1)
