"""Tasks, rounds and contexts as JSON."""

import json
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.language import _
from dynabench.models import serving
from dynabench.models.client import Host
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.people.may import Action
from dynabench.rounds import (
    contexts,
    older_configs,
    owner_api,
    people_api,
    planning,
    proposal_api,
    round_models,
    schemas,
    service,
    views,
)
from dynabench.rounds.contexts import ContextRow
from dynabench.rounds.schemas import Number
from dynabench.tasks.schema import config_schema

router = APIRouter(prefix="/api/v1", tags=["rounds"], dependencies=[Depends(scope("manage"))])

TASK_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": schemas.TaskIn.model_json_schema()},
            "application/yaml": {"schema": {"type": "string"}},
        },
    }
}
YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain")


@cache
def _schema() -> bytes:
    return json.dumps(config_schema()).encode()


@router.get("/schemas/task", name="config_schema", response_class=Response)
async def read_schema() -> Response:
    """The JSON Schema (2020-12) of a task's config, with the installed field types; editors complete with it."""
    return Response(_schema(), media_type="application/schema+json", headers={"Cache-Control": "max-age=300"})


@router.get("/tasks")
async def list_tasks(
    db: Db,
    after: Annotated[str, Query(max_length=60)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> schemas.TaskPage:
    """All tasks, by id."""
    return await db.aread(views.task_page, after, limit)


@router.post("/tasks", status_code=201, openapi_extra=TASK_BODY)
async def save_task(
    request: Request, settings: AppSettings, db: Db, response: Response, person: Member
) -> schemas.SavedOut:
    """Create a task from its YAML config, or give your task a new version; as JSON or as YAML itself.

    Who creates tasks is a setting of the site: admins, or everybody. Others propose them.
    """
    free = settings.new_tasks == "free"
    await db.aread(service.require_saver, person, new_by_anyone=free)
    source = await _config(request)
    await service.parse_ahead(source)
    saved = await db.awrite(service.save_task, person, source, new_by_anyone=free)
    if not saved.changed:
        response.status_code = 200
    return schemas.SavedOut(id=saved.task_id, version=saved.version, created=saved.created, changed=saved.changed)


async def _config(request: Request) -> str:
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind in YAML:
            return schemas.TaskIn(config=body.decode()).config
        return schemas.TaskIn.model_validate_json(body).config
    except ValidationError as error:
        raise RequestValidationError(
            [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]
        ) from None
    except UnicodeDecodeError:
        raise errors.Invalid({"config": _("This is not valid UTF-8.")}) from None


@router.get("/tasks/{task}")
async def read_task(db: Db, task: str) -> schemas.TaskOut:
    """One task: its fields with their options, its instructions, and the open round."""
    return await db.aread(views.task_out, task)


@router.get("/tasks/{task}/rounds/{n}")
async def read_round(db: Db, task: str, n: Number, viewer: Viewer) -> schemas.RoundOut:
    """One round: its state and its targets. Drafts are for the task's owners."""
    return await db.aread(views.visible_round, viewer, task, n)


@router.post("/tasks/{task}/rounds", status_code=201)
async def create_round(request: Request, db: Db, task: str, body: schemas.RoundIn, person: Member) -> schemas.RoundOut:
    """Open a round against fixed targets (owners), or keep it as a draft."""
    host: Host = request.app.state.host
    # A person who may not do this learns so before the host is asked.
    config = await db.aread(service.require_config, person, Action.MANAGE_CONTEXTS, task)
    cards = await host.index()
    targets, judge = (
        round_models.resolve_targets(config, body.targets, cards),
        round_models.resolve_judge(config, cards),
    )
    arms = round_models.resolve_arms(config, [arm.model_dump(exclude_none=True) for arm in body.arms], cards)
    if not body.draft:
        await serving.require(host, round_models.models_named(targets, arms, judge))

    def write(session: Session) -> schemas.RoundOut:
        drafted = service.draft_round(session, person, task, targets, body.ensemble, arms, body.assign, judge)
        planning.change_plan(session, person, task, drafted.number, body.plan)
        if not body.draft:
            service.open_round(session, person, task, drafted.number)
        return views.round_out(session, drafted)

    return await db.awrite(write)


@router.post("/tasks/{task}/rounds/{n}/open")
async def open_round(request: Request, db: Db, task: str, n: Number, person: Member) -> schemas.RoundOut:
    """Start to collect with a draft (owners), once all hosts serve its models."""
    await serving.require(request.app.state.host, await db.aread(round_models.models_to_open, person, task, n))
    return await db.awrite(lambda session: views.round_out(session, service.open_round(session, person, task, n)))


@router.post("/tasks/{task}/rounds/{n}/close")
async def close_round(db: Db, task: str, n: Number, person: Member) -> schemas.RoundOut:
    """Stop to collect, at once (owners): examples whose models still think are refused. Twice changes nothing."""
    return await db.awrite(lambda session: views.round_out(session, service.close_round(session, person, task, n)))


@router.post("/tasks/{task}/contexts", status_code=201)
async def upload_contexts(db: Db, task: str, body: schemas.ContextsIn, person: Member) -> schemas.UploadOut:
    """Add up to 1,000 contexts (owners). Good rows are kept, bad ones named, repeated ones counted."""
    rows = [
        ContextRow(number, context.values, context.tag, language=context.language)
        for number, context in enumerate(body.contexts, start=1)
    ]

    def write(session: Session) -> contexts.UploadResult:
        config = service.require_config(session, person, Action.MANAGE_CONTEXTS, task)
        result = contexts.UploadResult()
        for batch in contexts.split_batches(rows):
            result += contexts.add_contexts(session, task, config, batch)
        service.record_act(session, person, "contexts.uploaded", task=task, created=result.created)
        return result

    result = await db.awrite(write)
    named = [schemas.RowError(row=row, message=message) for row, message in result.errors]
    return schemas.UploadOut(created=result.created, duplicates=result.duplicates, errors=named)


router.include_router(owner_api.router)
router.include_router(older_configs.api)
router.include_router(people_api.router)
router.include_router(proposal_api.router)
