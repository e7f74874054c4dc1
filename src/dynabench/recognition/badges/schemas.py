"""Badges as JSON."""

from datetime import datetime

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page


class BadgeOut(BaseModel):
    """A badge, what it takes, and how many people have it."""

    key: str = Field(examples=["ten_verified"])
    title: str
    explanation: str
    family: str = Field(description="The group that it belongs to.", examples=["start"])
    subject: str = Field(description="It is earned once for each `site`, `task`, `model` or `week`.")
    needs: dict[str, int] = Field(description="Least values of measures; empty where an event earns it.")
    people: int = Field(description="How many people have it.")


class BadgeList(Page[BadgeOut]):
    """All badges, on one page."""


class AwardOut(BaseModel):
    """A badge that a person earned."""

    badge: str = Field(examples=["task_bronze"])
    title: str
    subject: str = Field(description="The task, the model, or the Monday of the week; empty where there is none.")
    at: datetime


class BadgeProgressOut(BaseModel):
    """Your progress to a badge: the measure that it lacks most, its value and its goal; empty where an event earns it.

    `awards` counts how often you have it.
    """

    badge: str
    awards: int
    measure: str = Field(examples=["verified"])
    value: int
    goal: int


class OwnBadges(BaseModel):
    """Your badges, the newest first, and your progress to all."""

    awards: list[AwardOut]
    progress: list[BadgeProgressOut]
