"""Schemas of the JSON API of submissions."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from dynabench.benchmark.registry.schemas import Strict
from dynabench.benchmark.registry.submissions import README, SubmissionView

Short = Annotated[str, Field(max_length=200)]
Price = Annotated[float | None, Field(ge=0, le=1e6, allow_inf_nan=False)]
Line = Annotated[str, Field(max_length=600)]


class SubmissionIn(Strict):
    """A model to be evaluated. `kind` says where it comes from, and so which other members are needed:

    `hub`: `hub` (owner/name) and, if need be, `revision`. `endpoint`: `protocol`, `url`, `model`, and where they apply
    `prompt`, `pipeline`, `token` (kept apart, sent to that host alone, never shown), and what it costs: `price_in` and
    `price_out` (a million tokens), `price_per_call`, and `spend_per_day`, past which no call is made. `archive` and
    `adapter`: `file`, the id of an uploaded zip file. `predictions`: `files`, the id of an uploaded file by dataset.
    `training_set`: `file`, the id of an uploaded list of rows, for tasks whose models the platform trains.
    """

    kind: Literal["hub", "endpoint", "archive", "adapter", "predictions", "training_set"]
    name: Short
    visibility: Literal["public", "anonymous", "private"] = "public"
    readme: Annotated[str, Field(max_length=README)] = ""
    licence: Short = ""
    languages: Short = ""
    parameters: Short = ""
    paper: Line = ""
    link: Line = ""
    hub: Short = ""
    revision: Short = ""
    protocol: Short = ""
    url: Line = ""
    model: Short = ""
    prompt: Annotated[str, Field(max_length=8000)] = ""
    pipeline: Short = ""
    price_in: Price = None
    price_out: Price = None
    price_per_call: Price = None
    spend_per_day: Price = None
    token: Line = ""
    file: Short = ""
    files: Annotated[dict[Short, Short], Field(default_factory=dict, max_length=200)]


class ShownIn(Strict):
    """The visibility of a submission."""

    visibility: Literal["public", "anonymous", "private"]


class FileOut(BaseModel):
    """A file that waits to be submitted, for a day."""

    file: str


class SubmissionRow(BaseModel):
    """A submission in a list; `name` is `#<id>` and `by` empty where you may not know.

    `state` is queued, checking, ready, failed (`code` and `reason` say why) or withdrawn.
    """

    id: int
    task: str
    kind: str
    name: str
    by: str
    mine: bool
    model: str
    version: str
    inside: bool
    visibility: str
    state: str
    code: str
    reason: str
    attempt: int
    created_at: datetime
    ready_at: datetime | None
    withdrawn_at: datetime | None


class SubmissionPage(BaseModel):
    """A page of submissions, newest first."""

    items: list[SubmissionRow]
    next: int | None


class SubmissionOut(SubmissionRow):
    """One submission: what its check found in each step, and for its submitter the last lines of the log."""

    card: dict[str, Any]
    readme: str
    report: dict[str, Any]
    log: str


def submission_row(seen: SubmissionView) -> dict[str, Any]:
    """Return a submission's row in lists."""
    submission = seen.submission
    fields = {name: getattr(submission, name) for name in ("id", "kind", "visibility", "state", "code", "attempt")}
    fields |= {name: getattr(submission, name) for name in ("inside", "created_at", "ready_at", "withdrawn_at")}
    fields |= {"task": submission.task_id, "by": seen.who, "mine": seen.mine, "name": seen.title}
    fields |= {name: getattr(submission, name) if seen.disclosure.name else "" for name in ("model", "version")}
    return fields | {"reason": submission.reason if seen.mine else ""}


def submission_out(seen: SubmissionView) -> SubmissionOut:
    """One submission; logs and reports are for those whose it is."""
    submission = seen.submission
    report, log = (submission.report, submission.log) if seen.mine else ({}, "")
    return SubmissionOut(**submission_row(seen), card=submission.card, readme=submission.readme, report=report, log=log)
