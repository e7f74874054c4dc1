"""A person's own work as pages: its outcomes, withdrawal, deletion of the account."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import content_warning
from dynabench.collection.service import retract
from dynabench.collection.withdrawal import written
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import login
from dynabench.people.accounts.auth import Member, limited
from dynabench.people.accounts.pages import logged_out
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.site.community import own_data, service
from dynabench.site.community.api import require_confirmation
from dynabench.web import render

router = APIRouter(include_in_schema=False)
PAGE_SIZE = 20
Text = Annotated[str, Form(max_length=1000)]


def _own(session: Session, person: Person) -> dict[str, Any]:
    rounds_written = written(session, person.id)
    names = {
        written_round.task_id: rounds.task_config(session, written_round.task_id).name
        for written_round in rounds_written
    }
    return {
        "written": rounds_written,
        "names": names,
        "free": sum(written_round.examples for written_round in rounds_written if not written_round.released),
    }


async def _withdrawal(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    defaults = await request.app.state.db.aread(_own, person) | {"errors": {}, "taken": None, "chosen": None}
    return render(request, "community/withdraw.html", status=status, person=person, **(defaults | values))


@router.get("/people/me", name="own_examples")
async def own_examples(
    request: Request,
    db: Db,
    person: Member,
    task: Annotated[str, Query(max_length=60)] = "",
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    done: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Response:
    """The person's examples for a task, by default the task of the latest example, with their outcomes."""
    values = await db.aread(_own, person)
    chosen = task or await db.aread(service.latest_task, person)
    if task and task not in values["names"]:
        raise errors.NotFound(_("You have not written anything for this task."))
    if chosen and (warning := await content_warning.warn(request, chosen)) is not None:
        return warning

    def read(session: Session) -> dict[str, Any]:
        items, more = service.own_examples_page(session, person, chosen, after, PAGE_SIZE)
        return {"totals": service.own_totals(session, person, chosen), "items": items, "next": more}

    values |= {"task": chosen, "after": after, "done": done}
    return render(request, "community/own.html", **(values | await db.aread(read)))


@router.post("/people/me/examples/{id}/retraction", name="retract_own")
async def retract_own(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Retract one example from the list of the person's own."""

    def write(session: Session) -> str:
        retract(session, person, id)
        return service.task_of(session, id)

    task = await db.awrite(write)
    return redirect(request, "own_examples", query={"task": task, "done": id})


@router.get("/me/data.json", name="download_own_data", dependencies=[Depends(limited("own data", 20, 3600))])
async def download_own_data(db: Db, person: Member) -> Response:
    """Everything that is stored about the person, as a file."""
    return own_data.download_own_data(db, person.id)


@router.get("/settings/examples", name="withdraw")
async def withdrawal(request: Request, person: Member) -> Response:
    """Counts of the person's examples, and forms for withdrawing them."""
    return await _withdrawal(request, person)


@router.post("/settings/examples", name="send_withdrawal")
async def send_withdrawal(request: Request, db: Db, person: Member, of: Text = "", confirm: Text = "") -> Response:
    """Withdraw the examples of `of`: `task`, `task/round`, or all of them where it is empty."""
    task, _slash, number = of.partition("/")
    try:
        require_confirmation(person, confirm)
        if number and not (number.isdecimal() and len(number) < 10):
            raise errors.Invalid({"of": _("Choose one from the list.")})
        chosen = (task or None, int(number) if number else None)
        withdrawn_count = await db.awrite(service.withdraw_own_examples, person, *chosen)
    except errors.Invalid as problem:
        return await _withdrawal(request, person, 422, errors=problem.fields, chosen=of)
    return await _withdrawal(request, person, taken=withdrawn_count)


async def _leave(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    defaults = await request.app.state.db.aread(_own, person) | {"errors": {}, "too": False}
    return render(request, "community/leave.html", status=status, person=person, **(defaults | values))


@router.get("/settings/delete", name="leave")
async def leaving(request: Request, person: Member) -> Response:
    """The consequences of deleting the account, and the form."""
    return await _leave(request, person)


@router.post("/settings/delete", name="delete_account")
async def leave(
    request: Request,
    settings: AppSettings,
    db: Db,
    person: Member,
    name: Text = "",
    password: Text = "",
    withdraw_examples: Text = "",
) -> Response:
    """Delete the account after the person typed its name and password."""
    too = withdraw_examples == "true"
    try:
        require_confirmation(person, name)
        if not await login.confirm_password(request, person, password):
            raise errors.Invalid({"password": login.refusal_text(person)})
    except errors.Invalid as problem:
        return await _leave(request, person, 422, errors=problem.fields, too=too)
    await db.awrite(service.delete_own_account, settings, person.id, withdraw_examples=too)
    return logged_out(request)
