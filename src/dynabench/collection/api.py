"""The annotator's side as JSON: contexts, examples, explanations, attributions, boards."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session

from dynabench.collection import (
    attributions,
    boards,
    eligibility,
    figure_schemas,
    figures_api,
    handout_storage,
    media_uploads,
    own_writing,
    playing,
    queries,
    schemas,
    search,
    seeds,
    service,
    withdrawal,
)
from dynabench.collection.assisting import api as assisting_api
from dynabench.collection.chat import api as chat_api
from dynabench.collection.drawing import api as drawing_api
from dynabench.kit import errors, security
from dynabench.kit.api import IdempotencyKey
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import contexts, people
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import UploadResult
from dynabench.rounds.schemas import Number, RowError, UploadOut

router = APIRouter(prefix="/api/v1", tags=["collection"], dependencies=[Depends(scope("annotate"))])

Name = Annotated[str, Query(max_length=100)]
Method = Annotated[str, Query(max_length=40)]
Label = Annotated[str, Query(max_length=200)]


def throttle(request: Request, viewer: Person | None) -> None:
    """Models are asked at most ten times a second by one person, once a second by one visitor's address."""
    security.throttle(request, "models", 600 if viewer else 60, 60)


@router.post("/tasks/{task}/contexts/next")
async def next_context(
    request: Request, task: str, viewer: Viewer, body: schemas.NextContextIn | None = None
) -> schemas.HandoutOut:
    """Another context, with a goal and a start; what members were given is recorded, visitors' is not.

    With `perturb` one's own example again, to be edited minimally so that its answer becomes the goal.
    """
    state = request.app.state
    if viewer is None:
        await state.db.aread(people.require_seat, None, task)
    if body is None or body.perturb is None:
        link = body.link if body else {}
        return await playing.hand_out(state.db, state.host, viewer, task, link=link)
    if viewer is None:
        raise errors.Unauthenticated(_("Log in to perturb one of your examples."))
    return await playing.perturb(state.db, state.host, viewer, body.perturb, task)


@router.post("/tasks/{task}/examples", status_code=201)
async def create_example(
    request: Request, task: str, body: schemas.ExampleIn, viewer: Viewer, key: IdempotencyKey = None
) -> schemas.OutcomeOut:
    """Ask the open round's targets about a draft and record what they said.

    A request sent again with its Idempotency-Key is answered as the first time. The sandbox records nothing and
    is open to visitors.
    """
    throttle(request, viewer)
    state = request.app.state
    answer = await playing.play(state.db, state.host, viewer, task, body, key or uuid.uuid4().hex)
    return answer.outcome


@router.get("/tasks/{task}/examples")
async def list_examples(
    request: Request, task: str, person: Member, query: Annotated[schemas.ExampleQuery, Query()]
) -> schemas.ExamplePage:
    """Your examples of a task (`mine`), newest first; its owners and moderators search everybody's."""
    db: Database = request.app.state.db

    def read(session: Session) -> schemas.ExamplePage:
        if not query.mine:
            page = search.find(session, person, task, query.filters(), before=query.after or None, limit=query.limit)
            items = [service.example_out(example, author=example.author.public_name) for example in page.items]
            return schemas.ExamplePage(items=items, next=str(page.next) if page.next else None)
        if set(query.model_fields_set) - {"mine", "after", "limit"}:
            raise errors.Invalid({"mine": _("Filters are for the task's owners and moderators, who see all examples.")})
        rounds.get_task(session, task)
        mine = session.scalars(queries.examples(task, person.id, query.after, query.limit + 1)).all()
        items = [
            service.example_out(example)
            for example in search.seen(session, [example.id for example in mine[: query.limit]])
        ]
        return schemas.ExamplePage(items=items, next=str(items[-1].id) if len(mine) > query.limit else None)

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/links")
@needs("manage")
async def list_links(
    request: Request,
    task: str,
    n: Number,
    person: Member,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> schemas.LinkPage:
    """List what the links told about the authors of examples, such as a crowd worker's number (owners)."""
    db: Database = request.app.state.db
    return await db.aread(handout_storage.list_links, person, task, n, after, limit)


@router.get("/examples/{id}")
async def read_example(request: Request, id: security.RowId, person: Member) -> schemas.ExampleOut:
    """One example with its predictions and its verdict, for its author and the task's owners."""
    db: Database = request.app.state.db
    return await db.aread(lambda session: service.full(session, eligibility.visible_example(session, person, id)))


@router.post("/examples/{id}/explanations", status_code=201)
async def explain(
    request: Request,
    id: security.RowId,
    body: dict[str, Any],
    person: Member,
    draft: bool = False,
) -> schemas.ExplanationOut:
    """Say why your example is right and what tricked the model: an object by the names of the task's `ask` fields.

    A later explanation takes the place of an earlier one. As a `draft` it may lack answers that the task requires; it
    is kept for you alone, and counts once none is lacking.
    """
    db: Database = request.app.state.db
    saved = await db.awrite(service.explain, person, id, body, draft=draft)
    return schemas.ExplanationOut(
        id=saved.explanation.id,
        values=saved.explanation.values,
        complete=saved.explanation.complete,
        answered=saved.answered,
        required=saved.required,
    )


@router.post("/examples/{id}/judgement")
async def judge(request: Request, id: security.RowId, body: schemas.JudgementIn, person: Member) -> schemas.OutcomeOut:
    """Say whether each model's answer to your example is wrong, where the task leaves that to its author.

    You may say otherwise until a validator has voted on the example.
    """
    db: Database = request.app.state.db

    def write(session: Session) -> schemas.OutcomeOut:
        example = playing.judge(session, person, id, body.wrong)
        return service.outcome(example, service.fooled(session, id))

    return await db.awrite(write)


@router.post("/examples/{id}/retract")
async def retract(request: Request, id: security.RowId, person: Member) -> schemas.RetractionOut:
    """Take your example back; it counts no more. Possible until its round is released; twice changes nothing."""
    db: Database = request.app.state.db
    await db.awrite(service.retract, person, id)
    return schemas.RetractionOut(id=id, retracted=True)


@router.post("/examples/{id}/hide")
@needs("manage")
async def hide(
    request: Request, id: security.RowId, person: Member, body: schemas.HidingIn | None = None
) -> schemas.HidingOut:
    """Hide an example from everybody but its author (owners, moderators); it counts no more. Twice changes nothing."""
    await request.app.state.db.awrite(withdrawal.hide, person, id, body.reason if body else "")
    return schemas.HidingOut(id=id, hidden=True)


@router.post("/examples/{id}/restore")
@needs("manage")
async def restore(
    request: Request, id: security.RowId, person: Member, body: schemas.HidingIn | None = None
) -> schemas.HidingOut:
    """Show a hidden example again (owners, moderators); twice changes nothing."""
    await request.app.state.db.awrite(withdrawal.restore, person, id, body.reason if body else "")
    return schemas.HidingOut(id=id, hidden=False)


@router.post("/tasks/{task}/seeds", status_code=201)
@needs("manage")
async def add_seeds(request: Request, task: str, body: schemas.SeedsIn, person: Member) -> UploadOut:
    """Add up to 1,000 seeds, texts to start from (owners). Good rows are kept, bad ones named, known ones counted."""
    rows = seeds.rows(body.seeds)

    def write(session: Session) -> UploadResult:
        config, result = rounds.require_config(session, person, Action.MANAGE_CONTEXTS, task), UploadResult()
        for batch in contexts.split_batches(rows):
            result += seeds.add(session, task, config, batch)
        rounds.record_act(session, person, "seeds.uploaded", task=task, created=result.created)
        return result

    db: Database = request.app.state.db
    result = await db.awrite(write)
    named = [RowError(row=row, message=message) for row, message in result.errors]
    return UploadOut(created=result.created, duplicates=result.duplicates, errors=named)


@router.post("/tasks/{task}/seeds/examples", status_code=201)
@needs("manage")
async def seeds_of_round(
    request: Request, task: str, body: schemas.SeedlingsIn, person: Member
) -> schemas.SeedlingsOut:
    """Make seeds of a round's examples with a verdict, by default `correct` (owners); known ones are passed over."""
    db: Database = request.app.state.db
    return schemas.SeedlingsOut(created=await db.awrite(seeds.from_round, person, task, body.round, body.verdict))


@router.get("/examples/{id}/attributions")
async def example_attributions(
    request: Request,
    id: security.RowId,
    person: Member,
    model: Name = "",
    method: Method = "",
    label: Label = "",
) -> dict[str, Any]:
    """Return the weights of the words that a target looked at for its answer.

    They are computed once, for the author and the task's owners.

    `label` asks for another answer than the given one; of an extracted answer for its `start` or its `end`.

    `{method, closer, label, model, completeness_error, cut_short, fields: {field: [{text, start, end,
    weight}]}, maps}`, and each field's list once more under the field's own name. `closer` names a more exact
    method that the model has. `maps` has rows of weights from -1 to 1 of each picture, from its top left.
    """
    question = await request.app.state.db.aread(attributions.about_example, person, id, model, method, label)
    return await explained(request, person, question)


async def explained(request: Request, person: Person, question: attributions.AttributionQuestion) -> dict[str, Any]:
    """Return the stored attribution of a stored example, or let the model host compute one and store it.

    Only a computation counts towards the limit of requests.
    """
    db: Database = request.app.state.db
    host: Host = request.app.state.host
    question = await attributions.settle(host, question)
    if stored_attribution := await db.aread(attributions.find_attribution, question):
        return attributions.document(question.model, stored_attribution, question.closer)
    throttle(request, person)
    attribution = await attributions.explain(host, question)
    await db.awrite(attributions.keep, question, attribution)
    return attributions.document(question.model, attribution, question.closer)


@router.post("/attributions")
async def draft_attributions(request: Request, body: schemas.AttributionIn, viewer: Viewer) -> dict[str, Any]:
    """Return the weights of the words that a target of the open round looks at in a draft.

    Nothing is stored, and visitors may ask.
    """
    throttle(request, viewer)
    db: Database = request.app.state.db
    host: Host = request.app.state.host
    question = await attributions.settle(host, await db.aread(attributions.about_draft, viewer, body))
    return attributions.document(question.model, await attributions.explain(host, question), question.closer)


@router.get("/tasks/{task}/rounds/{n}/board")
async def board(
    request: Request,
    task: str,
    n: Number,
    viewer: Viewer,
    after: Annotated[str, Query(max_length=9)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> figure_schemas.BoardPage:
    """People of a round: by validated fooling examples, then fooling ones, then fewest tries."""
    db: Database = request.app.state.db
    start = boards.place_from(after)
    return await db.aread(
        lambda session: boards.board(session, rounds.round_of(session, task, n), viewer, start, limit)
    )


router.include_router(figures_api.router)
router.include_router(media_uploads.router)
router.include_router(assisting_api.router)
router.include_router(chat_api.router)
router.include_router(drawing_api.router)
router.include_router(own_writing.api)
