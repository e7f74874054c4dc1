"""Checking examples, and the figures that follow, as JSON."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy.orm import Session

from dynabench.collection import target_figures
from dynabench.collection.api import Label, Method, Name, explained
from dynabench.collection.statistics import PEOPLE, statistics
from dynabench.kit.db import Database
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.rounds import service as rounds
from dynabench.rounds.schemas import Number
from dynabench.validation import bulk_api, harm_pages, media_api, moderation_api, places, service
from dynabench.validation.schemas import (
    BallotIn,
    ItemOut,
    NextItemIn,
    Source,
    StatisticsOut,
    UndoneOut,
    VoteOutcomeOut,
)

router = APIRouter(prefix="/api/v1", tags=["validation"], dependencies=[Depends(scope("annotate"))])

PAGE = 50


@router.post(
    "/tasks/{task}/validations/next",
    response_model=ItemOut,
    response_model_exclude_unset=True,
    responses={204: {"description": "Nothing waits for you."}},
)
async def next_validation(
    request: Request, task: str, person: Member, body: NextItemIn | None = None
) -> ItemOut | Response:
    """The next example to check, with a place held for you; asking again gives the same until you have voted."""
    state, number = request.app.state, body.round if body else None
    seconds = state.settings.reservation_seconds
    item = await state.db.awrite(places.next_item, person, task, seconds=seconds, round_number=number)
    return Response(status_code=204) if item is None else ItemOut.of(item)


@router.post("/examples/{id}/validations", status_code=201)
async def validate(request: Request, id: RowId, body: BallotIn, person: Member) -> VoteOutcomeOut:
    """Vote on an example, or answer it blind."""
    return VoteOutcomeOut.of(await request.app.state.db.awrite(service.vote, person, id, body.ballot()))


@router.post("/examples/{id}/validations/undo")
async def undo_validation(request: Request, id: RowId, person: Member) -> UndoneOut:
    """Take back your last vote, within a minute and before anybody votes after you."""
    state = request.app.state
    outcome = await state.db.awrite(service.undo, person, id, seconds=state.settings.reservation_seconds)
    return UndoneOut(id=outcome.id, verdict=outcome.verdict, votes=outcome.votes)


@router.get("/examples/{id}/validations/attributions")
async def voted_attributions(
    request: Request, id: RowId, person: Member, model: Name = "", method: Method = "", label: Label = ""
) -> dict[str, Any]:
    """Return the words that a target looked at, once you have voted on the example; as for its author."""
    question = await request.app.state.db.aread(service.question, person, id, model, method, label)
    return await explained(request, person, question)


@router.post("/examples/{id}/skip", status_code=204)
async def skip_example(request: Request, id: RowId, person: Member) -> None:
    """Pass an example on: no vote, and it is not handed to you again."""
    await request.app.state.db.awrite(service.skip, person, id)


@router.get("/tasks/{task}/rounds/{number}/statistics")
async def read_statistics(
    request: Request, task: str, number: Number, _: Viewer, sources: Annotated[list[Source] | None, Query()] = None
) -> StatisticsOut:
    """The round's error rates with intervals, and how people do beside the models."""
    db: Database = request.app.state.db
    return await db.aread(_statistics, task, number, sources)


def _statistics(session: Session, task: str, number: int, sources: list[Source] | None) -> StatisticsOut:
    found = rounds.round_of(session, task, number)
    figures = statistics(session, found, sources=sources)
    targets = target_figures.by_target(session, found, figures.total, PEOPLE if sources is None else sources)
    return StatisticsOut.told(task, number, figures, targets, target_figures.is_lower_bound(session, found))


router.include_router(moderation_api.router)
router.include_router(bulk_api.router)
router.include_router(media_api.router)
router.include_router(harm_pages.api)
