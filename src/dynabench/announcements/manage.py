"""The pages on which owners announce something to those who take part."""

from datetime import date, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from dynabench.announcements import service
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.db import now
from dynabench.kit.forms import previous_page, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner

router = APIRouter()
Text = Annotated[str, Form(max_length=4000)]


async def _page(request: Request, task: str, status: int = 200, **values: Any) -> Response:
    items = await request.app.state.db.aread(service.newest_announcements, task)
    typed = {"text": "", "until": (now().date() + timedelta(days=7)).isoformat(), "tell": ""}
    page_values: dict[str, Any] = {
        "items": items,
        "now": now(),
        "moment": timedelta(seconds=1),
        "errors": {},
        "typed": typed,
        "done": "",
    }
    page_values["done"] = request.query_params.get("done", "")
    return await frame.console_page(
        request, task, "announcements/manage.html", "announcements", status=status, **(page_values | values)
    )


@router.get("/tasks/{task}/manage/announcements", name="manage_announcements")
async def announcements(request: Request, task: str, owner: TaskOwner) -> Response:
    """Those that are shown and those that were, and a form for another."""
    return await _page(request, task)


@router.post("/tasks/{task}/manage/announcements", name="announce_form")
async def announce(
    request: Request, db: Db, task: str, owner: TaskOwner, text: Text = "", until: Text = "", tell: Text = ""
) -> Response:
    """Announce something."""
    try:
        last = _day(until)
        await db.awrite(service.announce, owner, task, text, last, bool(tell))
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"text": text, "until": until, "tell": tell}
        return await _page(request, task, typed=typed, **rejection(problem, "text"))
    return _to(request, task, "made")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise errors.Invalid({"until": _("Give a day such as 2026-12-01.")}) from None


def _to(request: Request, task: str, done: str) -> Response:
    return redirect(request, "manage_announcements", task=task, query={"done": done})


@router.post("/tasks/{task}/manage/announcements/{id}/end", name="end_announcement_form")
async def end(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """Show it no more."""
    await db.awrite(service.end, owner, task, id)
    return _to(request, task, "ended")


@router.post("/tasks/{task}/announcements/{id}/seen", name="dismiss_announcement_form")
async def dismiss(request: Request, db: Db, task: str, id: RowId, person: Member) -> Response:
    """Record that the person has read an announcement, and lead back to the page they were on."""
    await db.awrite(service.dismiss, person, task, id)
    return RedirectResponse(previous_page(request), status_code=303)
