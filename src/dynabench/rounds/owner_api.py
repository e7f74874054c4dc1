"""The JSON API of a task's owners for rounds, contexts, config versions and the audit log."""

import uuid
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.intake import reader
from dynabench.intake.mapping import ColumnMapping
from dynabench.kit import errors, jobs
from dynabench.kit.api import After, AppSettings, Db, Limit
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.kit.storable import printable
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import context_files, owner_lists, planning, queries, schemas, service, uploaded_files, views
from dynabench.rounds.owner_lists import ContextChange, ContextFilter
from dynabench.rounds.plan import PlannedRound
from dynabench.rounds.schemas import Number
from dynabench.rounds.tables import Round

router = APIRouter()


async def _owned(request: Request, person: Person, task: str, read: Any, *args: Any) -> Any:
    """Return the result of `read(session, task, ...)` to an owner of the task."""
    db: Database = request.app.state.db

    def run(session: Session) -> Any:
        service.require(session, person, Action.MANAGE_TASK, task)
        return read(session, task, *args)

    return await db.aread(run)


@router.get("/tasks/{task}/rounds")
async def list_rounds(db: Db, task: str, viewer: Viewer, after: After = None, limit: Limit = 50) -> schemas.RoundPage:
    """The rounds of a task, newest first; drafts are listed for its owners."""
    return await db.aread(owner_lists.list_rounds, viewer, task, after, limit)


@router.get("/tasks/{task}/contexts")
async def list_contexts(
    request: Request,
    task: str,
    person: Member,
    tag: Annotated[str | None, Query(max_length=100, description="Only contexts with this tag.")] = None,
    q: Annotated[str, Query(max_length=200, description="Only those with these words, whatever their case.")] = "",
    retired: Annotated[bool | None, Query(description="Only those that are, or are not, handed out no more.")] = None,
    after: After = None,
    limit: Limit = 50,
) -> schemas.ContextPage:
    """The contexts of a task with how often they were used, newest first (owners).

    A page of a search for words may end early, with a `next` to go on from.
    """
    page: schemas.ContextPage = await _owned(
        request, person, task, owner_lists.find_contexts, ContextFilter(q, tag, retired), after, limit
    )
    return page


@router.patch("/tasks/{task}/contexts")
async def patch_contexts(db: Db, task: str, body: schemas.ContextChangeIn, person: Member) -> schemas.ChangedOut:
    """Tag, weigh, retire or bring back up to 1,000 contexts (owners). Retired ones are handed out no more."""
    change = ContextChange(body.tag, body.language, body.weight, body.retired)
    return schemas.ChangedOut(changed=await db.awrite(owner_lists.change_contexts, person, task, body.contexts, change))


@router.delete("/tasks/{task}/contexts/{id}", status_code=204)
async def remove_context(db: Db, task: str, id: RowId, person: Member) -> Response:
    """Remove a context that nobody was given yet (owners)."""
    await db.awrite(owner_lists.delete_context, person, task, id)
    return Response(status_code=204)


@router.get("/tasks/{task}/versions")
async def list_versions(
    request: Request, task: str, person: Member, after: After = None, limit: Limit = 50
) -> schemas.VersionPage:
    """The versions of a task's config, newest first (owners)."""
    page: schemas.VersionPage = await _owned(request, person, task, owner_lists.list_versions, after, limit)
    return page


@router.get("/tasks/{task}/versions/{n}")
async def read_version(request: Request, task: str, n: schemas.VersionNumber, person: Member) -> schemas.TaskVersionOut:
    """One version of a task's config, with its YAML text (owners)."""
    version: schemas.TaskVersionOut = await _owned(request, person, task, owner_lists.read_version, n)
    return version


@router.get("/tasks/{task}/acts")
async def list_acts(
    request: Request,
    task: str,
    person: Member,
    kind: Annotated[str, Query(max_length=40, description="Only acts of this kind, such as round.opened.")] = "",
    after: After = None,
    limit: Limit = 50,
) -> schemas.ActPage:
    """The audit log of a task: who did what and when, newest first (owners)."""
    page: schemas.ActPage = await _owned(request, person, task, owner_lists.list_acts, kind, after, limit)
    return page


async def _changed(request: Request, change: Any, *how: Any) -> schemas.RoundOut:
    """The round after `change(session, ...)`."""
    db: Database = request.app.state.db
    return await db.awrite(lambda session: views.round_out(session, change(session, *how)))


@router.put("/tasks/{task}/rounds/{n}/plan")
async def plan_round(request: Request, task: str, n: Number, body: PlannedRound, person: Member) -> schemas.RoundOut:
    """Give a draft or an open round this plan in place of its own (owners)."""
    return await _changed(request, planning.change_plan, person, task, n, body)


@router.post("/tasks/{task}/rounds/{n}/plan/undo")
async def take_plan_back(request: Request, task: str, n: Number, person: Member) -> schemas.RoundOut:
    """Give a round the plan that it had before the last change (owners); done twice, the change is there again."""
    return await _changed(request, planning.undo_plan_change, person, task, n)


@router.post("/tasks/{task}/rounds/{n}/clone", status_code=201)
async def copy_round(
    request: Request, task: str, n: Number, person: Member, body: schemas.RoundCloneIn | None = None
) -> schemas.RoundOut:
    """A new draft with the targets of this round, on the task's newest config (owners); dates are not carried over."""
    return await _changed(request, planning.clone_round, person, task, n, (body or schemas.RoundCloneIn()).parts)


@router.delete("/tasks/{task}/rounds/{n}", status_code=204)
async def remove_round(db: Db, task: str, n: Number, person: Member) -> Response:
    """Throw a draft away (owners)."""
    await db.awrite(planning.discard_draft, person, task, n)
    return Response(status_code=204)


def _owned_round(session: Session, person: Member, task: str, n: int) -> Round:
    service.require(session, person, Action.PLAN_ROUND, task)
    return service.round_of(session, task, n)


def _chosen(session: Session, round_: Round) -> schemas.ChosenOut:
    return schemas.ChosenOut(contexts=list(session.scalars(queries.chosen_contexts(round_.id))))


def _named(session: Session, round_: Round) -> schemas.NamedOut:
    return schemas.NamedOut(people=[person.username for person in session.scalars(queries.named_people(round_.id))])


@router.get("/tasks/{task}/rounds/{n}/contexts")
async def list_chosen(db: Db, task: str, n: Number, person: Member) -> schemas.ChosenOut:
    """The few contexts that were chosen for a round (owners); none where it works on all of the task's."""
    return await db.aread(lambda session: _chosen(session, _owned_round(session, person, task, n)))


@router.put("/tasks/{task}/rounds/{n}/contexts")
async def put_chosen(db: Db, task: str, n: Number, body: schemas.ChosenIn, person: Member) -> schemas.ChosenOut:
    """Let a round work on these few contexts, on those of another round, or with an empty list on all (owners)."""
    if (body.contexts is None) == (body.from_round is None):
        raise errors.Invalid({"contexts": _("Give either `contexts` or `from_round`.")})

    def write(session: Session) -> schemas.ChosenOut:
        if body.from_round is not None:
            return _chosen(session, planning.copy_chosen_contexts(session, person, task, n, body.from_round))
        return _chosen(session, planning.choose_contexts(session, person, task, n, body.contexts or []))

    return await db.awrite(write)


@router.get("/tasks/{task}/rounds/{n}/people")
async def list_named(db: Db, task: str, n: Number, person: Member) -> schemas.NamedOut:
    """Return the people who may take part in a round for invited people (owners)."""
    return await db.aread(lambda session: _named(session, _owned_round(session, person, task, n)))


@router.put("/tasks/{task}/rounds/{n}/people")
async def put_named(db: Db, task: str, n: Number, body: schemas.NamedIn, person: Member) -> schemas.NamedOut:
    """Name who may take part in a round for invited people (owners), in place of those who were or who have come."""
    return await db.awrite(lambda session: _named(session, planning.name_people(session, person, task, n, body.people)))


LONGEST_NAME = 200  # of a column
FileName = Annotated[str, Query(max_length=200, description="The file's name; its ending tells what it is.")]
BINARY_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ImportOut(BaseModel):
    """An import: `queued`, `running`, `done`, `failed` or `cancelled`, with its progress, result or error."""

    id: str
    state: str
    progress: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: str | None = None


def enqueue_import(
    session: Session, person: Member, task: str, path: Path, name: str, mapping: ColumnMapping | None
) -> str:
    """Ask for the import of the stored file at `path`, which was called `name` (owners); the job's id."""
    service.require(session, person, Action.MANAGE_CONTEXTS, task)
    payload = {"task": task, "person": person.id, "file": str(path), "name": name}
    payload["mapping"] = mapping.model_dump(mode="json", exclude_defaults=True) if mapping else None
    return jobs.enqueue(session, "import_contexts", payload, person.id).id


def _read_mapping(pairs: list[str], tag: str) -> ColumnMapping | None:
    if not pairs and not tag:
        return None
    split = [pair.partition("=") for pair in pairs]
    if wrong := [
        field for field, equals, column in split if not (field and equals and 0 < len(column) <= LONGEST_NAME)
    ]:
        raise errors.Invalid({"column": _("Give FIELD=COLUMN, not %(wrong)s.", wrong=repr(printable(wrong[0])))})
    return ColumnMapping.of_context({field: column for field, _, column in split}, tag)


@router.post("/tasks/{task}/contexts/files", status_code=202, openapi_extra=BINARY_BODY)
async def upload_file(
    request: Request,
    settings: AppSettings,
    db: Db,
    task: str,
    person: Member,
    name: Annotated[str, Query(max_length=200, description="The file's name; its ending tells its kind.")],
    column: Annotated[list[str], Query(max_length=50, description="FIELD=COLUMN, for each field.")] = [],  # noqa: B006
    tag: Annotated[str, Query(max_length=200, description="The column that holds tags.")] = "",
) -> ImportOut:
    """Send a file of contexts as the body (JSONL, CSV, TSV, JSON or Parquet), or a zip of one with the pictures, sounds
    and files that its cells name (owners); it is imported in the background.

    Without any `column` the file's columns are named like the fields, and `tag` holds tags.
    """
    await db.aread(service.require, person, Action.MANAGE_CONTEXTS, task)
    try:
        ending = (
            context_files.ZIP_ENDING if name.lower().endswith(context_files.ZIP_ENDING) else reader.ending_of_file(name)
        )
    except errors.Invalid as problem:
        raise errors.Invalid({"name": problem.fields["file"]}) from None
    mapping = _read_mapping(column, tag)
    path = uploaded_files.uploads_folder(settings) / f"{uuid.uuid4()}{ending}"
    await uploaded_files.write_stream(path, request.stream())
    if path.suffix == context_files.ZIP_ENDING:
        path = await to_thread.run_sync(context_files.extract_zip_rows, db, settings, task, person.id, path)
    return ImportOut(id=await db.awrite(enqueue_import, person, task, path, name, mapping), state="queued")


@router.get("/tasks/{task}/contexts/files/{job}")
async def read_import(settings: AppSettings, db: Db, task: str, job: str, person: Member) -> ImportOut:
    """Return the progress of an import (owners)."""
    import_ = await db.aread(import_job, person, task, job)
    state = await to_thread.run_sync(jobs.progress, settings, import_)
    return ImportOut.model_validate(state)


@router.get("/tasks/{task}/contexts/files/{job}/refused")
async def list_refused(
    db: Db, task: str, job: str, person: Member, after: After = None, limit: Limit = 50
) -> schemas.RefusedPage:
    """The rows that an import left out, with the reasons, in the file's order (owners)."""

    def read(session: Session) -> schemas.RefusedPage:
        return owner_lists.list_refused_rows(session, import_job(session, person, task, job).id, after, limit)

    return await db.aread(read)


def import_job(session: Session, person: Member, task: str, job: str) -> jobs.Job:
    """An import of the task's contexts, for its owners."""
    service.require(session, person, Action.MANAGE_CONTEXTS, task)
    import_ = session.get(jobs.Job, job)
    if import_ is None or import_.kind != "import_contexts" or import_.payload.get("task") != task:
        raise errors.NotFound(_("There is no import %(job)s of this task.", job=repr(job)))
    return import_
