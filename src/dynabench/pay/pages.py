"""The page on which a person reads their pay, and the line above the pages of a task that pays."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.kit.api import Db
from dynabench.pay import manage, reading
from dynabench.pay.exports import money_text
from dynabench.pay.hours import UNMEASURED_MOST
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.web import render

router = APIRouter(include_in_schema=False)
router.include_router(manage.router)


@router.get("/pay", name="own_pay")
async def own_pay(request: Request, db: Db, person: Member) -> Response:
    """Show the person's earnings, time and hourly pay by round, with every line of the ledger."""
    rounds = await db.aread(reading.own_pay, person)
    values: dict[str, Any] = {
        "rounds": rounds,
        "kinds": reading.KIND_NAMES,
        "states": reading.STATE_NAMES,
        "money": money_text,
        "unmeasured_minutes": round(UNMEASURED_MOST / 60),
    }
    return render(request, "pay/own.html", **values)


async def load_pay_line(request: Request) -> None:
    """Keep what the line above a task's pages says of the viewer's pay, as `request.state.pay_line`."""
    viewer: Person | None = getattr(request.state, "viewer", None)
    task = request.path_params.get("task")
    if viewer is not None and task and request.method == "GET":
        request.state.pay_line = await request.app.state.db.aread(reading.pay_line, viewer, task)
