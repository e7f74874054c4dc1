"""The people of a task: their roles and what they did, and the links that bring others in."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import figures
from dynabench.collection.overview import started
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.forms import field_errors, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.roles import TaskRole
from dynabench.rounds import invitations, people, service
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator, TaskOwner
from dynabench.rounds.people_api import MAILING
from dynabench.rounds.tables import Round

router = APIRouter()

PAGE_SIZE = 25
GROUPS = ("crowd", "experts", "owners", "programs")

After = Annotated[int, Query(ge=0, le=2**53)]
Number = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Text = Annotated[str, Form(max_length=2000)]


def _round(session: Session, task: str, number: int | None) -> tuple[Round | None, list[int]]:
    rounds = started(session, task)
    match = next((round_ for round_ in rounds if round_.number == number), None)
    if number is not None and match is None:
        raise errors.NotFound(
            _("Task %(task)s has no round %(number)s that was opened.", task=repr(task), number=number)
        )
    return match or next(iter(rounds), None), [round_.number for round_ in rounds]


def _read(
    session: Session, person: Person, task: str, number: int | None, authors: str, after: int, seat: int
) -> dict[str, Any]:
    current, numbers = _round(session, task, number)
    seats = people.list_members(session, person, task, seat, PAGE_SIZE + 1)
    values: dict[str, Any] = {"seats": seats[:PAGE_SIZE], "seat": seat, "groups": [], "writers": [], "next": None}
    values |= {"next_seat": seats[PAGE_SIZE - 1].person_id if len(seats) > PAGE_SIZE else None}
    values |= {"number": current.number if current else None, "numbers": numbers, "who": authors, "after": after}
    if current is not None:
        values["groups"] = [(name, figures.figures(session, current, (), name).total) for name in GROUPS]
        values["writers"], values["next"] = figures.annotators(
            session, current, authors=authors, after=after, limit=PAGE_SIZE
        )
    invites = may.may_in(session, person, Action.INVITE_PEOPLE, task)
    values["links"] = invitations.list_invitations(session, person, task) if invites else []
    moderators = may.may_in(session, person, Action.BAN_MODERATOR, task)
    values["bannable"] = {
        seat.person_id
        for seat in seats
        if seat.person_id != person.id
        and seat.role != TaskRole.OWNER
        and (moderators or seat.role != TaskRole.MODERATOR)
    }
    values["banned"] = {member.person_id for member in seats if member.banned is not None}
    return values


async def _show(request: Request, person: Person, task: str, status: int = 200, **values: Any) -> Response:
    query = request.query_params
    filters = (values.pop("round", None), values.pop("who", "people"), values.pop("after", 0), values.pop("seat", 0))
    page_values = await request.app.state.db.aread(_read, person, task, *filters)
    defaults: dict[str, Any] = {"errors": {}, "problem": "", "typed": {}, "link": "", "done": query.get("done", "")}
    person_id = query.get("of", "")
    banned = defaults["done"] == "ban" and person_id.isdecimal() and len(person_id) < 16
    defaults["undo"] = str(request.app.url_path_for("manage_lift", task=task, id=int(person_id))) if banned else ""
    defaults["mails"] = request.app.state.settings.mails
    return await frame.console_page(
        request,
        task,
        "collection/manage/people.html",
        "people",
        status=status,
        person=person,
        **(page_values | defaults | values),
    )


@router.get("/tasks/{task}/manage/people", name="manage_people")
async def list_people(
    request: Request,
    task: str,
    person: TaskModerator,
    number: Number = None,
    who: Annotated[str, Query(max_length=20)] = "people",
    after: After = 0,
    seat: After = 0,
) -> Response:
    """Roles and bans, groups with their rates, who wrote in a round; for owners the links."""
    return await _show(request, person, task, round=number, who=who, after=after, seat=seat)


@router.get("/tasks/{task}/manage/people.csv", name="download_people")
async def download(db: Db, task: str, person: TaskModerator, number: Number = None) -> Response:
    """Everybody who wrote in a round, with counts and rates."""
    current, _ = await db.aread(_round, task, number)
    header = [
        "name",
        "group",
        "examples",
        "fooled",
        "validated",
        "resolved",
        "retracted",
        "hidden",
        "mer",
        "low",
        "high",
    ]
    name = f"{task}-people-{current.number if current else 0}.csv"
    return csv_response(name, header, _lines(db, current) if current else ())


def _lines(db: Database, round_: Round) -> Iterator[Sequence[object]]:
    for authors in GROUPS:
        after: int | None = 0
        while after is not None:
            start = after

            def read(session: Session, authors: str = authors, start: int = start) -> Any:
                return figures.annotators(session, round_, authors=authors, after=start, limit=500)

            page, after = db.read(read)
            for annotator in page:
                counts, mer = annotator.counts, annotator.rates.mer
                numbers = [
                    counts.examples,
                    counts.fooled,
                    counts.validated,
                    counts.resolved,
                    annotator.retracted,
                    annotator.hidden,
                ]
                yield [annotator.name, authors, *numbers, mer.value, mer.low, mer.high]


def _back(request: Request, task: str, done: str, person_id: int = 0) -> Response:
    return redirect(request, "manage_people", task=task, query={"done": done, "of": person_id})


@router.post("/tasks/{task}/manage/people/roles", name="manage_role")
async def change_role(
    request: Request, db: Db, task: str, owner: TaskOwner, username: Text = "", role: Text = ""
) -> Response:
    """Give a person a role, or take it away where `role` is empty."""
    try:
        await db.awrite(service.set_role, owner, task, username.strip(), role or None)
    except (errors.Invalid, errors.Conflict, errors.NotFound) as problem:
        typed = {"username": username, "role": role}
        return await _show(request, owner, task, typed=typed, **rejection(problem, "username"))
    return _back(request, task, "role")


@router.post("/tasks/{task}/manage/people/{id}/ban", name="manage_ban")
async def ban(request: Request, db: Db, task: str, id: RowId, person: TaskModerator, reason: Text = "") -> Response:
    """Ban a person, who reads the reason."""
    try:
        await db.awrite(people.ban_person, person, task, id, reason)
    except (errors.Invalid, errors.Forbidden) as problem:
        message = field_errors(problem, "reason")["reason"]
        return await _show(request, person, task, problem.status, problem=message)
    return _back(request, task, "ban", id)


@router.post("/tasks/{task}/manage/people/{id}/lift", name="manage_lift")
async def lift(request: Request, db: Db, task: str, id: RowId, person: TaskModerator) -> Response:
    """Lift a person's ban."""
    await db.awrite(people.lift_ban, person, task, id)
    return _back(request, task, "lift")


@router.post("/tasks/{task}/manage/people/invitations", name="manage_invite")
async def invite(
    request: Request,
    db: Db,
    task: str,
    owner: TaskOwner,
    role: Text = "",
    note: Text = "",
    uses: Text = "1",
    days: Text = "7",
) -> Response:
    """A new link, shown this once."""
    numbers = [int(text) if text.isdecimal() and len(text) < 6 else 0 for text in (uses.strip(), days.strip())]
    try:
        _, secret = await db.awrite(invitations.create_invitation, owner, task, role, note, *numbers)
    except errors.Invalid as problem:
        typed = {"invited": role, "note": note, "uses": uses, "days": days}
        return await _show(request, owner, task, 422, errors=problem.fields, typed=typed)
    except errors.Conflict as problem:
        return await _show(request, owner, task, problem.status, problem=problem.detail)
    return await _show(request, owner, task, 201, link=str(request.url_for("join", secret=secret)))


@router.post("/tasks/{task}/manage/people/invitations/mail", name="manage_mail", dependencies=MAILING)
async def mail(
    request: Request, task: str, owner: TaskOwner, role: Text = "", address: Text = "", days: Text = "7"
) -> Response:
    """A link that the site mails."""
    state, number = request.app.state, int(days) if days.isdecimal() and len(days) < 6 else 0
    try:
        await state.db.awrite(invitations.invite_by_mail, state.settings, owner, task, role, address, number)
    except errors.Invalid as problem:
        typed = {"mailed": role, "address": address, "days": days}
        wrong = {f"mail.{name}": text for name, text in problem.fields.items()}
        return await _show(request, owner, task, 422, errors=wrong, typed=typed)
    except errors.Conflict as problem:
        return await _show(request, owner, task, problem.status, problem=problem.detail)
    return _back(request, task, "mailed")


@router.post("/tasks/{task}/manage/people/invitations/{id}/revoke", name="manage_revoke")
async def revoke(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """End a link."""
    await db.awrite(invitations.revoke_invitation, owner, task, id)
    return _back(request, task, "revoke")
