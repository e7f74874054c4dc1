"""Request and response bodies of the JSON API of twins."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from dynabench.datasets.copies import COPIES, MOST_COPIES
from dynabench.datasets.schemas import Strict
from dynabench.datasets.twins import MOST_SEED

Axis = Literal["fairness", "robustness"]


class TwinIn(Strict):
    """Make an axis's copies anew. Without `transformations`, all of the axis; `copies` of each row at most."""

    axis: Axis
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 0
    transformations: list[Annotated[str, Field(max_length=60)]] = Field(default_factory=list, max_length=100)
    copies: Annotated[int, Field(ge=1, le=MOST_COPIES)] = COPIES


class TwinOut(BaseModel):
    """A twin: `state` is reading, ready or failed; `transformations` says how many rows each made."""

    id: int
    axis: str
    origin: str
    state: str
    seed: int
    digest: str
    rows: int
    transformations: dict[str, int]
    reason: str
    created_at: datetime
    replaced_at: datetime | None


class TwinsOut(BaseModel):
    """The twins of a dataset's newest version: by axis the one that counts and, for owners, the last one asked for."""

    items: list[TwinOut]
    next: None = None


class PairOut(BaseModel):
    """A copy beside its original."""

    number: int
    uid: str
    of: str
    transformation: str
    original: dict[str, Any]
    inputs: dict[str, Any]
    answers: list[dict[str, Any]]


class PairPage(BaseModel):
    """A page of copies."""

    items: list[PairOut]
    next: str | None
