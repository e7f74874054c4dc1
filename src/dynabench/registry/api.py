"""The registry as JSON: models, their answers and explanations, who may see them."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy.orm import Session

from dynabench.accounts.auth import Member, Viewer, needs, scope
from dynabench.accounts.tables import Person
from dynabench.collection import attributions
from dynabench.collection.api import throttle
from dynabench.db import Database
from dynabench.models.client import Host
from dynabench.models.protocol import Card, explained
from dynabench.registry import asking, schemas, service
from dynabench.registry.asking import Asked
from dynabench.registry.service import Model

router = APIRouter(prefix="/api/v1", tags=["models"], dependencies=[Depends(scope("manage"))])

Name = Annotated[str, Path(min_length=1, max_length=100)]
Words = Annotated[str, Query(max_length=100)]


async def found(request: Request, viewer: Person | None, name: str) -> Model:
    """The model of this name; `NotFound` where `viewer` may see none, `Unavailable` while no host answers."""
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    return await db.aread(service.one, viewer, await host.states(), host.health(), name)


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
    matching = [each for each in service.search(seen, q, task) if each.name > after]
    items = [schemas.ModelRow(**row(each)) for each in matching[:limit]]
    return schemas.ModelPage(items=items, next=items[-1].name if len(matching) > limit else None)


@router.get("/models/{name}")
async def show_model(request: Request, name: Name, viewer: Viewer) -> schemas.ModelOut:
    """One model: its card, where it runs and how it does, the rounds against it."""
    model = await found(request, viewer, name)
    db: Database = request.app.state.db
    readme = await request.app.state.host.readme(name, model.copy.version)
    played = await db.aread(service.played, viewer, name, model.task)
    card = model.card or _nothing(model)
    return schemas.ModelOut(
        **row(model),
        inputs=list(card.inputs),
        images=list(card.images),
        answer=card.answer,
        labels=list(card.labels),
        methods=list(card.methods),
        explains=list(explained(card)) if card.methods else [],
        readme=readme,
        rounds=[schemas.PlayedOut.model_validate(asdict(each)) for each in played],
    )


@router.post("/models/{name}/ask")
@needs("read")
async def ask_model(request: Request, name: Name, body: schemas.AskIn, viewer: Viewer) -> schemas.ModelAnswerOut:
    """What the model answers; nothing is stored. Two models are compared by asking both."""
    card, inputs = await _asked(request, viewer, name, body)
    said = await request.app.state.host.answer(card.name, card.version, inputs.sent)
    return schemas.ModelAnswerOut(**asdict(said))


@router.post("/models/{name}/attributions", name="explain_model")
@needs("read")
async def explain_model(request: Request, name: Name, body: schemas.ExplainIn, viewer: Viewer) -> dict[str, Any]:
    """Which words the model looks at, as for examples; for pictures `maps`, rows of weights from -1 to 1 by input."""
    card, inputs = await _asked(request, viewer, name, body)
    said = await asking.explain(request.app.state.host, card, inputs, body.method, body.label)
    return attributions.document(card.name, said) | {"maps": said.maps}


async def _asked(request: Request, viewer: Person | None, name: str, body: schemas.AskIn) -> tuple[Card, Asked]:
    """The card of the version asked for and the inputs, checked and counted."""
    model = await found(request, viewer, name)
    card = model.ready(body.version)
    asking.may_ask(viewer, card)
    fields = await request.app.state.db.aread(asking.fields, card)
    inputs = asking.asked(fields, body.inputs)
    throttle(request, viewer)
    return card, inputs


@router.patch("/models/{name}")
async def list_model(request: Request, name: Name, body: schemas.ListingIn, person: Member) -> schemas.ListingOut:
    """Say who may see a model (its keeper, admins), and who keeps it (admins)."""
    model = await found(request, person, name)

    def write(session: Session) -> schemas.ListingOut:
        service.change(session, person, model, body.visibility, body.note, body.keeper)
        return schemas.ListingOut(**asdict(service.listed(session, name)))

    db: Database = request.app.state.db
    return await db.awrite(write)


def row(model: Model) -> dict[str, Any]:
    """What lists say of a model."""
    card = model.card or _nothing(model)
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


def _nothing(model: Model) -> Card:
    """What is known of a model whose folder cannot be read."""
    return Card(model.name, "", model.task, "", (), "", languages=())
