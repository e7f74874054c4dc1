"""A task's leaderboard as a page, one row of it, the form that others embed, and the ledger."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark import weights
from dynabench.benchmark.leaderboards import filters, ledger, listing, pictures, reading, reports
from dynabench.benchmark.leaderboards.reading import RequestedBoard
from dynabench.benchmark.ranking import OFFSETS
from dynabench.collection import overview
from dynabench.kit.security import POLICY, RowId
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import service as rounds
from dynabench.rounds import views
from dynabench.rounds.tables import RoundState
from dynabench.stats.rates import FEW_ROWS
from dynabench.web import render

router = APIRouter()
ROWS_AT_ONCE = 100  # rows of a page; more are there and shown on demand
EMBED_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")


def head_values(session: Session, task: str) -> dict[str, Any]:
    """Return the values that the head of a task's pages needs."""
    started = overview.started(session, task)
    current = next((each for each in started if each.state == RoundState.OPEN), started[0] if started else None)
    shown = views.round_out(session, current) if current else None
    return {"task": task, "config": rounds.task_config(session, task), "round": shown}


def board_values(asked: RequestedBoard, name: str) -> dict[str, Any]:
    """Return the values that the templates of a board need."""
    columns = asked.shown.columns
    places = {each.name: place for place, each in enumerate(asked.ranking.board.metrics)}
    known = [row.entrant for row in asked.ranking.rows]
    return {
        "board": asked.ranking.board,
        "weights": asked.ranking.weights,
        "usual": asked.usual,
        "shown": asked.shown,
        "rows": asked.rows,
        "finding": pictures.board_finding(asked.ranking, name),
        "link": asked.link,
        "unmeasured": asked.ranking.unmeasured,
        "without": asked.without,
        "whole": asked.whole,
        "places": places,
        "visible": set(columns) if columns is not None else set(places),
        "sizes": filters.SIZES,
        "licences": sorted({each.licence for each in known if each.licence}),
        "languages": sorted({language for each in known for language in each.languages}),
        "ends": score_limits(asked),
        "steps": weights.STEPS,
        "at_once": ROWS_AT_ONCE,
        "few": FEW_ROWS,
        "data": script_data(asked),
    }


def score_limits(asked: RequestedBoard) -> tuple[float, float]:
    """The least and the most of what the rows' scores and their limits are: where whiskers end."""
    scores = [row.score for row in asked.ranking.rows]
    known = [x for each in scores for x in (each.value, each.low, each.high) if x is not None]
    least, most = (min(known), max(known)) if known else (0.0, 0.0)
    return (least, most) if least < most else (least - 1, most + 1)


def script_data(asked: RequestedBoard) -> dict[str, Any]:
    """Return the data for the page's script: values (M, D, K) of all rows, in the order of the ranking.

    The axes are those of `ranking`.
    """
    of = asked.ranking.board
    usual = {"metrics": dict(asked.usual.metrics), "datasets": dict(asked.usual.datasets), "form": asked.usual.form}
    return {
        "primary": of.primary.name,
        "metrics": [
            {"name": each.name, "direction": each.direction, "offset": OFFSETS.get(each.name, 0.0),
             "ends": each.ends,
             "digits": 2 if each.unit == "GiB" else 1}
            for each in of.metrics
        ],
        "datasets": [each.name for each in of.datasets],
        "usual": usual,
        "rows": [
            [row.entrant.id, [[float(f"{x:.9g}") if x == x else None for x in line] for line in of.values[row.place]]]
            for row in asked.ranking.rows
        ],
    }  # fmt: skip


@router.get("/tasks/{task}/leaderboard", name="leaderboard")
async def leaderboard_page(request: Request, task: str, viewer: Viewer) -> Response:
    """The board, as the address weighs it."""

    def read(session: Session) -> dict[str, Any]:
        asked = reading.read_requested_board(session, viewer, task, request.query_params)
        values = head_values(session, task)
        return values | board_values(asked, values["config"].name) | {
            "fork": None,
            "reported": len(reports.reported_lines(session, asked.ranking.board)),
            "tries": ledger.tries_by_submitter(session, viewer, task),
            "saved": listing.list_forks(session, task).items[:5],
        }  # fmt: skip

    return render(request, "leaderboards/board.html", **await request.app.state.db.aread(read))


@router.get("/tasks/{task}/leaderboard/embed", name="leaderboard_embed")
async def embedded_board(request: Request, task: str) -> Response:
    """The public board as a bare table that other sites may frame; it reads no cookie."""

    def read(session: Session) -> dict[str, Any]:
        asked = reading.read_requested_board(session, None, task, request.query_params)
        name = rounds.task_config(session, task).name
        return {"task": task} | board_values(asked, name)

    response = render(request, "leaderboards/embed.html", **await request.app.state.db.aread(read))
    request.state.new_visitor = None  # no cookie for a page in somebody else's frame
    response.headers["Content-Security-Policy"] = EMBED_POLICY
    response.headers["X-Frame-Options"] = ""
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@router.get("/tasks/{task}/leaderboard/rows/{id}", name="leaderboard_row")
async def row_page(request: Request, task: str, id: RowId, viewer: Viewer) -> Response:
    """One row's scores on each dataset and slice: a page, or the part of one."""

    def read(session: Session) -> dict[str, Any]:
        of, found = reading.read_board_row(session, viewer, task, request.query_params, id)
        return head_values(session, task) | {"of": of, "row": found, "slices": reading.row_slices(session, of, found)}

    values = await request.app.state.db.aread(read)
    return render(request, "leaderboards/row.html", fragment="leaderboards/_row.html", **values)


@router.get("/tasks/{task}/ledger", name="ledger")
async def ledger_page(request: Request, task: str, viewer: Viewer) -> Response:
    """Every submission of the task."""

    def read(session: Session) -> dict[str, Any]:
        lines = ledger.ledger_entries(session, viewer, task)
        return head_values(session, task) | {"lines": lines, "people": ledger.tries_by_submitter(session, viewer, task)}

    return render(request, "leaderboards/ledger.html", **await request.app.state.db.aread(read))
