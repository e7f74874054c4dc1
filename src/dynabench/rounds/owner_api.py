"""The JSON API of a task's owners for rounds, contexts, config versions and the audit log."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit.db import Database
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import context_list, owner_lists, plan_schemas, schemas, service
from dynabench.rounds.context_list import Change, Sought

router = APIRouter()

After = Annotated[str, Query(max_length=18, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=100)]


async def _owned(request: Request, person: Person, task: str, read: Any, *args: Any) -> Any:
    """Return the result of `read(session, task, ...)` to an owner of the task."""
    db: Database = request.app.state.db

    def run(session: Session) -> Any:
        service.require(session, person, Action.MANAGE_TASK, task)
        return read(session, task, *args)

    return await db.aread(run)


@router.get("/tasks/{task}/rounds")
async def list_rounds(
    request: Request, task: str, viewer: Viewer, after: After = "", limit: Limit = 50
) -> schemas.RoundPage:
    """The rounds of a task, newest first; drafts are listed for its owners."""
    db: Database = request.app.state.db
    return await db.aread(owner_lists.rounds, viewer, task, after, limit)


@router.get("/tasks/{task}/contexts")
async def list_contexts(
    request: Request,
    task: str,
    person: Member,
    tag: Annotated[str | None, Query(max_length=100, description="Only contexts with this tag.")] = None,
    q: Annotated[str, Query(max_length=200, description="Only those with these words, whatever their case.")] = "",
    retired: Annotated[bool | None, Query(description="Only those that are, or are not, handed out no more.")] = None,
    after: After = "",
    limit: Limit = 50,
) -> schemas.ContextPage:
    """The contexts of a task with how often they were used, newest first (owners).

    A page of a search for words may end early, with a `next` to go on from.
    """
    found: schemas.ContextPage = await _owned(
        request, person, task, context_list.find, Sought(q, tag, retired), after, limit
    )
    return found


@router.patch("/tasks/{task}/contexts")
async def patch_contexts(
    request: Request, task: str, body: plan_schemas.ContextChangeIn, person: Member
) -> plan_schemas.ChangedOut:
    """Tag, weigh, retire or bring back up to 1,000 contexts (owners). Retired ones are handed out no more."""
    db: Database = request.app.state.db
    change = Change(body.tag, body.weight, body.retired)
    return plan_schemas.ChangedOut(changed=await db.awrite(context_list.change, person, task, body.contexts, change))


@router.delete("/tasks/{task}/contexts/{id}", status_code=204)
async def remove_context(request: Request, task: str, id: RowId, person: Member) -> Response:
    """Remove a context that nobody was given yet (owners)."""
    db: Database = request.app.state.db
    await db.awrite(owner_lists.delete_context, person, task, id)
    return Response(status_code=204)


@router.get("/tasks/{task}/versions")
async def list_versions(
    request: Request, task: str, person: Member, after: After = "", limit: Limit = 50
) -> schemas.VersionPage:
    """The versions of a task's config, newest first (owners)."""
    found: schemas.VersionPage = await _owned(request, person, task, owner_lists.versions, after, limit)
    return found


@router.get("/tasks/{task}/versions/{n}")
async def read_version(request: Request, task: str, n: schemas.VersionNumber, person: Member) -> schemas.TaskVersionOut:
    """One version of a task's config, with its YAML text (owners)."""
    found: schemas.TaskVersionOut = await _owned(request, person, task, owner_lists.version, n)
    return found


@router.get("/tasks/{task}/acts")
async def list_acts(
    request: Request,
    task: str,
    person: Member,
    kind: Annotated[str, Query(max_length=40, description="Only acts of this kind, such as round.opened.")] = "",
    after: After = "",
    limit: Limit = 50,
) -> schemas.ActPage:
    """The audit log of a task: who did what and when, newest first (owners)."""
    found: schemas.ActPage = await _owned(request, person, task, owner_lists.acts, kind, after, limit)
    return found
