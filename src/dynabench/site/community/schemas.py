"""Bodies and responses of the JSON API about a person's own work."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class StrictBody(BaseModel):
    """A request body in which unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class WrittenOut(BaseModel):
    """Your examples of one round: `examples` remain, `retracted` were withdrawn; released ones stay."""

    task: str
    round: int
    state: str
    examples: int
    retracted: int


class WrittenList(BaseModel):
    """All rounds that you wrote in, on one page."""

    items: list[WrittenOut]
    next: str | None = None


class WithdrawalIn(StrictBody):
    """The examples to withdraw: all of a round, of a task, or (with neither) all."""

    task: str | None = Field(None, max_length=60)
    round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    confirm: str = Field(max_length=40, description="Your username: this cannot be undone.")


class WithdrawalOut(BaseModel):
    """The number of withdrawn examples."""

    withdrawn: int


class DeletionIn(StrictBody):
    """The deletion of an account, confirmed by name and password."""

    confirm: str = Field(max_length=40, description="Your username: this cannot be undone.")
    password: str = Field(max_length=1000)
    withdraw_examples: bool = Field(False, description="Whether to take back all that is not released first.")
