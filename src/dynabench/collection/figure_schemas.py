"""JSON schemas of the figures of rounds and people."""

from datetime import datetime

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page
from dynabench.stats.rates import Rate


class FigureRateOut(BaseModel):
    """A rate with its 95 % Wilson interval; null where nothing was counted."""

    value: float | None
    low: float | None
    high: float | None


def rate_out(rate: Rate) -> FigureRateOut:
    """A rate as JSON."""
    return FigureRateOut(value=rate.value, low=rate.low, high=rate.high)


class BreakdownLineOut(BaseModel):
    """The figures of one value of a breakdown; `clustered` intervals allow for one person's examples being alike."""

    value: str
    examples: int
    fooled: int
    validated: int
    resolved: int
    unknown: int
    retracted: int
    hidden: int
    people: int
    mer: FigureRateOut
    vmer: FigureRateOut
    vmer_resolved: FigureRateOut
    clustered: dict[str, FigureRateOut]


class BreakdownOut(BaseModel):
    """A round's figures and one breakdown of them."""

    by: str
    who: str
    total: BreakdownLineOut
    items: list[BreakdownLineOut]


class AnnotatorOut(BaseModel):
    """One person's figures in a round."""

    name: str
    examples: int
    fooled: int
    validated: int
    resolved: int
    unknown: int
    retracted: int
    hidden: int
    mer: FigureRateOut
    vmer: FigureRateOut


class AnnotatorsOut(Page[AnnotatorOut]):
    """A page of annotators; `next` is the cursor of the page after it."""


class BoardRow(BaseModel):
    """One person's counts in a round; `source` is `person`, `expert` or `owner`."""

    rank: int
    name: str
    source: str
    examples: int
    fooled: int
    validated: int
    resolved: int
    unknown: int
    mer: FigureRateOut
    mine: bool = False
    profile: str = Field("", description="Path of the person's public profile, or nothing.")


class BoardPage(Page[BoardRow]):
    """A page of a round's board, best first: validated fooling examples, then fooling ones, then fewest tries."""


class GoalOut(BaseModel):
    """A goal of a round: how many `examples`, `fooled` or `verified` ones are wanted, and how many there are."""

    name: str
    wanted: int
    reached: int


class LeftOut(BaseModel):
    """The number of examples that the person may still write now.

    `for_good` says that another day does not lift the limit.
    """

    left: int
    for_good: bool
    resets_at: datetime


class RoundProgressOut(BaseModel):
    """The progress of a round; `mine` is null where it sets no limits, and for visitors."""

    goals: list[GoalOut]
    mine: LeftOut | None
