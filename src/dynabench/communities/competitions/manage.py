"""The owner's page of competitions."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.communities.competitions import queries, service
from dynabench.communities.competitions.api import competition_out
from dynabench.communities.competitions.pages import STATES
from dynabench.communities.competitions.schemas import CompetitionIn
from dynabench.communities.competitions.tables import FreezeMode
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.db import now
from dynabench.kit.errors import validation_message
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner

router = APIRouter(include_in_schema=False)
FREEZES = [
    (FreezeMode.LIVE, _("live to the end")),
    (FreezeMode.FROZEN, _("frozen")),
    (FreezeMode.HIDDEN, _("hidden")),
]


def _moment(text: str, field: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise errors.Invalid({field: _("Give a moment such as 2026-12-01 09:00.")}) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def _page(request: Request, task: str, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> list[Any]:
        return [competition_out(session, row) for row in session.scalars(queries.competitions(task))]

    start = now().replace(minute=0, second=0, microsecond=0) + timedelta(days=1)
    typed = {
        "name": "",
        "round": "",
        "rules": "",
        "budget": "100",
        "least_examples": "",
        "most_members": "10",
        "starts_at": f"{start:%Y-%m-%dT%H:%M}",
        "ends_at": f"{start + timedelta(days=14):%Y-%m-%dT%H:%M}",
        "freeze": str(FreezeMode.LIVE),
        "freeze_at": "",
    }
    page: dict[str, Any] = {"items": await request.app.state.db.aread(read), "typed": typed, "errors": {}}
    page |= {"states": STATES, "freezes": FREEZES}
    template = "competitions/manage.html"
    return await frame.console_page(request, task, template, "competitions", status=status, **(page | values))


@router.get("/tasks/{task}/manage/competitions", name="manage_competitions")
async def competitions(request: Request, task: str, owner: TaskOwner) -> Response:
    """The competitions of a task, and the form for a new one."""
    return await _page(request, task)


@router.post("/tasks/{task}/manage/competitions", name="create_competition_form")
async def create_competition(
    request: Request,
    db: Db,
    task: str,
    owner: TaskOwner,
    name: Text = "",
    round: Text = "",
    rules: Text = "",
    budget: Text = "",
    least_examples: Text = "",
    most_members: Text = "",
    starts_at: Text = "",
    ends_at: Text = "",
    freeze: Text = "",
    freeze_at: Text = "",
) -> Response:
    """Make a competition."""
    typed = {"name": name, "round": round, "rules": rules, "budget": budget, "least_examples": least_examples}
    typed |= {"most_members": most_members, "starts_at": starts_at, "ends_at": ends_at}
    typed |= {"freeze": freeze, "freeze_at": freeze_at}
    try:
        facts: dict[str, Any] = {name: value.strip() for name, value in typed.items() if value.strip()}
        moments = {field: _moment(typed[field], field) for field in ("starts_at", "ends_at", "freeze_at")}
        try:
            body = CompetitionIn.model_validate({"name": "", **facts, **moments})
        except ValidationError as error:
            fields = {str(problem["loc"][0]): validation_message(problem) for problem in error.errors()}
            raise errors.Invalid(fields) from None
        competition = await db.awrite(service.create_competition, owner, task, body)
    except (errors.Invalid, errors.Conflict) as problem:
        return await _page(request, task, typed=typed, **rejection(problem, "name"))
    return redirect(request, "competition", id=competition.id)


@router.post("/competitions/{id}/delete", name="delete_competition_form")
async def delete_competition(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Delete a competition in which nothing was written."""

    def write(session: Session) -> str:
        task = service.find_competition(session, id).task_id
        service.delete_competition(session, person, id)
        return task

    return redirect(request, "manage_competitions", task=await db.awrite(write))
