"""Checking examples as pages: one form per key, plain or by htmx."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.collection import content_warning, media_forms
from dynabench.collection.announcement_api import announced
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context
from dynabench.tasks import TaskConfig
from dynabench.validation import harm_pages, places, service
from dynabench.validation.service import Ballot, Outcome
from dynabench.web import render

ANNOUNCED = [Depends(announced)]
router = APIRouter(include_in_schema=False)
router.include_router(harm_pages.pages)

Voted = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


@dataclass(frozen=True)
class Desk:
    """A validator's view: the next item, the last outcome with the context seen, and today's count.

    `collecting` says, where there are no more items, whether a round is open to write for.
    """

    item: places.Item | None
    outcome: Outcome | None
    voted_context: dict[str, Any]
    today: int
    config: TaskConfig
    collecting: bool


def _desk(session: Session, person: Person, task: str, seconds: int, voted: int | None = None) -> Desk:
    item = places.next_item(session, person, task, seconds=seconds)
    outcome = service.my_outcome(session, person, voted) if voted else None
    config = item.config if item else rounds.task_config(session, task)
    about = session.get_one(Context, outcome.example.context_id) if outcome else None
    seen = outcome.config.shown_context(about.values) if outcome and about else {}
    collecting = item is not None or session.scalar(queries.OPEN_VERSION, {"task": task}) is not None
    return Desk(item, outcome, seen, service.voted_today(session, person), config, collecting)


async def _show(
    request: Request, person: Person, task: str, *, voted: int | None = None, status: int = 200, **values: Any
) -> Response:
    """The page, or for htmx the part that changes; `problem` and `errors` say what was refused."""
    state = request.app.state
    desk = await state.db.awrite(_desk, person, task, state.settings.reservation_seconds, voted)
    known: dict[str, Any] = {"problem": "", "errors": {}, "values": {}}
    return render(
        request,
        "validation/validate.html",
        fragment="validation/_desk.html",
        status=status,
        task=task,
        config=desk.config,
        item=desk.item,
        outcome=desk.outcome,
        voted_context=desk.voted_context,
        today=desk.today,
        collecting=desk.collecting,
        **(known | values),
    )


@router.get("/tasks/{task}/validate", name="validate", dependencies=ANNOUNCED)
async def validate(request: Request, task: str, person: Member, voted: Voted = None) -> Response:
    """The next example to check; `voted` names the example whose outcome is shown beside it."""
    if warning := await content_warning.warn(request, task):
        return warning
    return await _show(request, person, task, voted=voted)


@router.post("/tasks/{task}/validate/{id}", name="send_validation")
async def send_validation(request: Request, task: str, id: RowId, person: Member) -> Response:
    """A vote or a blind answer."""
    config = await request.app.state.db.aread(_config, task)
    unstored = None
    try:
        pairs = await media_forms.pairs(request, person, task, ("validation", "answer"))
    except media_forms.Unstored as problem:
        pairs, unstored = problem.pairs, problem
    ballot = _ballot(config, pairs)
    try:
        if unstored is not None:
            raise unstored
        await request.app.state.db.awrite(service.vote, person, id, ballot)
    except Invalid as problem:
        values: dict[str, Any] = {"vote": ballot.vote or ""}
        values |= {f"answer.{name}": value for name, value in (ballot.answer or {}).items()}
        values |= {f"validation.{name}": value for name, value in ballot.values.items()}
        return await _show(request, person, task, status=422, errors=problem.fields, values=values)
    except (Conflict, Forbidden) as problem:
        return await _show(request, person, task, status=problem.status, problem=problem.detail)
    return await _after(request, person, task, id)


@router.post("/tasks/{task}/validate/{id}/skip", name="skip_validation")
async def skip_validation(request: Request, task: str, id: RowId, person: Member) -> Response:
    """Pass the example on."""
    await request.app.state.db.awrite(service.skip, person, id)
    return await _after(request, person, task, None)


@router.post("/tasks/{task}/validate/{id}/undo", name="undo_validation")
async def undo_validation(request: Request, task: str, id: RowId, person: Member) -> Response:
    """Take the last vote back; the example is shown again if its place is still free."""
    state = request.app.state
    try:
        await state.db.awrite(service.undo, person, id, seconds=state.settings.reservation_seconds)
    except Conflict as problem:
        return await _show(request, person, task, voted=id, status=problem.status, problem=problem.detail)
    return await _after(request, person, task, None)


async def _after(request: Request, person: Person, task: str, voted: int | None) -> Response:
    """The next item at once for htmx; for a plain form a redirect, so that reloading sends nothing again."""
    if request.headers.get("HX-Request") == "true":
        return await _show(request, person, task, voted=voted)
    address = request.app.url_path_for("validate", task=task)
    return RedirectResponse(f"{address}?voted={voted}" if voted else str(address), status_code=303)


def _config(session: Session, task: str) -> TaskConfig:
    return rounds.task_config(session, task)


def _ballot(config: TaskConfig, pairs: list[tuple[str, Any]]) -> Ballot:
    """The ballot that a form stands for; fields are named `answer.<field>` and `validation.<field>`."""
    vote = next((value for name, value in pairs if name == "vote"), None)
    owner = any(name == "as_owner" and value == "true" for name, value in pairs)
    if vote is None:
        return Ballot(answer=config.form("answer", pairs), as_owner=owner)
    return Ballot(vote=vote, values=config.form("validation", pairs), as_owner=owner)
