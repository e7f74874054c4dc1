"""The pages of competitions: the list, a competition with its board, its report as files."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.communities.competitions import queries, report, service
from dynabench.communities.competitions.api import competition_out
from dynabench.communities.competitions.schemas import CompetitionBoardOut
from dynabench.communities.competitions.tables import CompetitionState
from dynabench.communities.teams import queries as team_queries
from dynabench.communities.teams import service as teams
from dynabench.kit import errors
from dynabench.kit.api import Db, attachment, csv_response
from dynabench.kit.forms import Text, read_number, redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)
STATES = {
    CompetitionState.UPCOMING: _("starts soon"),
    CompetitionState.RUNNING: _("running"),
    CompetitionState.CHECKING: _("being checked"),
    CompetitionState.FINISHED: _("finished"),
}


@router.get("/competitions", name="competitions")
async def list_competitions(request: Request, db: Db, _: Viewer) -> Response:
    """All competitions, newest first."""

    def read(session: Session) -> dict[str, Any]:
        rows = session.scalars(queries.competitions()).all()
        names = rounds.task_names(session, {row.task_id for row in rows})
        return {"items": [competition_out(session, row) for row in rows], "names": names}

    return render(request, "competitions/list.html", states=STATES, **await db.aread(read))


def _read_page(session: Session, viewer: Person | None, competition_id: int) -> dict[str, Any]:
    competition = service.find_competition(session, competition_id)
    entries = session.execute(queries.entries(competition.id)).all()
    entered = {team.id for entry, team in entries if entry.withdrawn_at is None}
    own = session.scalars(team_queries.teams_of(viewer.id)).all() if viewer else ()
    led = [team for team in own if viewer and teams.captain_of(session, team.id) == viewer.id]
    entry = session.scalar(queries.entry_for(competition.id, viewer.id)) if viewer else None
    mine = next((team for row, team in entries if entry is not None and row.team_id == entry.team_id), None)
    return {
        "competition": competition_out(session, competition),
        "board": _board(session, competition_id, viewer),
        "task_name": rounds.task_config(session, competition.task_id).name,
        "team": mine,
        "budget_left": competition.budget - entry.spent if entry is not None else 0,
        "may_enter": [team for team in led if team.id not in entered],
        "may_withdraw": [team for team in led if team.id in entered],
        "runs": service.runs_competition(session, viewer, competition),
        "running": competition.state is CompetitionState.RUNNING,
        "can_enter": competition.state in (CompetitionState.UPCOMING, CompetitionState.RUNNING),
        "finished": competition.state is CompetitionState.FINISHED,
        "checking": competition.state is CompetitionState.CHECKING,
    }


def _board(session: Session, competition_id: int, viewer: Person | None) -> CompetitionBoardOut:
    competition = service.find_competition(session, competition_id)
    if competition.state is CompetitionState.FINISHED:
        return CompetitionBoardOut(items=service.read_report(competition).lines)
    board = service.read_board(session, competition, viewer)
    lines = [service.line_out(line) for line in board.lines]
    return CompetitionBoardOut(items=lines, as_of=board.as_of, hidden=board.hidden)


async def competition_page(
    request: Request, viewer: Person | None, competition_id: int, status: int = 200, **values: Any
) -> Response:
    """The page of a competition, with what is wrong where a form was refused."""
    page = await request.app.state.db.aread(_read_page, viewer, competition_id)
    page |= {"states": STATES, "places": report.places, "problem": "", "pending": 0}
    return render(request, "competitions/competition.html", status=status, **(page | values))


@router.get("/competitions/{id}", name="competition")
async def read_competition(request: Request, id: RowId, viewer: Viewer) -> Response:
    """A competition: rules, dates, the board, and the viewer's team."""
    return await competition_page(request, viewer, id)


@router.post("/competitions/{id}/enter", name="enter_competition_form")
async def enter(request: Request, db: Db, id: RowId, person: Member, team: Text = "") -> Response:
    """Enter a team."""
    try:
        await db.awrite(service.enter, person, id, read_number(team))
    except errors.Conflict as problem:
        return await competition_page(request, person, id, problem.status, problem=problem.detail)
    return redirect(request, "competition", id=id)


@router.post("/competitions/{id}/withdraw", name="withdraw_team_form")
async def withdraw(request: Request, db: Db, id: RowId, person: Member, team: Text = "") -> Response:
    """Withdraw a team."""
    await db.awrite(service.withdraw, person, id, read_number(team))
    return redirect(request, "competition", id=id)


@router.post("/competitions/{id}/finish", name="finish_competition_form")
async def finish(request: Request, db: Db, id: RowId, person: Member, despite_pending: Text = "") -> Response:
    """Make the final report."""
    try:
        await db.awrite(service.finish, person, id, despite_pending == "true")
    except errors.Conflict as problem:
        values = {"problem": problem.detail, "pending": problem.extra.get("pending", 0)}
        return await competition_page(request, person, id, problem.status, **values)
    return redirect(request, "competition", id=id)


@router.get("/competitions/{id}/board.csv", name="competition_csv")
async def board_csv(db: Db, id: RowId, viewer: Viewer) -> Response:
    """The ranking as CSV, as the viewer may see it."""
    board = await db.aread(_board, id, viewer)
    return csv_response(f"competition-{id}.csv", report.HEADER, report.table_rows(board.items))


@router.get("/competitions/{id}/report.md", name="competition_report")
async def report_file(db: Db, id: RowId) -> Response:
    """The final report as Markdown."""
    final = await db.aread(lambda session: service.read_report(service.find_competition(session, id)))
    headers = attachment(f"competition-{id}.md")
    return Response(report.markdown_report(final), media_type="text/markdown; charset=utf-8", headers=headers)
