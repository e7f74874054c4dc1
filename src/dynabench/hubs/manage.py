"""Forms of the hub: a new repository, its settings, and what is done with pull requests."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.hubs import discussions, merging, service
from dynabench.hubs.addresses import REPOSITORY_PAGE, Number, Place, RepositoryPlace, kind_of
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.schemas import HubKinds
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import DiscussionState
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.web import render

router = APIRouter()


@router.get("/hub/new", name="new_repository")
async def new_repository(request: Request, _person: Member, kind: HubKinds = "models") -> Response:
    """The form for a new repository."""
    typed = {"kind": kind, "name": "", "private": False}
    return render(request, "hubs/new.html", typed=typed, errors={})


@router.post("/hub/new", name="create_repository")
async def create_repository(
    request: Request,
    db: Db,
    settings: AppSettings,
    person: Member,
    name: Text = "",
    kind: Text = "models",
    private: Text = "",
) -> Response:
    """Make a repository in the person's namespace."""

    def write(session: Session) -> HubEntry:
        chosen = kind_of(kind)
        return service.create_repository(session, settings, person, chosen, name.strip(), private=bool(private))

    try:
        entry = await db.awrite(write)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"kind": kind, "name": name, "private": bool(private)}
        return render(request, "hubs/new.html", typed=typed, **rejection(problem, "name"))
    return redirect(request, "repository", kinds=kind, namespace=entry.namespace, name=entry.row.name)


async def _settings_page(request: Request, place: RepositoryPlace, entry: HubEntry, **values: Any) -> Response:
    page: dict[str, Any] = {"typed": {"name": entry.row.name, "confirm": ""}, "errors": {}, "status": 200} | values
    return render(
        request,
        "hubs/settings.html",
        entry=entry,
        kinds=place.kinds,
        place=place.parameters(entry),
        manages=True,
        **page,
    )


@router.get(f"{REPOSITORY_PAGE}/settings", name="repository_settings")
async def read_settings(request: Request, db: Db, place: Place, person: Member) -> Response:
    """The settings of a repository (owner)."""
    entry = await db.aread(place.find_managed, person)
    return await _settings_page(request, place, entry)


@router.post(f"{REPOSITORY_PAGE}/settings", name="change_repository")
async def change_settings(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    person: Member,
    new_name: Text = "",
    private: Text = "",
) -> Response:
    """Rename a repository, make it private or public (owner)."""
    entry = await db.aread(place.find_managed, person)

    def write(session: Session) -> HubEntry:
        fresh = place.find_managed(session, person)
        service.set_private(session, person, fresh, bool(private))
        wanted_name = new_name.strip() or fresh.row.name
        if wanted_name == fresh.row.name:
            return fresh
        return service.rename_repository(session, settings, person, fresh, wanted_name)

    try:
        changed = await db.awrite(write)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"name": new_name, "confirm": ""}
        return await _settings_page(request, place, entry, typed=typed, **rejection(problem, "name"))
    return redirect(request, "repository", **place.parameters(changed))


@router.post(f"{REPOSITORY_PAGE}/delete", name="delete_repository_form")
async def delete_repository(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    person: Member,
    confirm: Text = "",
) -> Response:
    """Delete a repository once its name was typed (owner)."""
    entry = await db.aread(place.find_managed, person)
    if confirm.strip() != entry.full_name:
        wrong = {"confirm": _("Type %(name)s to delete the repository.", name=entry.full_name)}
        return await _settings_page(request, place, entry, errors=wrong, status=422)

    def write(session: Session) -> str:
        fresh = place.find_managed(session, person)
        return service.delete_repository(session, person, fresh)

    GitStore.of(settings, await db.awrite(write)).remove()
    return redirect(request, "hub", query={"kind": place.kinds})


@router.post(f"{REPOSITORY_PAGE}/discussions", name="open_discussion_form")
async def open_discussion(
    request: Request,
    db: Db,
    place: Place,
    person: Member,
    title: Text = "",
    text: Text = "",
) -> Response:
    """Begin a discussion."""

    def write(session: Session) -> tuple[HubEntry, int]:
        entry = place.find(session, person)
        return entry, discussions.open_discussion(session, person, entry, title, text).number

    entry, number = await db.awrite(write)
    return _to_discussion(request, place, entry, number)


def _to_discussion(request: Request, place: RepositoryPlace, entry: HubEntry, number: int) -> Response:
    return redirect(request, "repository_discussion", **place.parameters(entry), number=number)


@router.post(f"{REPOSITORY_PAGE}/discussions/{{number}}/comment", name="comment_discussion_form")
async def comment(
    request: Request,
    db: Db,
    place: Place,
    number: Number,
    person: Member,
    text: Text = "",
) -> Response:
    """Add a comment to a discussion."""

    def write(session: Session) -> HubEntry:
        entry = place.find(session, person)
        discussions.comment(session, person, entry, number, text)
        return entry

    return _to_discussion(request, place, await db.awrite(write), number)


@router.post(f"{REPOSITORY_PAGE}/discussions/{{number}}/status", name="change_discussion_form")
async def change_status(
    request: Request,
    db: Db,
    place: Place,
    number: Number,
    person: Member,
    status: Text = "",
) -> Response:
    """Close a discussion, or open it again (its author, or the owner)."""

    def write(session: Session) -> HubEntry:
        entry = place.find(session, person)
        state = DiscussionState.OPEN if status == DiscussionState.OPEN.value else DiscussionState.CLOSED
        discussions.change_state(session, person, entry, number, state)
        return entry

    return _to_discussion(request, place, await db.awrite(write), number)


@router.post(f"{REPOSITORY_PAGE}/discussions/{{number}}/merge", name="merge_discussion_form")
async def merge(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    number: Number,
    person: Member,
) -> Response:
    """Bring a pull request into the branch main (owner)."""
    entry = await db.aread(place.find_managed, person)
    await asyncio.to_thread(merging.merge_pull, db, settings, person, entry, number)
    return _to_discussion(request, place, entry, number)
