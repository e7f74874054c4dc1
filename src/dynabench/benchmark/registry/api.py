"""The registry as JSON: models, their answers and explanations, who may see them."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import model_answers, schemas, service
from dynabench.benchmark.registry.model_answers import ModelInputs
from dynabench.benchmark.registry.service import Model
from dynabench.collection import attributions
from dynabench.collection.api import throttle
from dynabench.kit.db import Database
from dynabench.models.client import Host
from dynabench.models.protocol import Card, explained
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.people.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["models"], dependencies=[Depends(scope("manage"))])

Name = Annotated[str, Path(min_length=1, max_length=100)]
Words = Annotated[str, Query(max_length=100)]


async def find_model(request: Request, viewer: Person | None, name: str) -> Model:
    """The model of this name; `NotFound` where `viewer` may see none, `Unavailable` while no host answers."""
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    return await db.aread(service.find_model, viewer, await host.states(), host.health(), name)


@router.get("/models")
async def list_models(
    request: Request,
    viewer: Viewer,
    q: Words = "",
    task: Words = "",
    after: Words = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> schemas.ModelPage:
    """Models that you may see, by name: those whose name holds `q`, of `task`."""
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    seen = await db.aread(service.models, viewer, await host.states(), host.health())
    matching = [model for model in service.search_models(seen, q, task) if model.name > after]
    items = [schemas.ModelRow(**model_row(model)) for model in matching[:limit]]
    return schemas.ModelPage(items=items, next=items[-1].name if len(matching) > limit else None)


@router.get("/models/{name}")
async def show_model(request: Request, name: Name, viewer: Viewer) -> schemas.ModelOut:
    """One model: its card, where it runs and how it does, the rounds against it."""
    model = await find_model(request, viewer, name)
    db: Database = request.app.state.db
    readme = await request.app.state.host.readme(name, model.copy.version)
    played = await db.aread(service.played_rounds, viewer, name, model.task)
    card = model.card or _empty_card(model)
    return schemas.ModelOut(
        **model_row(model),
        inputs=list(card.inputs),
        images=list(card.images),
        answer=card.answer,
        labels=list(card.labels),
        methods=list(card.methods),
        explains=list(explained(card)) if card.methods else [],
        readme=readme,
        rounds=[schemas.PlayedOut.model_validate(asdict(played_round)) for played_round in played],
    )


@router.post("/models/{name}/ask")
@needs("read")
async def ask_model(request: Request, name: Name, body: schemas.AskIn, viewer: Viewer) -> schemas.ModelAnswerOut:
    """Ask a model for its answer; nothing is stored. Two models are compared by two calls."""
    card, inputs = await _read_inputs(request, viewer, name, body)
    reply = await request.app.state.host.answer(card.name, card.version, inputs.sent)
    return schemas.ModelAnswerOut(**asdict(reply))


@router.post("/models/{name}/attributions", name="explain_model")
@needs("read")
async def explain_model(request: Request, name: Name, body: schemas.ExplainIn, viewer: Viewer) -> dict[str, Any]:
    """Explain an answer: weights of the words as for examples, for pictures `maps`, rows of weights from -1 to 1 by
    input."""
    card, inputs = await _read_inputs(request, viewer, name, body)
    attribution = await model_answers.explain_answer(request.app.state.host, card, inputs, body.method, body.label)
    return attributions.document(card.name, attribution) | {"maps": attribution.maps}


async def _read_inputs(
    request: Request, viewer: Person | None, name: str, body: schemas.AskIn
) -> tuple[Card, ModelInputs]:
    """The card of the version asked for and the inputs, checked and counted."""
    model = await find_model(request, viewer, name)
    card = model.ready(body.version)
    model_answers.may_ask(viewer, card)
    fields = await request.app.state.db.aread(model_answers.input_fields, card)
    inputs = model_answers.read_inputs(fields, body.inputs)
    throttle(request, viewer)
    return card, inputs


@router.patch("/models/{name}")
async def list_model(request: Request, name: Name, body: schemas.ListingIn, person: Member) -> schemas.ListingOut:
    """Say who may see a model (its keeper, admins), and who keeps it (admins)."""
    model = await find_model(request, person, name)

    def write(session: Session) -> schemas.ListingOut:
        service.change_listing(session, person, model, body.visibility, body.note, body.keeper)
        return schemas.ListingOut(**asdict(service.listing_of(session, name)))

    db: Database = request.app.state.db
    return await db.awrite(write)


def model_row(model: Model) -> dict[str, Any]:
    """Return a model's row in lists."""
    card = model.card or _empty_card(model)
    return {
        "name": model.name,
        "task": model.task,
        "kind": card.kind,
        "summary": card.summary,
        "returns": card.returns,
        "languages": list(card.languages),
        "licence": card.licence,
        "size_bytes": card.size_bytes,
        "inside": card.inside,
        "visibility": model.visibility,
        "copies": [{name: value for name, value in asdict(copy).items() if name != "card"} for copy in model.copies],
    }


def _empty_card(model: Model) -> Card:
    """A card for a model whose folder cannot be read."""
    return Card(model.name, "", model.task, "", (), "", languages=())
