"""Schemas of the JSON API of evaluations."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class EvaluationOut(BaseModel):
    """One model on one dataset version. `model` and `submission` are null where they are anonymous to you.

    `place` is how many evaluations are before it, `expected` when it should be done; `code` says why it ended, `advice`
    what to do about it; `reason` and `log` are for the submitter, and empty for hidden datasets.
    """

    id: int
    task: str
    dataset: str
    version: int
    model: str | None
    submission: int | None
    state: str
    attempt: int
    rows: int
    rows_done: int
    place: int | None
    expected: datetime | None
    code: str
    advice: str
    reason: str
    log: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    may_cancel: bool
    may_retry: bool


class EvaluationPage(BaseModel):
    """A page of a list; `next` is the `after` of the following one."""

    items: list[EvaluationOut]
    next: int | None


class ScoreOut(BaseModel):
    """A score of the whole (`slice` is empty) or of the rows with a tag; `low` and `high` bound its 95 % interval."""

    metric: str
    title: str
    version: int
    slice: str
    value: float
    low: float | None
    high: float | None
    n: int
    better: str
    unit: str
    scale: float


class ScoresOut(BaseModel):
    """All scores of an evaluation."""

    items: list[ScoreOut]


class RecordOut(BaseModel):
    """A signed record; `key` is the public key that it was signed with, in base64."""

    document: dict[str, Any]
    signature: str
    key: str


class ScoredRowOut(BaseModel):
    """One row; of a dataset whose rows are not shown, its uid and whether the answer is right."""

    number: int
    uid: str
    right: bool
    inputs: dict[str, Any]
    answers: list[Any]
    said: Any
    probabilities: dict[str, float] | None
    tags: list[str]


class ResultPage(BaseModel):
    """A page of results; `next` is the `after` of the following one."""

    items: list[ScoredRowOut]
    next: int | None


class KeyOut(BaseModel):
    """The deployment's public key: Ed25519, 32 bytes in base64; `older` ones, newest first, sign nothing any more."""

    algorithm: str = "Ed25519"
    key: str
    older: list[str]
