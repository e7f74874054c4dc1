"""The JSON API of results on the cards of models, and these cards with the results."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import PlainTextResponse, Response

from dynabench.benchmark.registry.api import Name, find_model
from dynabench.kit.api import MARKDOWN, AppSettings, Db, site_address
from dynabench.kit.db import Database
from dynabench.kit.schemas import StrictModel
from dynabench.open_evaluations import card_results, queries, repository_cards
from dynabench.open_evaluations.schemas import CardEntryOut, CardEntryPage
from dynabench.open_evaluations.service import find_evaluation
from dynabench.open_evaluations.tables import CardLocation
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.people.accounts.tables import Person
from dynabench.rounds.schemas import Number

router = APIRouter(prefix="/api/v1", tags=["open evaluations"], dependencies=[Depends(scope("annotate"))])


class CardEntryIn(StrictModel):
    """The place for the results of one model: the registry's card, or a repository of the hub (`owner/name`)."""

    model: Annotated[int, Field(ge=0, le=100, description="The number of the model in the evaluation.")]
    place: CardLocation = CardLocation.REGISTRY
    repository: Annotated[str, Field(max_length=200)] = ""


async def add_result(request: Request, db: Database, person: Person, id: int, entry: CardEntryIn) -> None:
    """Add the results of one model to a card, or propose it."""
    if entry.place == CardLocation.REPOSITORY:
        settings, site = request.app.state.settings, site_address(request)
        add = repository_cards.add_to_repository
        await to_thread.run_sync(add, db, settings, person, id, entry.model, entry.repository, site)
    else:
        await db.awrite(card_results.add_to_registry, person, id, (entry.model,))


async def remove_result(request: Request, db: Database, person: Person, id: int, entry: CardEntryIn) -> None:
    """Take the results of one model off a card."""
    if entry.place == CardLocation.REPOSITORY:
        remove = repository_cards.remove_from_repository
        await to_thread.run_sync(remove, db, request.app.state.settings, person, id, entry.model)
    else:
        await db.awrite(card_results.remove_from_registry, person, id, entry.model)


@router.get("/open-evaluations/{id}/cards")
async def list_entries(db: Db, id: Number, viewer: Viewer) -> CardEntryPage:
    """List the cards of models that have results of this evaluation, or to which they are proposed."""

    def find(session: Session) -> CardEntryPage:
        find_evaluation(session, viewer, id)
        rows = session.scalars(queries.card_entries(id)).all()
        return CardEntryPage(items=[CardEntryOut.model_validate(row) for row in rows])

    return await db.aread(find)


@router.post("/open-evaluations/{id}/cards", status_code=201)
async def add_entry(request: Request, db: Db, id: Number, person: Member, body: CardEntryIn) -> CardEntryPage:
    """Add the results of one model to a card, or propose it where the card is another person's.

    The scores become visible to everybody: a reader checks the token of a result by the evaluation's record.
    """
    await add_result(request, db, person, id, body)
    return await list_entries(db, id, person)


@router.post("/open-evaluations/{id}/cards/remove")
async def remove_entry(request: Request, db: Db, id: Number, person: Member, body: CardEntryIn) -> CardEntryPage:
    """Take the results of one model off a card."""
    await remove_result(request, db, person, id, body)
    return await list_entries(db, id, person)


@router.get("/models/{name}/card", response_class=PlainTextResponse)
async def read_card(request: Request, db: Db, settings: AppSettings, name: Name, viewer: Viewer) -> Response:
    """Return the card of a model as README.md, with results of open evaluations, each with a signed token."""
    model = await find_model(request, viewer, name)
    readme = await request.app.state.host.readme(name, model.copy.version)
    text = await db.aread(card_results.registry_card, settings, name, readme, site_address(request))
    headers = {"Content-Disposition": 'attachment; filename="README.md"', "Cache-Control": "no-store"}
    return PlainTextResponse(text, media_type=MARKDOWN, headers=headers)
