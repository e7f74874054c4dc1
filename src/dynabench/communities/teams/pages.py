"""The board of teams, the page of a team, joining by link."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.communities.teams import board, queries, service
from dynabench.communities.teams.api import TaskId
from dynabench.communities.teams.board import LEAST_EXAMPLES
from dynabench.communities.teams.schemas import TeamChangeIn, TeamIn
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response, page_address
from dynabench.kit.forms import Text, read_number, redirect, rejection
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.views import list_task_names
from dynabench.web import render

router = APIRouter(include_in_schema=False)
MEMBER_HEADER = ("member", "captain", "examples", "fooled", "verified")


async def _board_page(request: Request, viewer: Person | None, task: str, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        tasks = list_task_names(session)
        return {
            "lines": board.rank_teams(session, task),
            "own": session.scalars(queries.teams_of(viewer.id)).all() if viewer else (),
            "tasks": tasks,
            "names": dict(tasks),
        }

    page = await request.app.state.db.aread(read)
    page |= {"task": task, "least": LEAST_EXAMPLES, "typed": {"name": "", "task": task, "about": ""}, "errors": {}}
    return render(request, "teams/board.html", status=status, **(page | values))


@router.get("/teams", name="teams")
async def list_teams(request: Request, viewer: Viewer, task: TaskId = "") -> Response:
    """The board of teams, the viewer's own teams, and the form for a new one."""
    return await _board_page(request, viewer, task)


@router.get("/teams.csv", name="teams_csv")
async def teams_csv(db: Db, task: TaskId = "") -> Response:
    """The board of teams as CSV."""
    rows = await db.aread(lambda session: board.table_rows(board.rank_teams(session, task)))
    return csv_response("teams.csv", board.HEADER, rows)


@router.post("/teams", name="create_team_form")
async def create_team(
    request: Request, db: Db, person: Member, name: Text = "", task: Text = "", about: Text = ""
) -> Response:
    """Make a team."""
    try:
        body = TeamIn(name=name[:200], task=task[:60], about=about[:2000])
        team = await db.awrite(service.create_team, person, body)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"name": name, "task": task, "about": about}
        return await _board_page(request, person, "", typed=typed, **rejection(problem, "name"))
    return redirect(request, "team", id=team.id)


async def _team_page(
    request: Request, viewer: Person | None, team_id: int, status: int = 200, **values: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        team = service.find_team(session, team_id)
        figures = board.team_figures(session, team)
        captain = service.captain_of(session, team_id)
        return {
            "team": team,
            "figures": figures,
            "members": board.member_lines(session, figures, viewer),
            "inside": service.is_member(session, team_id, viewer),
            "leads": viewer is not None and viewer.id == captain,
            "task_name": rounds.task_config(session, team.task_id).name if team.task_id else "",
            "typed": {"name": team.name, "about": team.about, "thanked": team.thanked},
        }

    page = await request.app.state.db.aread(read) | {"errors": {}, "link": ""}
    return render(request, "teams/team.html", status=status, **(page | values))


@router.get("/teams/join/{secret}", name="join_team_form")
async def team_offer(request: Request, db: Db, secret: str, viewer: Viewer) -> Response:
    """The team that a link leads to, and the button for joining it."""
    return render(request, "teams/join.html", team=await db.aread(service.offered_team, secret[:100]), secret=secret)


@router.post("/teams/join/{secret}", name="accept_team")
async def join_team(request: Request, db: Db, secret: str, person: Member) -> Response:
    """Join the team of a link."""
    team = await db.awrite(service.join_team, person, secret[:100])
    return redirect(request, "team", id=team.id)


@router.get("/teams/{id}", name="team")
async def read_team(request: Request, id: RowId, viewer: Viewer) -> Response:
    """A team with its figures and members."""
    return await _team_page(request, viewer, id)


@router.get("/teams/{id}/members.csv", name="team_csv")
async def team_csv(db: Db, id: RowId, viewer: Viewer) -> Response:
    """The work of a team's members as CSV, with the names that the page has."""

    def read(session: Session) -> list[list[object]]:
        figures = board.team_figures(session, service.find_team(session, id))
        return [
            [line.name, line.captain, line.counts.examples, line.counts.fooled, line.counts.validated]
            for line in board.member_lines(session, figures, viewer)
        ]

    return csv_response(f"team-{id}.csv", MEMBER_HEADER, await db.aread(read))


@router.post("/teams/{id}", name="change_team_form")
async def change_team(
    request: Request, db: Db, id: RowId, person: Member, name: Text = "", about: Text = "", thanked: Text = ""
) -> Response:
    """Change the name and the description of a team, and whether releases thank it."""
    try:
        body = TeamChangeIn(name=name[:200], about=about[:2000], thanked=thanked == "true")
        await db.awrite(service.change_team, person, id, body)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"name": name, "about": about, "thanked": thanked == "true"}
        return await _team_page(request, person, id, typed=typed, **rejection(problem, "name"))
    return redirect(request, "team", id=id)


@router.post("/teams/{id}/link", name="renew_team_link")
async def renew_link(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Show a new link for joining, this once."""
    secret = await db.awrite(service.renew_link, person, id)
    return await _team_page(request, person, id, link=page_address(request, "join_team_form", secret=secret))


@router.post("/teams/{id}/captain", name="name_captain_form")
async def name_captain(request: Request, db: Db, id: RowId, person: Member, member: Text = "") -> Response:
    """Make another member the captain."""
    await db.awrite(service.name_captain, person, id, read_number(member))
    return redirect(request, "team", id=id)


@router.post("/teams/{id}/members/{person_id}/remove", name="remove_member_form")
async def remove_member(request: Request, db: Db, id: RowId, person_id: RowId, person: Member) -> Response:
    """Leave a team, or remove a member."""
    await db.awrite(service.remove_member, person, id, person_id)
    return redirect(request, "teams")
