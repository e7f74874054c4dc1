"""Checking examples as pages: one form per key, plain or by htmx."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.collection import boards, content_warning, forms, media_uploads, overview, search
from dynabench.kit import errors
from dynabench.kit.api import csv_response
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.kit.forms import read_moment
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people, queries, views
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RoundState
from dynabench.tasks import TaskConfig
from dynabench.validation import harms, places, service, undoing
from dynabench.validation.controls.consequences import CheckingPaused
from dynabench.validation.harms import HarmfulOut, HarmOut, HarmsOut
from dynabench.validation.service import Ballot, Outcome
from dynabench.web import render

router = APIRouter(include_in_schema=False)

Voted = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


@dataclass(frozen=True)
class Desk:
    """A validator's view: the next item, the last outcome with the context seen, and today's count.

    `collecting` says, where there are no more items, whether a round is open to write for. `paused` is the reason of a
    pause, "" without one.
    """

    item: places.CheckItem | None
    outcome: Outcome | None
    voted_context: dict[str, Any]
    today: int
    config: TaskConfig
    collecting: bool
    checks: int
    paused: str


def _desk(session: Session, person: Person, task: str, seconds: int, voted: int | None = None) -> Desk:
    paused, item = "", None
    try:
        item = places.next_item(session, person, task, seconds=seconds)
    except CheckingPaused as problem:
        paused = problem.detail
    outcome = service.my_outcome(session, person, voted) if voted else None
    config = item.config if item else rounds.task_config(session, task)
    seen = outcome.config.shown_context(outcome.content.context) if outcome else {}
    collecting = item is not None or session.scalar(queries.OPEN_VERSION, {"task": task}) is not None
    checks = places.count_checks(session, person, task)
    return Desk(item, outcome, seen, service.voted_today(session, person), config, collecting, checks, paused)


async def _show(
    request: Request, person: Person, task: str, *, voted: int | None = None, status: int = 200, **values: Any
) -> Response:
    state = request.app.state
    desk = await state.db.awrite(_desk, person, task, state.settings.reservation_seconds, voted)
    defaults: dict[str, Any] = {"problem": "", "errors": {}, "values": {}}
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
        checks=desk.checks,
        paused=desk.paused,
        **(defaults | values),
    )


@router.get("/check", name="check")
async def check(request: Request) -> Response:
    """Redirect to the task in which most examples wait for votes, to the list of tasks where none does."""
    task = await request.app.state.db.aread(_longest_queue)
    return RedirectResponse(f"/tasks/{task}/validate" if task else "/tasks", status_code=303)


def _longest_queue(session: Session) -> str:
    """The task whose open round has the most examples to check; "" where all are checked."""
    open_rounds = [round_ for round_ in session.scalars(queries.all_started()) if round_.state == RoundState.OPEN]
    waiting = {round_.task_id: session.scalar(boards.waiting(round_.id)) or 0 for round_ in open_rounds}
    longest = max(waiting, key=lambda task: waiting[task], default="")
    return longest if waiting.get(longest) else ""


@router.get("/tasks/{task}/validate", name="validate", dependencies=[Depends(people.load_actions)])
async def validate(request: Request, task: str, person: Member, voted: Voted = None) -> Response:
    """The next example to check; `voted` names the example whose outcome is shown beside it."""
    if warning := await content_warning.warn(request, task):
        return warning
    return await _show(request, person, task, voted=voted)


@router.post("/tasks/{task}/validate/{id}", name="send_validation")
async def send_validation(request: Request, task: str, id: RowId, person: Member) -> Response:
    """A vote or a blind answer."""
    config = await request.app.state.db.aread(rounds.task_config, task)
    unstored = None
    try:
        pairs = await media_uploads.pairs(request, person, task, ("validation", "answer"))
    except media_uploads.Unstored as problem:
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
        await state.db.awrite(undoing.undo, person, id, seconds=state.settings.reservation_seconds)
    except Conflict as problem:
        return await _show(request, person, task, voted=id, status=problem.status, problem=problem.detail)
    return await _after(request, person, task, None)


async def _after(request: Request, person: Person, task: str, voted: int | None) -> Response:
    """The next item at once for htmx; for a plain form a redirect, so that reloading sends nothing again."""
    if request.headers.get("HX-Request") == "true":
        return await _show(request, person, task, voted=voted)
    address = request.app.url_path_for("validate", task=task)
    return RedirectResponse(f"{address}?voted={voted}" if voted else str(address), status_code=303)


def _ballot(config: TaskConfig, pairs: list[tuple[str, Any]]) -> Ballot:
    vote = next((value for name, value in pairs if name == "vote"), None)
    owner = any(name == "as_owner" and value == "true" for name, value in pairs)
    active = forms.read_seconds(next((value for name, value in pairs if name == "active"), ""))
    expires = read_moment(next((value for name, value in pairs if name == "expires_at"), ""))
    ballot = Ballot(as_owner=owner, active_seconds=active, expires_at=expires)
    if vote is None:
        return replace(ballot, answer=config.form("answer", pairs))
    return replace(ballot, vote=vote, values=config.form("validation", pairs))


api = APIRouter()

RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Text = Annotated[str, Query(max_length=200)]
MOST_BEHIND = 50
HEADER = ("model", "version", "by", "value", "label", "count", "attempts", "share", "low", "high")


@api.get("/tasks/{task}/harms")
async def read_harms(request: Request, task: str, viewer: Viewer, number: RoundNumber = None) -> HarmsOut:
    """Return the harms that people made a task's models do.

    Shares of attempts, by category and severity, with intervals.
    """
    return await _read_board(request, task, number)


@router.get("/tasks/{task}/harms", name="harms", dependencies=[Depends(people.load_actions)])
async def show(
    request: Request,
    task: str,
    viewer: Viewer,
    number: RoundNumber = None,
    model: Text = "",
    version: Text = "",
    category: Text = "",
    severity: Text = "",
) -> Response:
    """The board; with a model, those of its harmful examples that are of a category or severity."""
    if warning := await content_warning.warn(request, task):
        return warning
    selection = {"model": model, "version": version, "category": category, "severity": severity}

    def read(session: Session) -> dict[str, Any]:
        harm_counts = harms.count_harms(session, task, number)
        started = overview.started(session, task)
        current = views.current_round(started)
        return {
            "config": harm_counts.config,
            "round": views.round_out(session, current) if current else None,
            "numbers": [started_round.number for started_round in started],
            "told": harms.harms_out(harm_counts),
            "behind": _behind(session, viewer, task, harm_counts, selection) if model else None,
        }

    values = await request.app.state.db.aread(read)
    return render(request, "validation/harms.html", task=task, number=number, asked=selection, **values)


@router.get("/tasks/{task}/harms.csv", name="harms_csv", dependencies=[Depends(people.load_actions)])
async def download(request: Request, task: str, viewer: Viewer, number: RoundNumber = None) -> Response:
    """The board as a table: for each model one line, and one for each category and severity."""
    board = await _read_board(request, task, number)
    return csv_response(f"{task}-harms.csv", HEADER, [line for model in board.models for line in _harm_lines(model)])


def _harm_lines(model: HarmfulOut) -> Iterator[list[object]]:
    yield [model.model, model.version, "all", *_cells(model.harmful, model.attempts)]
    for by, lines in (("category", model.categories), ("severity", model.severities)):
        for line in lines:
            yield [model.model, model.version, by, *_cells(line, model.attempts)]


def _cells(line: HarmOut, attempts: int) -> list[object]:
    rate = line.rate
    return [line.value, line.label, line.count, attempts, rate.value, rate.low, rate.high]


async def _read_board(request: Request, task: str, number: int | None) -> HarmsOut:
    return harms.harms_out(await request.app.state.db.aread(harms.count_harms, task, number))


def _behind(
    session: Session, viewer: Person | None, task: str, harm_counts: harms.HarmCounts, selection: dict[str, str]
) -> list[search.FoundExample]:
    may.refuse_unless(may.may_in(session, viewer, Action.READ_FIGURES, task))
    categories, severities = harms.lines(harm_counts.config)
    selected_kinds = {}
    for name, kinds in (("category", categories), ("severity", severities)):
        if selection[name]:
            kind = next((option for option in kinds if option.value == selection[name]), None)
            if kind is None:
                raise errors.NotFound(_("There is no such option."))
            selected_kinds[name] = kind
    counted = harm_counts.models.get((selection["model"], selection["version"]))
    some = harms.chosen(counted.harms, **selected_kinds) if counted else []
    return search.public(session, [harm.example for harm in some[:MOST_BEHIND]])
