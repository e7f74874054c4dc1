"""Competitions as JSON."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from sqlalchemy.orm import Session

from dynabench.communities.competitions import queries, schemas, service
from dynabench.communities.competitions.tables import Competition, CompetitionState, FreezeMode
from dynabench.kit.api import Db
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.rounds.tables import Round

router = APIRouter(prefix="/api/v1", tags=["competitions"], dependencies=[Depends(scope("annotate"))])
TaskId = Annotated[str, Query(max_length=60, description="A task's id; all tasks where it is left out.")]


def competition_out(session: Session, competition: Competition) -> schemas.CompetitionOut:
    """Return a competition as JSON."""
    return schemas.CompetitionOut(
        id=competition.id,
        task=competition.task_id,
        round=session.get_one(Round, competition.round_id).number,
        name=competition.name,
        state=competition.state,
        rules=competition.rules,
        budget=competition.budget,
        least_examples=competition.least_examples,
        most_members=competition.most_members,
        starts_at=competition.starts_at,
        ends_at=competition.ends_at,
        freeze=FreezeMode(competition.freeze),
        freeze_at=competition.freeze_at,
        finished_at=competition.finished_at,
        targets=service.target_names(session, competition),
        teams=sum(entry.withdrawn_at is None for entry, _team in session.execute(queries.entries(competition.id))),
    )


@router.get("/competitions")
async def list_competitions(db: Db, task: TaskId = "") -> schemas.CompetitionList:
    """List competitions, newest first."""

    def read(session: Session) -> schemas.CompetitionList:
        rows = session.scalars(queries.competitions(task)).all()
        return schemas.CompetitionList(items=[competition_out(session, row) for row in rows])

    return await db.aread(read)


@router.post("/tasks/{task}/competitions", status_code=201)
@needs("manage")
async def create_competition(db: Db, task: str, body: schemas.CompetitionIn, person: Member) -> schemas.CompetitionOut:
    """Make a competition on a draft or an open round without examples (owners)."""

    def write(session: Session) -> schemas.CompetitionOut:
        return competition_out(session, service.create_competition(session, person, task, body))

    return await db.awrite(write)


@router.get("/competitions/{id}")
async def read_competition(db: Db, id: RowId) -> schemas.CompetitionOut:
    """Return a competition."""
    return await db.aread(lambda session: competition_out(session, service.find_competition(session, id)))


@router.patch("/competitions/{id}")
@needs("manage")
async def change_competition(
    db: Db, id: RowId, body: schemas.CompetitionChangeIn, person: Member
) -> schemas.CompetitionOut:
    """Change a competition (owners)."""

    def write(session: Session) -> schemas.CompetitionOut:
        return competition_out(session, service.change_competition(session, person, id, body))

    return await db.awrite(write)


@router.delete("/competitions/{id}", status_code=204)
@needs("manage")
async def delete_competition(db: Db, id: RowId, person: Member) -> None:
    """Delete a competition in which nothing was written (owners)."""
    await db.awrite(service.delete_competition, person, id)


@router.post("/competitions/{id}/entries", status_code=204)
async def enter_competition(db: Db, id: RowId, body: schemas.EntryIn, person: Member) -> None:
    """Enter your team (captain)."""
    await db.awrite(service.enter, person, id, body.team)


@router.delete("/competitions/{id}/entries/{team_id}", status_code=204)
async def withdraw_team(db: Db, id: RowId, team_id: RowId, person: Member) -> None:
    """Withdraw your team (captain): it is not ranked and writes nothing more."""
    await db.awrite(service.withdraw, person, id, team_id)


@router.get("/competitions/{id}/board")
async def read_board(db: Db, id: RowId, viewer: Viewer) -> schemas.CompetitionBoardOut:
    """Return the ranking by vMER, with the places that each team may have."""

    def read(session: Session) -> schemas.CompetitionBoardOut:
        competition = service.find_competition(session, id)
        if competition.state is CompetitionState.FINISHED:
            return schemas.CompetitionBoardOut(items=service.read_report(competition).lines)
        board = service.read_board(session, competition, viewer)
        lines = [service.line_out(line) for line in board.lines]
        return schemas.CompetitionBoardOut(items=lines, as_of=board.as_of, hidden=board.hidden)

    return await db.aread(read)


@router.post("/competitions/{id}/finish")
@needs("manage")
async def finish_competition(db: Db, id: RowId, body: schemas.FinishIn, person: Member) -> schemas.CompetitionReportOut:
    """Make the final report of a competition that has ended (owners)."""
    return await db.awrite(service.finish, person, id, body.despite_pending)


@router.get("/competitions/{id}/report")
async def read_report(db: Db, id: RowId) -> schemas.CompetitionReportOut:
    """Return the final report."""
    return await db.aread(lambda session: service.read_report(service.find_competition(session, id)))
