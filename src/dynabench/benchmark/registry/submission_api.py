"""Submissions as JSON: files sent first, then what they are; lists, one, and what may become of it."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import FileResponse

from dynabench.benchmark.registry import (
    submission_cards,
    submission_files,
    submission_schemas,
    submissions,
    training_sets,
)
from dynabench.benchmark.registry.submission_schemas import (
    FileOut,
    ShownIn,
    SubmissionIn,
    SubmissionOut,
    SubmissionPage,
)
from dynabench.benchmark.registry.submissions import SubmissionDraft
from dynabench.kit.api import csv_response
from dynabench.kit.db import Database
from dynabench.people.accounts.auth import Member, limited, scope
from dynabench.people.accounts.tables import Person
from dynabench.rounds.uploads import RAW

router = APIRouter(prefix="/api/v1", tags=["submissions"], dependencies=[Depends(scope("annotate"))])

LAST = 2**62
Id = Annotated[int, Path(ge=1, le=LAST)]


@router.post(
    "/tasks/{task}/submissions/files",
    status_code=201,
    openapi_extra=RAW,
    dependencies=[Depends(limited("submission-files", 200, 3600))],
)
async def send_submission_file(
    request: Request,
    task: str,
    person: Member,
    name: Annotated[str, Query(max_length=200, description="The file's name; its ending tells what it is.")],
) -> FileOut:
    """Send a model's zip file or a file of predictions as the body; it waits for a day to be submitted."""
    db: Database = request.app.state.db
    await db.aread(submissions.may_submit, person, task)
    return FileOut(
        file=await submission_files.store_upload(request.app.state.settings, person.id, name, request.stream())
    )


@router.post("/tasks/{task}/submissions", status_code=201)
async def submit_model(request: Request, task: str, person: Member, body: SubmissionIn) -> SubmissionOut:
    """Enter a model for a task: it is checked, then evaluated on all of the task's datasets."""
    fields = body.model_dump()
    card = submission_cards.card_from_form({name: fields[name] for name in submission_cards.CARD_FIELDS})
    draft = SubmissionDraft(body.kind, body.name, body.visibility, body.readme, card)

    def write(session: Session) -> int:
        return submissions.submit_model(session, request.app.state.settings, person, task, draft, fields).id

    db: Database = request.app.state.db
    return await _submission_out(request, person, await db.awrite(write))


@router.get("/tasks/{task}/submissions", response_model=SubmissionPage)
async def list_submissions(
    request: Request,
    task: str,
    person: Member,
    after: Annotated[int, Query(ge=0, le=LAST, description="The last id of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    format: Literal["json", "csv"] = "json",
) -> Any:
    """Your submissions to a task, newest first; its owners' list has the others' that are not private.

    `format=csv` is a sheet of the same page.
    """
    db: Database = request.app.state.db
    views = await db.aread(submissions.list_submissions, person, task, after or LAST, limit)
    items = [submission_schemas.SubmissionRow(**submission_schemas.submission_row(view)) for view in views]
    if format == "csv":
        columns = list(submission_schemas.SubmissionRow.model_fields)
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
async def show_training_set(request: Request, id: Id, person: Member) -> FileResponse:
    """The file of rows that a training set was sent as, for its submitter and admins."""
    db: Database = request.app.state.db
    path, name = await db.aread(training_sets.sent_file, request.app.state.settings, person, id)
    return FileResponse(path, filename=name, media_type="application/octet-stream")


@router.patch("/submissions/{id}")
async def change_submission(request: Request, id: Id, person: Member, body: ShownIn) -> SubmissionOut:
    """Say who may see it."""
    await request.app.state.db.awrite(submissions.change_visibility, person, id, body.visibility)
    return await _submission_out(request, person, id)


@router.post("/submissions/{id}/cancel")
async def cancel_submission(request: Request, id: Id, person: Member) -> SubmissionOut:
    """End its check."""
    await request.app.state.db.awrite(submissions.cancel_check, person, id)
    return await _submission_out(request, person, id)


@router.post("/submissions/{id}/retry")
async def retry_submission(request: Request, id: Id, person: Member) -> SubmissionOut:
    """Check it once more after it failed."""
    await request.app.state.db.awrite(submissions.retry_check, request.app.state.settings, person, id)
    return await _submission_out(request, person, id)


@router.post("/submissions/{id}/withdraw")
async def withdraw_submission(request: Request, id: Id, person: Member) -> SubmissionOut:
    """Take it back; the ledger keeps that it was there and what was scored."""
    await request.app.state.db.awrite(submissions.withdraw_submission, request.app.state.settings, person, id)
    return await _submission_out(request, person, id)


async def _submission_out(request: Request, person: Person, id: int) -> SubmissionOut:
    db: Database = request.app.state.db
    return submission_schemas.submission_out(await db.aread(submissions.find_submission, person, id))
