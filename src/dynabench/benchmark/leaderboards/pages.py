"""Boards as pages: leaderboards, rows, the embedded form, the ledger, snapshots, forks, others' reports, and views."""

from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.leaderboards import (
    board_views,
    drawings,
    ledger,
    recipe,
    reports,
    requested_board,
    schemas,
    snapshots,
    view_pages,
)
from dynabench.benchmark.leaderboards.requested_board import RequestedBoard
from dynabench.benchmark.leaderboards.schemas import Slug
from dynabench.benchmark.ranking import OFFSETS, STEPS
from dynabench.benchmark.reading import read_board
from dynabench.collection import overview
from dynabench.insight.data_measurements import pages as measurement_pages
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.language import _
from dynabench.kit.security import POLICY, RowId
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.stats.rates import FEW_ROWS
from dynabench.web import render

boards_router = APIRouter()
ROWS_AT_ONCE = 100  # rows of a page; more are there and shown on demand
EMBED_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")


def head_values(session: Session, task: str) -> dict[str, Any]:
    """Return the values that the head of a task's pages needs."""
    return {"task": task, **overview.page_head(session, task)}


def board_values(session: Session, board: RequestedBoard, name: str) -> dict[str, Any]:
    """Return the values that the templates of a board need."""
    weights, human = board.ranking.weights, recipe.people_accuracy(session, board.ranking.board)
    columns = board.filter.columns
    places = {entry.name: place for place, entry in enumerate(board.ranking.board.metrics)}
    entrants = [row.entrant for row in board.ranking.rows]
    return {
        "board": board.ranking.board,
        "weights": weights,
        "presets": recipe.presets(board.ranking.board, weights, board.usual),
        "shares": recipe.metric_shares(board.ranking.board, weights),
        "headline": recipe.headline(board.ranking),
        "distance": recipe.distance_to_people(board.ranking, human),
        "human": human,
        "round_columns": recipe.round_columns(board.ranking.board),
        "usual": board.usual,
        "shown": board.filter,
        "rows": board.rows,
        "finding": drawings.board_finding(board.ranking, name),
        "link": board.link,
        "unmeasured": board.ranking.unmeasured,
        "without": board.without,
        "whole": board.whole,
        "places": places,
        "visible": set(columns) if columns is not None else set(places),
        "sizes": requested_board.SIZES,
        "licences": sorted({entry.licence for entry in entrants if entry.licence}),
        "languages": sorted({language for entry in entrants for language in entry.languages}),
        "ends": score_limits(board),
        "max_step": STEPS,
        "at_once": ROWS_AT_ONCE,
        "few": FEW_ROWS,
        "data": script_data(board),
    }


def score_limits(board: RequestedBoard) -> tuple[float, float]:
    """Return the ends of the axis of scores: 0 and 100, or of the published form the least and the most of the rows."""
    if board.ranking.weights.form == "guarded":
        return 0.0, 100.0
    scores = [row.score for row in board.ranking.rows]
    numbers = [x for score in scores for x in (score.value, score.low, score.high) if x is not None]
    least, most = (min(numbers), max(numbers)) if numbers else (0.0, 0.0)
    return (least, most) if least < most else (least - 1, most + 1)


def script_data(board: RequestedBoard) -> dict[str, Any]:
    """Return the data for the page's script: values (M, D, K) of all rows, in the order of the ranking.

    The axes are those of `ranking`.
    """
    standing = board.ranking.board
    usual = {"metrics": dict(board.usual.metrics), "datasets": dict(board.usual.datasets), "form": board.usual.form}
    return {
        "primary": standing.primary.name,
        "metrics": [
            {"name": entry.name, "direction": entry.direction, "offset": OFFSETS.get(entry.name, 0.0),
             "ends": entry.ends,
             "digits": 2 if entry.unit == "GiB" else 1}
            for entry in standing.metrics
        ],
        "datasets": [entry.name for entry in standing.datasets],
        "usual": usual,
        "rows": [
            [row.entrant.id, [[float(f"{x:.9g}") if x == x else None for x in line]
                              for line in standing.values[row.place]], row.entrant.baseline]
            for row in board.ranking.rows
        ],
    }  # fmt: skip


@boards_router.get("/tasks/{task}/leaderboard", name="leaderboard")
async def leaderboard_page(request: Request, db: Db, task: str, viewer: Viewer) -> Response:
    """The board, as the address weighs it."""

    def read(session: Session) -> dict[str, Any]:
        board = requested_board.read_requested_board(session, viewer, task, request.query_params)
        values = head_values(session, task)
        return values | board_values(session, board, values["config"].name) | {
            "fork": None,
            "reported": len(reports.reported_lines(session, board.ranking.board)),
            "tries": ledger.tries_by_submitter(session, viewer, task),
            "saved": snapshots.list_forks(session, task).items[:5],
        }  # fmt: skip

    return render(request, "leaderboards/board.html", **await db.aread(read))


@boards_router.get("/tasks/{task}/leaderboard/embed", name="leaderboard_embed")
async def embedded_board(request: Request, db: Db, task: str) -> Response:
    """The public board as a bare table that other sites may frame; it reads no cookie."""

    def read(session: Session) -> dict[str, Any]:
        board = requested_board.read_requested_board(session, None, task, request.query_params)
        name = rounds.task_config(session, task).name
        return {"task": task} | board_values(session, board, name)

    response = render(request, "leaderboards/embed.html", **await db.aread(read))
    request.state.new_visitor = None  # no cookie for a page in the frame of another site
    response.headers["Content-Security-Policy"] = EMBED_POLICY
    response.headers["X-Frame-Options"] = ""
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@boards_router.get("/tasks/{task}/leaderboard/rows/{id}", name="leaderboard_row")
async def row_page(request: Request, db: Db, task: str, id: RowId, viewer: Viewer) -> Response:
    """One row's scores on each dataset and slice: a page, or the part of one."""

    def read(session: Session) -> dict[str, Any]:
        ranking, ranked = requested_board.read_board_row(session, viewer, task, request.query_params, id)
        return head_values(session, task) | {
            "of": ranking,
            "row": ranked,
            "slices": requested_board.row_slices(session, ranking, ranked),
        }

    values = await db.aread(read)
    return render(request, "leaderboards/row.html", fragment="leaderboards/_row.html", **values)


@boards_router.get("/tasks/{task}/ledger", name="ledger")
async def ledger_page(request: Request, db: Db, task: str, viewer: Viewer) -> Response:
    """Every submission of the task."""

    def read(session: Session) -> dict[str, Any]:
        lines = ledger.ledger_entries(session, viewer, task)
        return head_values(session, task) | {"lines": lines, "people": ledger.tries_by_submitter(session, viewer, task)}

    return render(request, "leaderboards/ledger.html", **await db.aread(read))


LONGEST = 8000  # characters of the weights in a form


async def _posted(request: Request) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of a form, and the weights in it, which are written as in an address."""
    form = await request.form()
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    text = texts.get("weights", "").removeprefix("?")
    if len(text) > LONGEST:
        raise errors.Invalid({"weights": _("This is too long.")})
    try:
        return texts, dict(parse_qsl(text, max_num_fields=600))
    except ValueError:
        raise errors.Invalid({"weights": _("This is too long.")}) from None


@boards_router.get("/tasks/{task}/snapshots", name="snapshots")
async def kept_page(
    request: Request, db: Db, task: str, viewer: Viewer, after: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The snapshots and forks of a task."""

    def read(session: Session) -> dict[str, Any]:
        page = snapshots.snapshot_page(session, task, after, 50)
        return head_values(session, task) | {
            "page": page,
            "after": after,
            "forks": snapshots.list_forks(session, task).items,
        }

    return render(request, "leaderboards/kept.html", **await db.aread(read))


@boards_router.post("/tasks/{task}/snapshots", name="take_snapshot")
async def take_snapshot_form(request: Request, db: Db, task: str, person: Member) -> Response:
    """Freeze the board that the form says."""
    texts, params = await _posted(request)
    snapshot = await db.awrite(snapshots.take_snapshot, person, task, params, texts.get("title", ""))
    return RedirectResponse(str(request.app.url_path_for("snapshot", slug=snapshot.slug)), status_code=303)


@boards_router.get("/snapshots/{slug}", name="snapshot")
async def snapshot_page(request: Request, db: Db, slug: Slug, viewer: Viewer) -> Response:
    """A board as it stood, with how to cite it."""

    def read(session: Session) -> dict[str, Any]:
        snapshot = snapshots.find_snapshot(session, slug)
        cite = snapshots.snapshot_citation(snapshot, str(request.url_for("snapshot", slug=slug)))
        return head_values(session, snapshot.task_id) | {
            "snapshot": snapshot,
            "document": snapshot.document,
            "cite": cite,
        }

    return render(request, "leaderboards/snapshot.html", **await db.aread(read))


@boards_router.post("/tasks/{task}/forks", name="make_fork")
async def make_fork_form(request: Request, db: Db, task: str, person: Member) -> Response:
    """Keep the weights that the form says under a name."""
    texts, params = await _posted(request)
    title, note = texts.get("title", ""), texts.get("note", "")
    fork = await db.awrite(snapshots.make_fork, person, task, params, title, note)
    return RedirectResponse(str(request.app.url_path_for("fork", slug=fork.slug)), status_code=303)


@boards_router.get("/forks/{slug}", name="fork")
async def fork_page(request: Request, db: Db, slug: Slug, viewer: Viewer) -> Response:
    """The current board under a reader's own weights."""

    def read(session: Session) -> dict[str, Any]:
        fork: schemas.ForkOut = snapshots.read_fork(session, slug)
        board = requested_board.read_requested_board(session, viewer, fork.task, request.query_params, slug)
        values = head_values(session, fork.task)
        mine = bool(may.may(viewer, Action.CHANGE_BOARD, author=snapshots.find_fork(session, slug).person_id))
        return values | board_values(session, board, values["config"].name) | {
            "fork": fork,
            "may_change": mine,
            "reported": len(reports.reported_lines(session, board.ranking.board)),
            "tries": ledger.tries_by_submitter(session, viewer, fork.task),
            "saved": [],
        }  # fmt: skip

    return render(request, "leaderboards/board.html", **await db.aread(read))


@boards_router.post("/forks/{slug}", name="change_fork")
async def change_fork_form(request: Request, db: Db, slug: Slug, person: Member) -> Response:
    """Change a fork's name, note or weights."""
    texts, params = await _posted(request)
    await db.awrite(
        snapshots.change_fork,
        person,
        slug,
        params if "weights" in texts else None,
        texts.get("title"),
        texts.get("note"),
    )
    return RedirectResponse(str(request.app.url_path_for("fork", slug=slug)), status_code=303)


@boards_router.post("/forks/{slug}/delete", name="delete_fork")
async def delete_fork_form(request: Request, db: Db, slug: Slug, person: Member) -> Response:
    """Delete a fork."""
    gone = await db.awrite(snapshots.delete_fork, person, slug)
    return RedirectResponse(str(request.app.url_path_for("snapshots", task=gone.task_id)), status_code=303)


Pair = Annotated[str, Query(max_length=200, description="A dataset and a metric: `name/metric`.")]


async def _reported_page(
    request: Request, task: str, viewer: Person | None, beside: str = "", status: int = 200, **values: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        lines = reports.reported_lines(session, board)
        titles = {entry.name: entry.title for entry in board.datasets}
        measures = {entry.name: entry for entry in board.metrics}
        pairs = dict.fromkeys((entry.on, entry.measure) for entry in lines if entry.on and entry.measure)
        choices = [(f"{on}/{name}", f"{titles[on]} · {measures[name].title}") for on, name in pairs]
        on, _, name = beside.partition("/")
        return head_values(session, task) | {
            "told": lines,
            "imports": reports.reports_of_task(session, task),
            "owner": bool(may.may_in(session, viewer, Action.MANAGE_REPORTS, task)),
            "choices": choices,
            "order": reports.ordered_results(board, lines, on, name) if beside else [],
            "measure": measures.get(name),
        }

    page_values = await request.app.state.db.aread(read)
    form_values = {"beside": beside, "errors": {}, "given": {}} | values
    return render(request, "leaderboards/reported.html", status=status, **page_values, **form_values)


@boards_router.get("/tasks/{task}/reported", name="reported")
async def reported_page(request: Request, task: str, viewer: Viewer, beside: Pair = "") -> Response:
    """The list; `beside` puts the results on one dataset in one metric in order with the measured ones."""
    return await _reported_page(request, task, viewer, beside)


@boards_router.post("/tasks/{task}/reported", name="import_reported_form")
async def import_report(request: Request, db: Db, task: str, person: Member) -> Response:
    """Import a file (owners)."""
    await db.aread(rounds.require, person, Action.MANAGE_REPORTS, task)
    async with request.form(max_files=1, max_fields=10) as form:
        file, source = form.get("file"), str(form.get("source", ""))[:520]
        content = await file.read(reports.MAX_BYTES + 1) if isinstance(file, UploadFile) else b""
    try:
        if not content:
            raise errors.Invalid({"file": _("Choose a file first.")})
        await db.awrite(reports.add_report, person, task, content, source)
    except (errors.Invalid, errors.TooLarge, errors.Conflict) as problem:
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"file": problem.detail}
        return await _reported_page(
            request, task, person, status=problem.status, errors=wrong, given={"source": source}
        )
    return RedirectResponse(str(request.app.url_path_for("reported", task=task)), status_code=303)


@boards_router.post("/tasks/{task}/reported/{id}", name="change_reported_form")
async def change_report(request: Request, db: Db, task: str, id: RowId, person: Member) -> Response:
    """Take an import back (`removed` = 1), or undo that (owners)."""
    gone = (await request.form()).get("removed") == "1"
    await db.awrite(reports.remove_report, person, task, id, gone)
    return RedirectResponse(str(request.app.url_path_for("reported", task=task)), status_code=303)


router = APIRouter(include_in_schema=False)
router.include_router(boards_router, dependencies=[Depends(people.load_actions)])
router.include_router(view_pages.router)
router.include_router(view_pages.files_router)

measurement_pages.model_tables.append(board_views.models_on_round)
