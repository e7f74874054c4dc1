"""The pages of a worker: entry, consent, the work of the study, and the way back to the platform."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, QueryParams
from starlette.responses import Response

from dynabench.crowd import entry, frames, lifecycle, participation, queries, studies
from dynabench.crowd.provider import Arrival
from dynabench.crowd.tables import ParticipationState, Study
from dynabench.crowd.work import WorkProgress, read_progress, work_of
from dynabench.kit import errors, security
from dynabench.kit.api import Db
from dynabench.kit.db import Database
from dynabench.kit.forms import read_number, redirect
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer, limited
from dynabench.people.accounts.pages import logged_in
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.web import render
from dynabench.web.pages import wants_fragment

ENTRY_LIMIT = [Depends(limited("study", 300, 60))]
router = APIRouter(include_in_schema=False)
MOST_PARAMETERS = 30


def _parameters(values: QueryParams | FormData) -> dict[str, str]:
    pairs = [(name, value) for name, value in values.multi_items() if isinstance(value, str) and name != "csrf"]
    return {name[:100]: value[:1000] for name, value in pairs[:MOST_PARAMETERS]}


def _find(session: Session, slug: str) -> tuple[Study, str]:
    study = entry.find_study(session, slug)
    session.expunge(study)
    return study, rounds.newest_config(session, study.task_id).name


async def _arrive(request: Request, db: Database, slug: str, parameters: dict[str, str]) -> Response:
    """Let a worker in: read the claims, have them confirmed, and log the worker in under an account of the study."""
    study, _name = await db.aread(_find, slug)
    provider, facts = studies.provider_of(study), studies.facts_of(study)
    arrival: Arrival = provider.read_arrival(facts, parameters)
    if arrival.preview:
        raise errors.Conflict(_("This is a preview. Accept the work on the platform to begin."))
    await to_thread.run_sync(lifecycle.confirm_arrival, db, request.app.state.settings, study.id, arrival)
    user_agent = request.headers.get("user-agent", "")
    replaced = security.session_cookie(request)
    key = request.app.state.settings.key
    entered = await db.awrite(entry.enter_study, key, slug, arrival, user_agent, replaced)
    return logged_in(request, entered.cookie, str(request.app.url_path_for("study", slug=slug)) + "?entered=1")


@router.get("/studies/{slug}", name="study", dependencies=ENTRY_LIMIT)
async def show_study(request: Request, db: Db, slug: str, viewer: Viewer) -> Response:
    """Let a worker in who comes with the platform's parameters; else show the worker where they are."""
    parameters = _parameters(request.query_params)
    platforms = set(parameters) - frames.OWN_PARAMETERS
    if platforms or "ticket" in parameters:
        study, name = await db.aread(_find, slug)
        if platforms and studies.provider_of(study).frame_ancestors:
            return await frames.show_first_page(request, db, study, name, parameters)
        request.state.unframed = True  # an error is a whole page of this site
        if viewer is not None and not viewer.worker_task:
            return render(request, "crowd/switch.html", study=study, task_name=name, parameters=parameters)
        return await (_arrive if platforms else _resume)(request, db, slug, parameters)
    return await _show(request, db, slug, viewer)


async def _resume(request: Request, db: Database, slug: str, parameters: dict[str, str]) -> Response:
    """Log a worker in who opens the study from its frame on the platform, in a window of its own."""
    user_agent, replaced = request.headers.get("user-agent", ""), security.session_cookie(request)
    cookie = await db.awrite(frames.open_window, slug, parameters.get("ticket", ""), user_agent, replaced)
    return logged_in(request, cookie, str(request.app.url_path_for("study", slug=slug)) + "?entered=1")


@router.get("/studies/{slug}/frame", name="study_frame", dependencies=[Depends(limited("frame", 1200, 60))])
async def show_frame(
    request: Request,
    db: Db,
    slug: str,
    ticket: Annotated[str, Query(max_length=200)] = "",
    to: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show the frame of an accepted assignment as it is now: the ticket of its address says whose it is."""
    study, name = await db.aread(_find, slug)
    return await frames.show_later_page(request, db, study, name, ticket, to)


@router.post("/studies/{slug}/enter", name="enter_study", dependencies=ENTRY_LIMIT)
async def enter(request: Request, db: Db, slug: str) -> Response:
    """Enter a study from a browser that was logged in to an account of another kind."""
    parameters = _parameters(await request.form())
    return await (_resume if "ticket" in parameters else _arrive)(request, db, slug, parameters)


def _values(session: Session, key: bytes, person: Person | None, slug: str) -> dict[str, Any]:
    study, part = entry.own_participation(session, person, slug)
    state = ParticipationState(part.state)
    working = state is ParticipationState.WORKING and person is not None
    round_ = session.get_one(Round, study.round_id)
    text = entry.offered_consent(session, study, part)
    provider = studies.provider_of(study)
    return {
        "study": study,
        "task_name": rounds.newest_config(session, study.task_id).name,
        "round_number": round_.number,
        "state": state,
        # The platform that shows the study in a frame, to which the worker goes back.
        "platform_window": provider.title if provider.frame_ancestors else "",
        "work": work_of(study),
        "consent": {"id": text.id, "text": text.text} if text else None,
        "progress": read_progress(session, study, person) if working and person else None,
        "ended": participation.ended_part(key, study, part),
    }


async def _show(request: Request, db: Database, slug: str, viewer: Person | None, *, status: int = 200) -> Response:
    values = await db.aread(_values, request.app.state.settings.key, viewer, slug)
    page = "end" if values["ended"] else "consent" if values["state"] is ParticipationState.ARRIVED else "work"
    return render(request, f"crowd/{page}.html", status=status, done=request.query_params.get("done", ""), **values)


@router.post("/studies/{slug}/consent", name="give_consent")
async def give_consent(
    request: Request, db: Db, slug: str, viewer: Viewer, consent: Annotated[str, Form(max_length=20)] = ""
) -> Response:
    """Agree to the text and begin."""
    await db.awrite(entry.give_consent, viewer, slug, read_number(consent))
    return redirect(request, "study", slug=slug)


@router.post("/studies/{slug}/decline", name="decline_consent")
async def decline(request: Request, db: Db, slug: str, viewer: Viewer) -> Response:
    """Do not agree, and go back to the platform."""
    await db.awrite(participation.decline, viewer, slug)
    return redirect(request, "study", slug=slug)


@router.post("/studies/{slug}/finish", name="finish_study")
async def finish(
    request: Request, db: Db, slug: str, viewer: Viewer, early: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    """End one's part: with all work done, or early for the owner to review."""
    await db.awrite(participation.finish, viewer, slug, early=early == "yes")
    return redirect(request, "study", slug=slug)


@router.post("/studies/{slug}/withdraw", name="withdraw_from_study")
async def withdraw(request: Request, db: Db, slug: str, viewer: Viewer) -> Response:
    """Take back everything that one wrote in rounds that are not released."""
    await db.awrite(participation.withdraw_texts, viewer, slug)
    return redirect(request, "study", slug=slug, query={"done": "withdrawn"})


@router.get("/studies/{slug}/bar", name="study_bar")
async def show_bar(request: Request, db: Db, slug: str, viewer: Viewer) -> Response:
    """The line above the task's pages that says how far the worker has come."""
    bar = await db.aread(_bar, viewer, slug)
    return render(request, "crowd/_bar_line.html", study_bar=bar)


def _bar(session: Session, person: Person | None, slug: str) -> tuple[str, WorkProgress]:
    study, _part = entry.own_participation(session, person, slug)
    if person is None:
        raise errors.Forbidden(_("Open the study from the platform's page."))
    return study.slug, read_progress(session, study, person)


def _current_bar(session: Session, person: Person, task: str) -> tuple[str, WorkProgress] | None:
    current = session.scalar(queries.working_study(task, person.id))
    return (current.slug, read_progress(session, current, person)) if current else None


async def load_bar(request: Request) -> None:
    """Keep what a worker's bar shows on the pages of the task, as `request.state.study_bar`."""
    viewer: Person | None = getattr(request.state, "viewer", None)
    if viewer is not None and viewer.worker_task and not wants_fragment(request):
        request.state.study_bar = await request.app.state.db.aread(_current_bar, viewer, viewer.worker_task)
