"""The owner's page of control items: validators' accuracy, consequences, the items, and their files."""

from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, csv_response
from dynabench.kit.forms import Text, redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds import uploaded_files
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.stats.verdict import LABELS
from dynabench.validation.controls import consequences, figures, items

router = APIRouter()

SECTION = "controls"
PAGE_SIZE = 25
"""Items on a page; the CSV file has all."""
SHOWN_ROWS = 100
"""Validators on the page, those with the lowest share first, and decisions; the CSV file has all validators."""
SHOWN_ERRORS = 20
Done = Annotated[
    Literal["added", "retired", "restored", "ended", "paused", "none"] | None,
    Query(description="The form that was sent."),
]
Start = Annotated[int, Query(ge=0, le=10_000_000)]
Count = Annotated[int | None, Query(ge=0, le=1_000_000)]
ITEM_COLUMNS = (
    *("id", "kind", "text", "right_vote", "example", "source", "added", "retired"),
    *("answers", "right", "low", "high", *sorted(LABELS)),
)
VALIDATOR_COLUMNS = (
    "id",
    "name",
    *(
        f"{kind}_{part}"
        for kind in ("measured", "gold", "attention", "repeat")
        for part in ("right", "low", "high", "n")
    ),
)


async def _page(
    request: Request, person: Person, task: str, status: int = 200, start: int = 0, **values: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        listed = items.list_items(session, person, task)
        return {
            "items": listed[start : start + PAGE_SIZE],
            "next_start": start + PAGE_SIZE if len(listed) > start + PAGE_SIZE else None,
            "total": len(listed),
            "active": sum(not row.is_retired for row in listed),
            "validators": figures.list_figures(session, person, task)[:SHOWN_ROWS],
            "decisions": consequences.list_decisions(session, person, task, SHOWN_ROWS),
            "settings": rounds.newest_config(session, task).validation.controls,
        }

    defaults: dict[str, Any] = {"errors": {}, "result": None, "problem": "", "done": None, "count": None}
    page_values = (
        defaults | await request.app.state.db.aread(read) | {"shown_errors": SHOWN_ERRORS, "start": start} | values
    )
    return await frame.console_page(
        request, task, "validation/manage/controls.html", SECTION, status=status, **page_values
    )


@router.get("/tasks/{task}/manage/controls", name="manage_controls")
async def show(
    request: Request, task: str, owner: TaskOwner, done: Done = None, count: Count = None, start: Start = 0
) -> Response:
    """Items, answers and consequences."""
    return await _page(request, owner, task, start=start, done=done, count=count)


@router.post("/tasks/{task}/manage/controls/files", name="add_control_file")
async def add_file(request: Request, settings: AppSettings, db: Db, task: str, owner: TaskOwner) -> Response:
    """Add the rows of a file; the page names those that are left out."""
    path = None
    try:
        async with request.form() as form:
            path = await uploaded_files.store_form_file(settings, task, form)
        result = await db.awrite(items.add_file, owner, task, path, uploaded_files.original_name(path))
    except (errors.Invalid, errors.TooLarge) as problem:
        return await _page(request, owner, task, problem.status, errors=uploaded_files.upload_errors(problem))
    finally:
        if path is not None:
            await to_thread.run_sync(path.unlink, True)
    return await _page(request, owner, task, 422 if result.errors else 200, result=result)


@router.post("/tasks/{task}/manage/controls/decided", name="add_decided_controls")
async def add_decided(
    request: Request, db: Db, task: str, owner: TaskOwner, count: Text = "", example: Text = ""
) -> Response:
    """Make gold items of decided examples: of some at random, or of the one with this number."""
    try:
        if example.strip():
            await db.awrite(items.add_example, owner, task, _number(example, "example"))
            added = 1
        else:
            added = await db.awrite(items.add_decided, owner, task, _number(count, "count"))
    except errors.Invalid as problem:
        return await _page(request, owner, task, problem.status, errors=problem.fields)
    except (errors.Conflict, errors.NotFound) as problem:
        field = "example" if example.strip() else "count"
        return await _page(request, owner, task, problem.status, errors={field: problem.detail})
    return redirect(
        request, "manage_controls", task=task, query={"done": "added" if added else "none", "count": added or ""}
    )


def _number(text: str, field: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise errors.Invalid({field: _("Give a whole number.")})
    return int(text)


@router.post("/tasks/{task}/manage/controls/items/{item}", name="change_control_item")
async def change_item(request: Request, db: Db, task: str, item: RowId, owner: TaskOwner, then: Text = "") -> Response:
    """Retire an item, or (`then` = restore) show it again."""
    retired = then != "restore"
    await db.awrite(items.retire_item, owner, task, item, retired=retired)
    done = "retired" if retired else "restored"
    return redirect(request, "manage_controls", task=task, query={"done": done}, anchor="items-title")


@router.post("/tasks/{task}/manage/controls/decisions/{decision}", name="decide_control")
async def change_decision(
    request: Request, db: Db, task: str, decision: RowId, owner: TaskOwner, then: Text = ""
) -> Response:
    """End a decision, or (`then` = pause) pause the validator."""
    try:
        if then == "pause":
            await db.awrite(consequences.pause_reviewed, owner, task, decision)
        else:
            await db.awrite(consequences.end_decision, owner, task, decision)
    except errors.Conflict as problem:
        return await _page(request, owner, task, problem.status, problem=problem.detail)
    return redirect(request, "manage_controls", task=task, query={"done": "paused" if then == "pause" else "ended"})


@router.get("/tasks/{task}/manage/controls/items.csv", name="download_control_items")
async def download_items(db: Db, task: str, owner: TaskOwner) -> Response:
    """All items with the answers to them."""
    rows = await db.aread(items.list_items, owner, task)
    return csv_response(f"{task}-control-items.csv", ITEM_COLUMNS, map(_item_line, rows))


def _item_line(row: items.ItemFigures) -> list[object]:
    item, right = row.item, row.right
    retired = item.retired_at.isoformat() if item.retired_at else ""
    return [
        *(
            item.id,
            item.kind,
            row.text,
            item.right_vote,
            item.example_id or "",
            item.source,
            item.at.isoformat(),
            retired,
        ),
        *(right.n, right.value, right.low, right.high, *row.votes.values()),
    ]


@router.get("/tasks/{task}/manage/controls/validators.csv", name="download_control_figures")
async def download_figures(db: Db, task: str, owner: TaskOwner) -> Response:
    """The figures of validators."""
    rows = await db.aread(figures.list_figures, owner, task)
    lines = [
        [
            row.person_id,
            row.name,
            *(
                getattr(rate, part)
                for rate in (row.measured, row.gold, row.attention, row.repeat)
                for part in ("value", "low", "high", "n")
            ),
        ]
        for row in rows
    ]
    return csv_response(f"{task}-control-figures.csv", VALIDATOR_COLUMNS, lines)
