"""What the API takes and shows of plans of rounds: clones, chosen contexts, named people, changes of contexts."""

from typing import Annotated

from pydantic import BaseModel, Field

from dynabench.rounds.plan import PARTS, PartName
from dynabench.rounds.schemas import Strict


class RoundCloneIn(Strict):
    """Which parts of a round its clone takes over beside the targets: by default all of them."""

    parts: list[PartName] = Field(list(PARTS), max_length=10)


class ChosenIn(Strict):
    """The few contexts that a round works on, by id; none for all of the task's. Or the round to take them from."""

    contexts: list[Annotated[int, Field(ge=1, le=2**53)]] | None = Field(None, max_length=200)
    from_round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class ChosenOut(BaseModel):
    """The contexts that were chosen for a round; it works on all of the task's where there are none."""

    contexts: list[int]


class NamedIn(Strict):
    """Who may take part in a round for invited people, by username."""

    people: list[Annotated[str, Field(max_length=40)]] = Field(max_length=1000)


class NamedOut(BaseModel):
    """Who may take part in a round for invited people: whoever was named, or came by a link."""

    people: list[str]


class ContextChangeIn(Strict):
    """What to change of contexts, by id; null leaves it as it is."""

    contexts: list[Annotated[int, Field(ge=1, le=2**53)]] = Field(min_length=1, max_length=1000)
    tag: Annotated[str, Field(max_length=100)] | None = None
    weight: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] | None = None
    retired: bool | None = None


class ChangedOut(BaseModel):
    """How many contexts of the task there were among those named."""

    changed: int
