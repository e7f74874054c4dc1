"""Examples of others beside the form, and the owner's page about them."""

import random
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection.handout_tables import Handout
from dynabench.communities.inspiration import service
from dynabench.communities.inspiration.tables import InspirationMode
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import Text, redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member
from dynabench.rounds import service as rounds
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.tables import Round
from dynabench.rounds.views import started_rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)
MODES = [
    (InspirationMode.OFF, _("none")),
    (InspirationMode.RELEASED, _("verified examples of released rounds")),
    (InspirationMode.VERIFIED, _("all verified examples, also of the open round")),
]
HEADER = ("uid", "opened_uid", "opened_at")


@router.post("/handouts/{id}/inspiration", name="open_inspiration_form")
async def open_inspiration(request: Request, db: Db, id: RowId, person: Member, tag: Text = "") -> Response:
    """Open some verified examples of others; the record is written before they are shown."""
    view = await db.awrite(service.open_examples, person, id, tag[:100], random.Random())
    task = await db.aread(lambda session: session.get_one(Round, session.get_one(Handout, id).round_id).task_id)
    fragment = "inspiration/_panel.html"
    return render(request, "inspiration/page.html", fragment=fragment, view=view, task=task)


@router.get("/tasks/{task}/manage/inspiration", name="manage_inspiration")
async def manage(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """The owners' choice, and figures of each round by exposure."""

    def read(session: Session) -> dict[str, Any]:
        lines = [(row.number, service.read_exposure(session, row)) for row in started_rounds(session, task)]
        return {"mode": service.read_mode(session, task), "lines": [line for line in lines if line[1]]}

    values = await db.aread(read) | {"modes": MODES, "done": request.query_params.get("done", "")}
    return await frame.console_page(request, task, "inspiration/manage.html", "inspiration", **values)


@router.post("/tasks/{task}/manage/inspiration", name="choose_inspiration_form")
async def choose(request: Request, db: Db, task: str, owner: TaskOwner, mode: Text = "") -> Response:
    """Choose which examples annotators may open."""
    if mode not in list(InspirationMode):
        raise errors.Invalid({"mode": _("Choose one from the list.")})
    await db.awrite(service.choose_mode, owner, task, InspirationMode(mode))
    return redirect(request, "manage_inspiration", task=task, query={"done": "saved"})


@router.get("/tasks/{task}/manage/rounds/{n}/inspiration.csv", name="inspiration_csv")
async def inspiration_csv(db: Db, task: str, n: int, owner: TaskOwner) -> Response:
    """The examples of a round that were written after others, with those that were opened."""
    rows = await db.aread(lambda session: service.exposure_rows(session, rounds.round_of(session, task, n)))
    return csv_response(f"{task}-round-{n}-inspiration.csv", HEADER, rows)
