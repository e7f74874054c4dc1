"""What the JSON API about one's own work takes and gives."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A body in which unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class WrittenOut(BaseModel):
    """What you wrote in one round: `examples` stand, `retracted` were taken back; released ones stay."""

    task: str
    round: int
    state: str
    examples: int
    retracted: int


class WrittenList(BaseModel):
    """All rounds that you wrote in, on one page."""

    items: list[WrittenOut]
    next: str | None = None


class WithdrawalIn(Strict):
    """What to take back: everything of a round, of a task, or (with neither) everything."""

    task: str | None = Field(None, max_length=60)
    round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    confirm: str = Field(max_length=40, description="Your username: this cannot be undone.")


class WithdrawalOut(BaseModel):
    """How many examples were taken back."""

    withdrawn: int


class DeletionIn(Strict):
    """The end of an account, confirmed by name and password."""

    confirm: str = Field(max_length=40, description="Your username: this cannot be undone.")
    password: str = Field(max_length=1000)
    withdraw_examples: bool = Field(False, description="Whether to take back all that is not released first.")
