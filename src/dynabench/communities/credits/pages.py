"""The page on which a person chooses how releases name them."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.communities.credits import service
from dynabench.communities.credits.tables import CreditMode
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.web import render

router = APIRouter(include_in_schema=False)


async def _page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    credit = await request.app.state.db.aread(service.read_credit, person.id)
    page: dict[str, Any] = {"person": person, "typed": {"mode": str(credit.mode), "name": credit.name}, "errors": {}}
    page |= {"done": request.query_params.get("done", "")}
    return render(request, "credits/page.html", status=status, **(page | values))


@router.get("/settings/credit", name="credit")
async def read_credit(request: Request, person: Member) -> Response:
    """The choice how releases name the person."""
    return await _page(request, person)


@router.post("/settings/credit", name="choose_credit_form")
async def choose_credit(request: Request, db: Db, person: Member, mode: Text = "", name: Text = "") -> Response:
    """Choose how releases name the person."""
    try:
        if mode not in list(CreditMode):
            raise errors.Invalid({"mode": _("Choose one from the list.")})
        await db.awrite(service.choose_credit, person, CreditMode(mode), name)
    except errors.Invalid as problem:
        return await _page(request, person, typed={"mode": mode, "name": name}, **rejection(problem, "mode"))
    return redirect(request, "credit", query={"done": "saved"})
