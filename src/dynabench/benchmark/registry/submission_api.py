"""Schemas of the JSON API of submissions."""

from datetime import datetime
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.responses import FileResponse

from dynabench.benchmark.registry import endpoint_trial, submission_sources, submissions, training_sets
from dynabench.benchmark.registry.submissions import README, SubmissionDraft, SubmissionView
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.schemas import StrictModel
from dynabench.people.accounts.auth import Member, limited, scope
from dynabench.people.accounts.tables import Person
from dynabench.rounds.owner_api import BINARY_BODY, FileName

Short = Annotated[str, Field(max_length=200)]
Price = Annotated[float | None, Field(ge=0, le=1e6, allow_inf_nan=False)]
Line = Annotated[str, Field(max_length=600)]
Names = Annotated[dict[Short, Short], Field(default_factory=dict, max_length=100)]


class SubmissionIn(StrictModel):
    """A model to be evaluated. `kind` says where it comes from, and so which other members are needed:

    `hub`: `hub` (owner/name) and, if need be, `revision`. `endpoint`: `protocol`, `url`, `model`, and where they apply
    `prompt`, `pipeline`, `token` (kept apart, sent to that host alone, never shown), its names where they differ from
    the task's (`inputs` by field, `labels` by label, `output`, `holds`, `columns`), and what it costs: `price_in` and
    `price_out` (a million tokens), `price_per_call`, and `spend_per_day`, past which no call is made. `archive` and
    `adapter`: `file`, the id of an uploaded zip file. `predictions`: `files`, the id of an uploaded file by dataset.
    `training_set`: `file`, the id of an uploaded list of rows, for tasks whose models the platform trains.

    The task's owners say with `round` that the model becomes a target once it has passed: the number of a draft, `new`
    for a new draft, `next` to preselect it in the next one. A request sent again with its `key` submits nothing more.
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
    inputs: Names
    labels: Names
    output: Short = ""
    holds: Short = ""
    columns: bool = False
    round: Annotated[str, Field(max_length=10)] = ""
    key: Annotated[str, Field(max_length=100)] = ""
    file: Short = ""
    files: Annotated[dict[Short, Short], Field(default_factory=dict, max_length=200)]


class EndpointTestIn(StrictModel):
    """A model at an address that is to be asked once; the members are those of a submission.

    Without `protocol` the server is recognised, and without `model` its only model is taken.
    """

    protocol: Short = ""
    url: Line
    model: Short = ""
    prompt: Annotated[str, Field(max_length=8000)] = ""
    pipeline: Short = ""
    token: Line = ""
    inputs: Names
    labels: Names
    output: Short = ""
    holds: Short = ""
    columns: bool = False


class EndpointTestOut(BaseModel):
    """The outcome of a test: what was recognised and guessed, the row that was `sent`, and the `answer`.

    Where `passed` is false, `reason` says why there is no answer.
    """

    protocol: str
    url: str
    model: str
    prompt: str
    pipeline: str
    inputs: dict[str, str]
    labels: dict[str, str]
    output: str
    holds: str
    columns: bool
    sent: dict[str, str]
    passed: bool
    answer: Any
    probabilities: dict[str, float] | None
    seconds: float | None
    reason: str


class SubmissionChanges(StrictModel):
    """The visibility of a submission, and whether it is a baseline; what is absent stays as it is."""

    visibility: Literal["public", "anonymous", "private"] | None = None
    baseline: bool | None = None


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
    baseline: bool
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
    fields |= {
        name: getattr(submission, name) for name in ("inside", "baseline", "created_at", "ready_at", "withdrawn_at")
    }
    fields |= {"task": submission.task_id, "by": seen.submitter, "mine": seen.mine, "name": seen.title}
    fields |= {name: getattr(submission, name) if seen.disclosure.name else "" for name in ("model", "version")}
    return fields | {"reason": submission.reason if seen.mine else ""}


def submission_out(seen: SubmissionView) -> SubmissionOut:
    """One submission; logs and reports are for those whose it is."""
    submission = seen.submission
    report, log = (submission.report, submission.log) if seen.mine else ({}, "")
    return SubmissionOut(**submission_row(seen), card=submission.card, readme=submission.readme, report=report, log=log)


router = APIRouter(prefix="/api/v1", tags=["submissions"], dependencies=[Depends(scope("annotate"))])

LAST = 2**62
Id = Annotated[int, Path(ge=1, le=LAST)]


@router.post(
    "/tasks/{task}/submissions/files",
    status_code=201,
    openapi_extra=BINARY_BODY,
    dependencies=[Depends(limited("submission-files", 200, 3600))],
)
async def send_submission_file(
    request: Request,
    db: Db,
    task: str,
    person: Member,
    name: FileName,
) -> FileOut:
    """Send a model's zip file or a file of predictions as the body; it waits for a day to be submitted."""
    await db.aread(submissions.may_submit, person, task)
    return FileOut(
        file=await submission_sources.store_upload(request.app.state.settings, person.id, name, request.stream())
    )


@router.post("/tasks/{task}/submissions/test", dependencies=[Depends(limited("endpoint-test", 60, 3600))])
async def try_endpoint(request: Request, db: Db, task: str, person: Member, body: EndpointTestIn) -> EndpointTestOut:
    """Ask the model at an address for one row of the task before you submit it; nothing is kept."""
    config, row = await db.aread(endpoint_trial.trial_row, person, task)
    settings = request.app.state.settings
    trial = await to_thread.run_sync(endpoint_trial.try_endpoint, settings, config, row, body.model_dump())
    texts = {name: str(trial.fields.get(name) or "") for name in ("protocol", "url", "model", "prompt", "pipeline")}
    mapping = {name: trial.fields[name] for name in ("inputs", "labels", "output", "holds", "columns")}
    outcome = {name: getattr(trial, name) for name in ("passed", "answer", "probabilities", "seconds", "reason")}
    return EndpointTestOut(**texts, **mapping, **outcome, sent=trial.row.inputs)


@router.post("/tasks/{task}/submissions", status_code=201)
async def submit_model(request: Request, db: Db, task: str, person: Member, body: SubmissionIn) -> SubmissionOut:
    """Enter a model for a task: it is checked, then evaluated on all of the task's datasets."""
    fields = body.model_dump()
    card = submission_sources.card_from_form({name: fields[name] for name in submission_sources.CARD_FIELDS})
    draft = SubmissionDraft(body.kind, body.name, body.visibility, body.readme, card)

    def write(session: Session) -> int:
        return submissions.submit_model(session, request.app.state.settings, person, task, draft, fields).id

    return await _submission_out(request, person, await db.awrite(write))


@router.get("/tasks/{task}/submissions", response_model=SubmissionPage)
async def list_submissions(
    db: Db,
    task: str,
    person: Member,
    after: Annotated[int, Query(ge=0, le=LAST, description="The last id of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    format: Literal["json", "csv"] = "json",
) -> Any:
    """Your submissions to a task, newest first; its owners' list has the others' that are not private.

    `format=csv` is a sheet of the same page.
    """
    views = await db.aread(submissions.list_submissions, person, task, after or LAST, limit)
    items = [SubmissionRow(**submission_row(view)) for view in views]
    if format == "csv":
        columns = list(SubmissionRow.model_fields)
        return csv_response(f"{task}-submissions.csv", columns, [list(view.model_dump().values()) for view in items])
    return SubmissionPage(items=items, next=items[-1].id if len(items) == limit else None)


@router.get("/submissions/{id}")
async def show_submission(request: Request, id: Id, person: Member) -> SubmissionOut:
    """One submission: its submitter, admins, and of public ones the task's owners."""
    return await _submission_out(request, person, id)


@router.get(
    "/submissions/{id}/rows",
    response_class=FileResponse,
    responses={200: {"description": "The file.", "content": {"application/octet-stream": {}}}},
)
async def show_training_set(request: Request, db: Db, id: Id, person: Member) -> FileResponse:
    """The file of rows that a training set was sent as, for its submitter and admins."""
    path, name = await db.aread(training_sets.sent_file, request.app.state.settings, person, id)
    return FileResponse(path, filename=name, media_type="application/octet-stream")


@router.patch("/submissions/{id}")
async def change_submission(request: Request, db: Db, id: Id, person: Member, body: SubmissionChanges) -> SubmissionOut:
    """Set who may see it, or make it a baseline."""

    def write(session: Session) -> None:
        if body.visibility is not None:
            submissions.change_visibility(session, person, id, body.visibility)
        if body.baseline is not None:
            submissions.change_baseline(session, person, id, body.baseline)

    await db.awrite(write)
    return await _submission_out(request, person, id)


@router.post("/submissions/{id}/cancel")
async def cancel_submission(request: Request, db: Db, id: Id, person: Member) -> SubmissionOut:
    """End its check."""
    await db.awrite(submissions.cancel_check, person, id)
    return await _submission_out(request, person, id)


@router.post("/submissions/{id}/retry")
async def retry_submission(request: Request, db: Db, id: Id, person: Member) -> SubmissionOut:
    """Check it once more after it failed."""
    await db.awrite(submissions.retry_check, request.app.state.settings, person, id)
    return await _submission_out(request, person, id)


@router.post("/submissions/{id}/withdraw")
async def withdraw_submission(request: Request, db: Db, id: Id, person: Member) -> SubmissionOut:
    """Take it back; the ledger keeps that it was there and what was scored."""
    await db.awrite(submissions.withdraw_submission, request.app.state.settings, person, id)
    return await _submission_out(request, person, id)


async def _submission_out(request: Request, person: Person, id: int) -> SubmissionOut:
    db: Database = request.app.state.db
    return submission_out(await db.aread(submissions.find_submission, person, id))
