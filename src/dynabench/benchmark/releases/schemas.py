"""Schemas of the JSON API of releases."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from dynabench.benchmark.releases.division import ReleaseReport
from dynabench.benchmark.releases.manifest import ReleaseFile
from dynabench.kit.schemas import StrictModel


class RulesIn(StrictModel):
    """The rules for dividing the examples; a missing rule is that of the task's config."""

    train: float | None = Field(None, ge=0, le=1)
    dev: float | None = Field(None, ge=0, le=1)
    test: float | None = Field(None, ge=0, le=1)
    hidden: float | None = Field(None, ge=0, le=1)
    disjoint: list[Literal["writers", "contexts"]] | None = Field(None, max_length=2)
    unverified: Literal["apart", "train"] | None = None
    near_duplicate: float | None = Field(None, ge=0.5, le=1)
    seed: int | None = Field(None, ge=0, le=2**31 - 1)


class ReleaseIn(RulesIn):
    """A release to be made."""

    anyway: bool = Field(False, description="In spite of the warnings of the preview.")


class ReleasePreviewOut(BaseModel):
    """The preview of a release: the rules in force, and the report of the checks."""

    task: str
    round: int
    rules: dict[str, Any]
    report: ReleaseReport


class GapOut(BaseModel):
    """A model on the public and on the hidden part to test on, and the difference: public minus hidden.

    `p` is that of an exact one-sided test whether the model answers more of the public rows right than a random
    division explains, corrected (Holm) over all models and rounds of the task; None where rows cannot be counted. A
    model with a `p` of 0.05 or less is `flagged`: it has probably seen the public part. `n` are numbers of rows.
    """

    model: str
    version: str
    entered_at: datetime
    public: float
    hidden: float
    gap: float
    low: float | None
    high: float | None
    n: tuple[int, int]
    p: float | None = None
    flagged: bool = False


class ReleaseOut(BaseModel):
    """A round's release. Before it is `ready` its task's owners alone see it; `reason` says why it `failed`."""

    task: str
    round: int
    state: str
    reason: str = ""
    id: str = Field("", description="By which it is cited: names the very bytes of all files.")
    digest: str = Field("", description="SHA-256 of manifest.json.")
    licence: str = ""
    canary: str = ""
    rules: dict[str, Any] = {}
    report: ReleaseReport | None = None
    files: list[ReleaseFile] = []
    test: str | None = Field(None, description="The dataset of the public part to test on.")
    hidden: str | None = Field(None, description="The dataset of the hidden part, of which owners know the name alone.")
    citation: str = ""
    created_at: datetime
    released_at: datetime | None = None
    gaps: list[GapOut] = []


class ReleasePage(BaseModel):
    """Releases of a task, newest round first."""

    items: list[ReleaseOut]
    next: str | None = None
