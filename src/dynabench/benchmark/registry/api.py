"""The registry as JSON: models, their answers and explanations, who may see them."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import model_answers, service
from dynabench.benchmark.registry.model_answers import ModelInputs
from dynabench.benchmark.registry.service import ListedModel
from dynabench.collection import attributions
from dynabench.collection.api import throttle
from dynabench.kit.api import Db
from dynabench.kit.db import Database
from dynabench.kit.schemas import StrictModel
from dynabench.models.client import Host
from dynabench.models.protocol import ModelCard, explained
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.people.accounts.tables import Person

Word = Annotated[str, Field(max_length=100)]


class AskIn(StrictModel):
    """Inputs by name, as the model's `inputs` list them: texts, pictures as `data:image/png;base64,...` (2 MiB).

    Without a `version` the first that is ready.
    """

    inputs: Annotated[dict[str, Any], Field(max_length=8)]
    version: Word = ""


class ExplainIn(AskIn):
    """A request for an explanation: `label` is one of the model's `explains`, by default its answer; `method` one of
    its `methods`, by default the first."""

    method: Word = ""
    label: Annotated[str, Field(max_length=200)] = ""


class ListingIn(StrictModel):
    """The visibility of a model: everybody, people with a role in its task, or its keeper and admins.

    An absent `note` or `keeper` stays as it is; an empty `keeper` means that there is none. Only admins name
    keepers, by username.
    """

    visibility: Literal["public", "task", "private"]
    note: Annotated[str, Field(max_length=500)] | None = None
    keeper: Annotated[str, Field(max_length=40)] | None = None


class ListingOut(BaseModel):
    """The visibility of a model."""

    name: str
    visibility: str
    keeper: str
    note: str


class HealthOut(BaseModel):
    """The health of a version since this web process started; the times in milliseconds are those of its last
    answers. `last_failure` is for the model's keeper and admins."""

    answers: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    last_failure: str


class CopyOut(BaseModel):
    """A version on its hosts: `state` is READY, LOADING or UNAVAILABLE, with the reason for who looks after it."""

    version: str
    state: str
    reason: str
    where: str
    health: HealthOut | None


class ModelRow(BaseModel):
    """A model in a list; `copies` are its versions by host, that which answers by default first."""

    name: str
    task: str
    kind: str
    summary: str
    returns: str
    languages: list[str]
    licence: str
    size_bytes: int
    inside: bool
    visibility: str
    copies: list[CopyOut]


class ModelPage(BaseModel):
    """A page of models by name."""

    items: list[ModelRow]
    next: str | None


class ShareOut(BaseModel):
    """A share with its 95 % interval; `value` is null where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class PlayedOut(BaseModel):
    """A round against the model; the rates are those of its own answers, whatever other `targets` said.

    `vmer_is_lower_bound`: examples that fooled it, but not all targets together, are not checked in this round.
    """

    task: str
    number: int
    state: str
    version: str
    targets: list[str]
    mer: ShareOut
    vmer: ShareOut
    vmer_is_lower_bound: bool


class ModelOut(ModelRow):
    """One model: what it takes, gives and can explain, its card in Markdown, the rounds against it."""

    inputs: list[str]
    images: list[str]
    answer: str
    labels: list[str]
    methods: list[str]
    explains: list[str]
    readme: str
    rounds: list[PlayedOut]


class ModelAnswerOut(BaseModel):
    """A model's answer; `latency_ms` is the time that the platform waited."""

    model: str
    version: str
    answer: dict[str, Any]
    probabilities: dict[str, float] | None
    latency_ms: float


router = APIRouter(prefix="/api/v1", tags=["models"], dependencies=[Depends(scope("manage"))])

Name = Annotated[str, Path(min_length=1, max_length=100)]
Words = Annotated[str, Query(max_length=100)]


async def find_model(request: Request, viewer: Person | None, name: str) -> ListedModel:
    """The model of this name; `NotFound` where `viewer` may see none, `Unavailable` while no host answers."""
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    return await db.aread(service.find_model, viewer, await host.states(), host.health(), name)


@router.get("/models")
async def list_models(
    request: Request,
    db: Db,
    viewer: Viewer,
    q: Words = "",
    task: Words = "",
    after: Words = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> ModelPage:
    """Models that you may see, by name: those whose name holds `q`, of `task`."""
    host: Host = request.app.state.host
    seen = await db.aread(service.models, viewer, await host.states(), host.health())
    matching = [model for model in service.search_models(seen, q, task) if model.name > after]
    items = [ModelRow(**model_row(model)) for model in matching[:limit]]
    return ModelPage(items=items, next=items[-1].name if len(matching) > limit else None)


@router.get("/models/{name}")
async def show_model(request: Request, db: Db, name: Name, viewer: Viewer) -> ModelOut:
    """One model: its card, where it runs and how it does, the rounds against it."""
    model = await find_model(request, viewer, name)
    readme = await request.app.state.host.readme(name, model.copy.version)
    played = await db.aread(service.played_rounds, viewer, name, model.task)
    card = model.card or _empty_card(model)
    return ModelOut(
        **model_row(model),
        inputs=list(card.inputs),
        images=list(card.images),
        answer=card.answer,
        labels=list(card.labels),
        methods=list(card.methods),
        explains=list(explained(card)) if card.methods else [],
        readme=readme,
        rounds=[PlayedOut.model_validate(asdict(played_round)) for played_round in played],
    )


@router.post("/models/{name}/ask")
@needs("read")
async def ask_model(request: Request, name: Name, body: AskIn, viewer: Viewer) -> ModelAnswerOut:
    """Ask a model for its answer; nothing is stored. Two models are compared by two calls."""
    card, inputs = await _read_inputs(request, viewer, name, body)
    reply = await request.app.state.host.answer(card.name, card.version, inputs.sent)
    return ModelAnswerOut(**asdict(reply))


@router.post("/models/{name}/attributions", name="explain_model")
@needs("read")
async def explain_model(request: Request, name: Name, body: ExplainIn, viewer: Viewer) -> dict[str, Any]:
    """Explain an answer: weights of the words as for examples, for pictures `maps`, rows of weights from -1 to 1 by
    input."""
    card, inputs = await _read_inputs(request, viewer, name, body)
    attribution = await model_answers.explain_answer(request.app.state.host, card, inputs, body.method, body.label)
    return attributions.document(card.name, attribution)


async def _read_inputs(
    request: Request, viewer: Person | None, name: str, body: AskIn
) -> tuple[ModelCard, ModelInputs]:
    """The card of the version asked for and the inputs, checked and counted."""
    model = await find_model(request, viewer, name)
    card = model.ready(body.version)
    model_answers.may_ask(viewer, card)
    fields = await request.app.state.db.aread(model_answers.input_fields, card)
    inputs = model_answers.read_inputs(fields, body.inputs)
    throttle(request, viewer)
    return card, inputs


@router.patch("/models/{name}")
async def list_model(request: Request, db: Db, name: Name, body: ListingIn, person: Member) -> ListingOut:
    """Say who may see a model (its keeper, admins), and who keeps it (admins)."""
    model = await find_model(request, person, name)

    def write(session: Session) -> ListingOut:
        service.change_listing(session, person, model, body.visibility, body.note, body.keeper)
        return ListingOut(**asdict(service.listing_of(session, name)))

    return await db.awrite(write)


def model_row(model: ListedModel) -> dict[str, Any]:
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


def _empty_card(model: ListedModel) -> ModelCard:
    """A card for a model whose folder cannot be read."""
    return ModelCard(model.name, "", model.task, "", (), "", languages=())
