"""Snapshots and forks as pages."""

from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.leaderboards import ledger, listing, reading, reports, schemas, snapshots
from dynabench.benchmark.leaderboards.board_pages import head_values, board_values
from dynabench.benchmark.leaderboards.schemas import Slug
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.may import Action
from dynabench.web import render

router = APIRouter()
LONGEST = 8000  # characters of the weights in a form


async def _posted(request: Request) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of a form, and the weights in it, which are written as in an address."""
    form = await request.form()
    said = {name: value for name, value in form.items() if isinstance(value, str)}
    text = said.get("weights", "").removeprefix("?")
    if len(text) > LONGEST:
        raise errors.Invalid({"weights": _("This is too long.")})
    try:
        return said, dict(parse_qsl(text, max_num_fields=600))
    except ValueError:
        raise errors.Invalid({"weights": _("This is too long.")}) from None


@router.get("/tasks/{task}/snapshots", name="snapshots")
async def kept_page(
    request: Request, task: str, viewer: Viewer, after: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The snapshots and forks of a task."""

    def read(session: Session) -> dict[str, Any]:
        page = listing.snapshot_page(session, task, after, 50)
        return head_values(session, task) | {
            "page": page,
            "after": after,
            "forks": listing.list_forks(session, task).items,
        }

    return render(request, "leaderboards/kept.html", **await request.app.state.db.aread(read))


@router.post("/tasks/{task}/snapshots", name="take_snapshot")
async def take_snapshot_form(request: Request, task: str, person: Member) -> Response:
    """Freeze the board that the form says."""
    said, params = await _posted(request)
    made = await request.app.state.db.awrite(snapshots.take_snapshot, person, task, params, said.get("title", ""))
    return RedirectResponse(str(request.app.url_path_for("snapshot", slug=made.slug)), status_code=303)


@router.get("/snapshots/{slug}", name="snapshot")
async def snapshot_page(request: Request, slug: Slug, viewer: Viewer) -> Response:
    """A board as it stood, with how to cite it."""

    def read(session: Session) -> dict[str, Any]:
        found = snapshots.find_snapshot(session, slug)
        cite = snapshots.snapshot_citation(found, str(request.url_for("snapshot", slug=slug)))
        return head_values(session, found.task_id) | {"snapshot": found, "document": found.document, "cite": cite}

    return render(request, "leaderboards/snapshot.html", **await request.app.state.db.aread(read))


@router.post("/tasks/{task}/forks", name="make_fork")
async def make_fork_form(request: Request, task: str, person: Member) -> Response:
    """Keep the weights that the form says under a name."""
    said, params = await _posted(request)
    title, note = said.get("title", ""), said.get("note", "")
    made = await request.app.state.db.awrite(snapshots.make_fork, person, task, params, title, note)
    return RedirectResponse(str(request.app.url_path_for("fork", slug=made.slug)), status_code=303)


@router.get("/forks/{slug}", name="fork")
async def fork_page(request: Request, slug: Slug, viewer: Viewer) -> Response:
    """The current board under somebody's own weights."""

    def read(session: Session) -> dict[str, Any]:
        kept: schemas.ForkOut = listing.read_fork(session, slug)
        asked = reading.read_requested_board(session, viewer, kept.task, request.query_params, slug)
        values = head_values(session, kept.task)
        mine = bool(may.may(viewer, Action.CHANGE_BOARD, author=snapshots.find_fork(session, slug).person_id))
        return values | board_values(asked, values["config"].name) | {
            "fork": kept,
            "may_change": mine,
            "reported": len(reports.reported_lines(session, asked.ranking.board)),
            "tries": ledger.tries_by_submitter(session, viewer, kept.task),
            "saved": [],
        }  # fmt: skip

    return render(request, "leaderboards/board.html", **await request.app.state.db.aread(read))


@router.post("/forks/{slug}", name="change_fork")
async def change_fork_form(request: Request, slug: Slug, person: Member) -> Response:
    """Change a fork's name, note or weights."""
    said, params = await _posted(request)
    await request.app.state.db.awrite(
        snapshots.change_fork, person, slug, params if "weights" in said else None, said.get("title"), said.get("note")
    )
    return RedirectResponse(str(request.app.url_path_for("fork", slug=slug)), status_code=303)


@router.post("/forks/{slug}/delete", name="delete_fork")
async def delete_fork_form(request: Request, slug: Slug, person: Member) -> Response:
    """Delete a fork."""
    gone = await request.app.state.db.awrite(snapshots.delete_fork, person, slug)
    return RedirectResponse(str(request.app.url_path_for("snapshots", task=gone.task_id)), status_code=303)
