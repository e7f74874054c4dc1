"""The audit log of a task: actors, their acts, and the times."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit.api import After, Db, csv_response
from dynabench.kit.db import Database
from dynabench.rounds import owner_lists
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.schemas import ActOut

router = APIRouter()

PAGE_ROWS = 25

Kind = Annotated[str, Query(max_length=40)]


@router.get("/tasks/{task}/manage/log", name="manage_log")
async def log(request: Request, db: Db, task: str, owner: TaskOwner, kind: Kind = "", after: After = None) -> Response:
    """The audit log, newest first."""

    def read(session: Session) -> dict[str, Any]:
        page = owner_lists.list_acts(session, task, kind, after, PAGE_ROWS)
        kinds = owner_lists.list_act_kinds(session, task)
        return {"acts": page.items, "next": page.next, "after": after, "kind": kind, "kinds": kinds}

    values = await db.aread(read)
    return await frame.console_page(request, task, "rounds/manage/log.html", "log", **values)


def subject_text(subject: dict[str, Any]) -> str:
    """Return the subject of an act on one line: `round 3, created 120`."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in subject.items() if _plain(value))


def _plain(value: Any) -> bool:
    """Return whether a value fits on a line; an earlier plan does not and stays in the log for undoing."""
    return value is not None and not isinstance(value, dict)


@router.get("/tasks/{task}/manage/log.csv", name="download_log")
async def download(db: Db, task: str, owner: TaskOwner, kind: Kind = "") -> Response:
    """The whole log, or that of one kind."""
    header = ["at", "by", "kind", "about"]
    rows = ([a.at.isoformat(), a.by or "", a.kind, subject_text(a.subject)] for a in _all_acts(db, task, kind))
    return csv_response(f"{task}-log.csv", header, rows)


def _all_acts(db: Database, task: str, kind: str) -> Iterator[ActOut]:
    after: int | None = None
    while True:
        page = db.read(owner_lists.list_acts, task, kind, after, 500)
        yield from page.items
        if page.next is None:
            return
        after = int(page.next)
