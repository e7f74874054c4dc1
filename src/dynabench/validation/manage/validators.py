"""Validators of a task: their figures in a table, and for each whether the person may vote and whether votes count."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection.overview import started
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import Text, field_errors, redirect
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.roles import TaskRole
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator
from dynabench.validation import exclusion, validators

router = APIRouter()

PAGE_SIZE = 25
COLUMNS = (
    *("id", "name", "role", "banned", "votes", "excluded", "agreeing", "low", "high", "decided"),
    *("agreeing_with_others", "pairs", "median_seconds", "timed", "flags", "last_vote"),
    *("accuracy", "accuracy_low", "accuracy_high"),
)
Sort = Annotated[Literal["votes", "name", "agreement", "others", "accuracy", "seconds", "flags", "last"], Query()]
RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Start = Annotated[int, Query(ge=0, le=10_000_000)]
Done = Annotated[Literal["ban", "lift", "exclude", "restore"] | None, Query()]


@router.get("/tasks/{task}/manage/validators", name="manage_validators")
async def list_validators(
    request: Request,
    db: Db,
    task: str,
    person: TaskModerator,
    number: RoundNumber = None,
    sort: Sort = "votes",
    start: Start = 0,
) -> Response:
    """Everybody who voted, with agreement, time and flags."""

    def read(session: Session) -> dict[str, Any]:
        rows = validators.list_validators(session, person, task, number, sort)
        return {
            "rows": rows[start : start + PAGE_SIZE],
            "total": len(rows),
            "numbers": [round_.number for round_ in started(session, task)],
            "next_start": start + PAGE_SIZE if len(rows) > start + PAGE_SIZE else None,
        }

    values = await db.aread(read) | {"number": number, "sort": sort, "start": start}
    return await frame.console_page(request, task, "validation/manage/validators.html", "validators", **values)


@router.get("/tasks/{task}/manage/validators.csv", name="download_validators")
async def download(
    db: Db, task: str, person: TaskModerator, number: RoundNumber = None, sort: Sort = "votes"
) -> Response:
    """The table as a file, all rows of it."""
    rows = await db.aread(validators.list_validators, person, task, number, sort)
    return csv_response(f"{task}-validators.csv", COLUMNS, map(_line, rows))


def _line(row: validators.ValidatorFigures) -> list[object]:
    agreement, others = row.agreement, row.others
    return [
        *(row.person_id, row.name, row.role or "", row.banned or "", row.votes, row.excluded),
        *(agreement.value, agreement.low, agreement.high, agreement.n),
        *(
            others.value,
            others.n,
            row.median_seconds,
            row.timed,
            row.flags,
            row.last_vote.isoformat(timespec="seconds"),
        ),
        *(row.accuracy.value, row.accuracy.low, row.accuracy.high),
    ]


async def _page(request: Request, person: Person, task: str, id: int, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        figures = validators.validator_figures(session, person, task, id)
        state = exclusion.read_state(session, person, task, id)
        effects = None
        if Action.EXCLUDE_VOTES in request.state.actions:
            is_excluded = state is not None and state.excluded
            effects = exclusion.preview_effects(session, person, task, id, excluded=not is_excluded)
        return {"figures": figures, "decision": state, "effects": effects}

    defaults: dict[str, Any] = {"errors": {}, "problem": "", "done": None, "reason": ""}
    page_values = defaults | await request.app.state.db.aread(read) | values
    figures = page_values["figures"]
    barred = figures.role == TaskRole.MODERATOR and Action.BAN_MODERATOR not in request.state.actions
    page_values["bannable"] = figures.role != TaskRole.OWNER and figures.person_id != person.id and not barred
    return await frame.console_page(
        request,
        task,
        "validation/manage/validator.html",
        "validators",
        status=status,
        fragment="validation/manage/_recount.html",
        **page_values,
    )


@router.get("/tasks/{task}/manage/validators/{id}", name="manage_validator")
async def show(request: Request, task: str, id: RowId, person: TaskModerator, done: Done = None) -> Response:
    """One validator: figures, and what a ban would change."""
    return await _page(request, person, task, id, done=done)


def _back(request: Request, task: str, id: int, done: str) -> Response:
    return redirect(request, "manage_validator", task=task, id=id, query={"done": done})


@router.post("/tasks/{task}/manage/validators/{id}/ban", name="ban_validator")
async def ban(
    request: Request, db: Db, task: str, id: RowId, person: TaskModerator, reason: Text = "", exclude: Text = ""
) -> Response:
    """Ban the person, and exclude the votes where `exclude` is sent."""
    try:
        await db.awrite(exclusion.ban_validator, person, task, id, reason, exclude=bool(exclude))
    except errors.Invalid as problem:
        return await _page(
            request, person, task, id, problem.status, errors=field_errors(problem, "reason"), reason=reason
        )
    return _back(request, task, id, "exclude" if exclude else "ban")


@router.post("/tasks/{task}/manage/validators/{id}/lift", name="lift_validator")
async def lift(request: Request, db: Db, task: str, id: RowId, person: TaskModerator, restore: Text = "") -> Response:
    """Lift the ban, and count the votes again where `restore` is sent."""
    await db.awrite(exclusion.lift_ban, person, task, id, restore=bool(restore))
    return _back(request, task, id, "restore" if restore else "lift")


@router.post("/tasks/{task}/manage/validators/{id}/votes", name="change_validator_votes")
async def change_votes(
    request: Request, db: Db, task: str, id: RowId, person: TaskModerator, exclude: Text = ""
) -> Response:
    """Exclude the votes of a banned person, or (`exclude` empty) count them again. Twice changes nothing."""
    try:
        await db.awrite(exclusion.exclude_votes if exclude else exclusion.restore_votes, person, task, id)
    except errors.Conflict as problem:
        return await _page(request, person, task, id, problem.status, problem=problem.detail)
    return _back(request, task, id, "exclude" if exclude else "restore")
