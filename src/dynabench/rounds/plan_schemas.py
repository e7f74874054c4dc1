"""API bodies of plans of rounds: clones, chosen contexts, named people, changes of contexts."""

from typing import Annotated

from pydantic import BaseModel, Field

from dynabench.rounds.plan import PARTS, PartName
from dynabench.rounds.schemas import Strict


class RoundCloneIn(Strict):
    """The parts of a round that its clone takes over in addition to the targets: by default all of them."""

    parts: list[PartName] = Field(list(PARTS), max_length=10)


class ChosenIn(Strict):
    """The few contexts that a round works on, by id; none for all of the task's. Or the round to take them from."""

    contexts: list[Annotated[int, Field(ge=1, le=2**53)]] | None = Field(None, max_length=200)
    from_round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class ChosenOut(BaseModel):
    """The contexts that were chosen for a round; it works on all of the task's where there are none."""

    contexts: list[int]


class NamedIn(Strict):
    """The people who may take part in a round for invited people, by username."""

    people: list[Annotated[str, Field(max_length=40)]] = Field(max_length=1000)


class NamedOut(BaseModel):
    """The people who may take part in a round for invited people: they were named, or came by a link."""

    people: list[str]


class ContextChangeIn(Strict):
    """Changes to contexts, by id; null leaves a value as it is."""

    contexts: list[Annotated[int, Field(ge=1, le=2**53)]] = Field(min_length=1, max_length=1000)
    tag: Annotated[str, Field(max_length=100)] | None = None
    weight: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] | None = None
    retired: bool | None = None


class ChangedOut(BaseModel):
    """The number of the named contexts that belong to the task."""

    changed: int
