"""Teams as JSON."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from sqlalchemy.orm import Session

from dynabench.communities.teams import board, schemas, service
from dynabench.communities.teams.board import TeamFigures
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.people.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["teams"], dependencies=[Depends(scope("annotate"))])
TaskId = Annotated[str, Query(max_length=60, description="A task's id; all tasks where it is left out.")]


def line_out(figures: TeamFigures) -> dict[str, Any]:
    """Return a team's line as JSON."""
    counts = figures.counts
    return {
        "id": figures.team.id,
        "name": figures.team.name,
        "task": figures.team.task_id,
        "rank": figures.rank,
        "members": figures.members,
        "examples": counts.examples,
        "fooled": counts.fooled,
        "verified": counts.validated,
        "vmer": schemas.TeamRateOut.model_validate(figures.rates.vmer),
    }


def team_out(session: Session, team_id: int, viewer: Person | None) -> schemas.TeamOut:
    """Return a team with its members, as a viewer may see them."""
    team = service.find_team(session, team_id)
    figures = board.team_figures(session, team)
    people = [
        schemas.TeamMemberOut(
            person=line.person_id if line.name else None,
            name=line.name or None,
            captain=line.captain,
            examples=line.counts.examples,
            fooled=line.counts.fooled,
            verified=line.counts.validated,
        )
        for line in board.member_lines(session, figures, viewer)
    ]
    facts = line_out(figures) | {"about": team.about, "thanked": team.thanked, "created_at": team.created_at}
    return schemas.TeamOut(**facts, people=people)


@router.get("/teams")
async def list_teams(db: Db, task: TaskId = "") -> schemas.TeamBoardOut:
    """List the teams with their figures, ranked by verified fooling examples."""

    def read(session: Session) -> schemas.TeamBoardOut:
        lines = [schemas.TeamLineOut(**line_out(figures)) for figures in board.rank_teams(session, task)]
        return schemas.TeamBoardOut(items=lines)

    return await db.aread(read)


@router.post("/teams", status_code=201)
async def create_team(db: Db, body: schemas.TeamIn, person: Member) -> schemas.TeamOut:
    """Make a team. You are its captain."""
    return await db.awrite(lambda session: team_out(session, service.create_team(session, person, body).id, person))


@router.post("/teams/join")
async def join_team(db: Db, body: schemas.TeamJoinIn, person: Member) -> schemas.TeamOut:
    """Join the team of a link."""

    def write(session: Session) -> schemas.TeamOut:
        team = service.join_team(session, person, body.secret)
        session.flush()
        return team_out(session, team.id, person)

    return await db.awrite(write)


@router.get("/teams/{id}")
async def read_team(db: Db, id: RowId, viewer: Viewer) -> schemas.TeamOut:
    """Return a team. Members with private profiles have a name for their team alone."""
    return await db.aread(team_out, id, viewer)


@router.patch("/teams/{id}")
async def change_team(db: Db, id: RowId, body: schemas.TeamChangeIn, person: Member) -> schemas.TeamOut:
    """Change a team (captain)."""

    def write(session: Session) -> schemas.TeamOut:
        service.change_team(session, person, id, body)
        return team_out(session, id, person)

    return await db.awrite(write)


@router.post("/teams/{id}/link", status_code=201)
async def renew_link(db: Db, settings: AppSettings, id: RowId, person: Member) -> schemas.TeamLinkOut:
    """Make a new link for joining; the earlier one lets nobody in any more (captain)."""
    secret = await db.awrite(service.renew_link, person, id)
    return schemas.TeamLinkOut(secret=secret, link=f"{settings.site}/teams/join/{secret}")


@router.post("/teams/{id}/captain", status_code=204)
async def name_captain(db: Db, id: RowId, body: schemas.CaptainIn, person: Member) -> None:
    """Make another member the captain (captain)."""
    await db.awrite(service.name_captain, person, id, body.person)


@router.delete("/teams/{id}/members/{person_id}", status_code=204)
async def remove_member(db: Db, id: RowId, person_id: RowId, person: Member) -> None:
    """Leave a team, or remove a member (captain)."""
    await db.awrite(service.remove_member, person, id, person_id)
