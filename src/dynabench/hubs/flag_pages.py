"""Flags of repositories on the web: the form, and the administrators' list with its decisions."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.hubs import flags, queries
from dynabench.hubs.addresses import REPOSITORY_PAGE, Place, RepositoryPlace
from dynabench.hubs.schemas import TYPES
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import RepositoryFlag, RepositoryFlagReason, RepositoryFlagState
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.people import may
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.web import render

router = APIRouter()
MOST = 500
HEADER = ("repository", "kind", "reason", "text", "at")


def _waiting(session: Session, person: Person) -> list[tuple[RepositoryFlag, HubEntry, str]]:
    """The flags that wait for a decision, each with the name of its person (administrators)."""
    may.refuse_unless(may.may(person, Action.HIDE_REPOSITORY))
    rows = session.execute(queries.flags_in(RepositoryFlagState.WAITING).limit(MOST)).all()
    return [(flag, HubEntry(row, space.name), username) for flag, row, space, username in rows]


@router.get("/hub/flags", name="repository_flags")
async def list_flags(request: Request, db: Db, person: Member) -> Response:
    """The flags that wait for an administrator."""
    rows = await db.aread(_waiting, person)
    kinds = {kind: f"{name}s" for kind, name in TYPES.items()}
    return render(request, "hubs/flags.html", flags=rows, kinds_of=kinds, full=len(rows) == MOST)


@router.get("/hub/flags.csv", name="repository_flags_csv")
async def flags_csv(db: Db, person: Member) -> Response:
    """The flags that wait for an administrator, as CSV."""
    rows = await db.aread(_waiting, person)
    lines = [
        [entry.full_name, entry.kind.value, flag.reason, flag.text, flag.created_at.isoformat(timespec="seconds")]
        for flag, entry, _name in rows
    ]
    return csv_response("flags.csv", HEADER, lines)


async def _flag_page(
    request: Request, place: RepositoryPlace, entry: HubEntry, person: Person, **values: Any
) -> Response:
    page: dict[str, Any] = {
        "place": place.parameters(entry),
        "manages": bool(may.may(person, Action.CHANGE_REPOSITORY, author=entry.row.owner_id)),
        "moderates": bool(may.may(person, Action.HIDE_REPOSITORY)),
        "reasons": [reason.value for reason in RepositoryFlagReason],
        "errors": {},
        "status": 200,
        "flagged": None,
    }
    return render(request, "hubs/flag.html", entry=entry, kinds=place.kinds, **(page | values))


@router.get(f"{REPOSITORY_PAGE}/flag", name="flag_repository_form")
async def flag_form(request: Request, db: Db, place: Place, person: Member) -> Response:
    """The form that flags a repository, and for administrators the decision."""

    def read(session: Session) -> tuple[HubEntry, RepositoryFlag | None]:
        entry = place.find(session, person)
        return entry, session.scalar(queries.flag_of(entry.row.id, person.id))

    entry, flagged = await db.aread(read)
    typed = {"reason": flagged.reason, "text": flagged.text} if flagged else {"reason": "", "text": ""}
    return await _flag_page(request, place, entry, person, typed=typed, flagged=flagged)


@router.post(f"{REPOSITORY_PAGE}/flag", name="flag_repository")
async def flag_repository(
    request: Request,
    db: Db,
    place: Place,
    person: Member,
    reason: Text = "",
    text: Text = "",
) -> Response:
    """Flag a repository."""
    entry = await db.aread(place.find, person)

    def write(session: Session) -> None:
        fresh = place.find(session, person)
        flags.flag_repository(session, person, fresh, reason, text)

    try:
        await db.awrite(write)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"reason": reason, "text": text}
        return await _flag_page(request, place, entry, person, typed=typed, **rejection(problem, "text"))
    return redirect(request, "flag_repository_form", **place.parameters(entry))


@router.post(f"{REPOSITORY_PAGE}/flags/decide", name="decide_flags")
async def decide_flags(
    request: Request,
    db: Db,
    place: Place,
    person: Member,
    hide: Text = "",
) -> Response:
    """Hide a repository or show it, and decide its flags (administrator)."""

    def write(session: Session) -> None:
        entry = place.find(session, person)
        flags.decide_flags(session, person, entry, bool(hide))

    await db.awrite(write)
    return redirect(request, "repository_flags")
