"""Checking examples, and the figures that follow, as JSON."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field, model_validator
from sqlalchemy.orm import Session

from dynabench.collection import notes, search
from dynabench.collection import service as examples
from dynabench.collection import statistics as target_figures
from dynabench.collection.api import Label, Method, Name, explained
from dynabench.collection.schemas import ExampleOut, ExampleQuery
from dynabench.collection.statistics import PEOPLE, statistics
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.schemas import Page, StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.schemas import Number
from dynabench.validation import bulk, media, moderation, pages, places, service, undoing, validators_api
from dynabench.validation.bulk import Kind
from dynabench.validation.controls import api as controls
from dynabench.validation.moderation import Case
from dynabench.validation.schemas import BallotIn, ItemOut, NextItemIn, Source, StatisticsOut, UndoneOut, VoteOutcomeOut

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
    outcome = await state.db.awrite(undoing.undo, person, id, seconds=state.settings.reservation_seconds)
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
    round = rounds.round_of(session, task, number)
    figures = statistics(session, round, sources=sources)
    targets = target_figures.by_target(session, round, figures.total, PEOPLE if sources is None else sources)
    return StatisticsOut.from_statistics(task, number, figures, targets, target_figures.is_lower_bound(session, round))


router.include_router(media.router)
router.include_router(pages.api)
router.include_router(validators_api.router)
router.include_router(controls.router)


class ReasonIn(StrictModel):
    """Why; for the audit log."""

    reason: str = Field(max_length=500)


class RaisedOut(BaseModel):
    """One vote that flags."""

    by: str
    values: dict[str, Any]
    at: datetime


class ModerationStepOut(BaseModel):
    """A moderator's act on an example: `hidden`, `restored`, `dismissed` or `reopened`."""

    kind: str
    by: str
    reason: str
    at: datetime


class CaseOut(BaseModel):
    """An example before the moderators; `banned` is the reason of its author's ban, null where there is none."""

    example: ExampleOut
    flags: list[RaisedOut]
    steps: list[ModerationStepOut]
    banned: str | None

    @classmethod
    def of(cls, case: Case) -> "CaseOut":
        """As JSON."""
        return cls.model_validate(
            {
                "example": examples.example_out(case.seen, author=case.seen.author.public_name),
                "flags": [{"by": flag.by, "values": flag.values, "at": flag.at} for flag in case.flags],
                "steps": [vars(step) for step in case.steps],
                "banned": case.banned,
            }
        )


class CasePage(Page[CaseOut]):
    """A page of a queue, newest examples first."""


class ReviewOut(BaseModel):
    """The state of the flags on an example: dismissed or not."""

    id: int
    dismissed: bool


@router.get("/tasks/{task}/moderation")
@needs("manage")
async def read_queue(
    request: Request,
    task: str,
    person: Member,
    which: Literal["waiting", "hidden", "dismissed", "noted"] = "waiting",
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> CasePage:
    """Flagged examples that wait for a moderator, those that are hidden, dismissed, or have notes."""

    def read(session: Session) -> CasePage:
        cases, more = moderation.queue(session, person, task, which, after or None, limit)
        return CasePage(items=[CaseOut.of(case) for case in cases], next=str(more) if more else None)

    db: Database = request.app.state.db
    return await db.aread(read)


@router.post("/examples/{id}/dismiss")
@needs("manage")
async def dismiss(request: Request, id: RowId, body: ReasonIn, person: Member) -> ReviewOut:
    """Find the flags on an example groundless (owners, moderators); a new flag asks again. Twice changes nothing."""
    await request.app.state.db.awrite(moderation.dismiss, person, id, body.reason)
    return ReviewOut(id=id, dismissed=True)


@router.post("/examples/{id}/reopen")
@needs("manage")
async def reopen(request: Request, id: RowId, body: ReasonIn, person: Member) -> ReviewOut:
    """Put an example whose flags were dismissed back into the queue (owners, moderators)."""
    await request.app.state.db.awrite(moderation.reopen, person, id, body.reason)
    return ReviewOut(id=id, dismissed=False)


LabelName = Annotated[str, Path(max_length=100)]


class NoteIn(StrictModel):
    """A note."""

    text: str = Field(max_length=notes.LONGEST)


class LabelIn(StrictModel):
    """A label."""

    name: str = Field(max_length=notes.LABEL)


class ModeratorNoteOut(BaseModel):
    """A note, which the task's owners and moderators alone see."""

    id: int
    text: str
    by: str = Field(description="Empty for the operator and for who left.")
    at: datetime


class BesideOut(BaseModel):
    """The notes and labels of an example."""

    notes: list[ModeratorNoteOut]
    labels: list[str]


class BulkIn(StrictModel):
    """One thing for many examples: named by `ids`, or all that a question finds, the newest first."""

    kind: Kind
    value: str = Field(max_length=notes.LONGEST, description="The reason, the label or the note.")
    ids: list[Annotated[int, Field(ge=1, le=2**53)]] = Field([], max_length=bulk.MOST)
    matching: ExampleQuery | None = Field(None, description="As `GET /tasks/{task}/examples` asks.")

    @model_validator(mode="after")
    def _one_way(self) -> "BulkIn":
        if bool(self.ids) == (self.matching is not None):
            raise ValueError("Give either ids or matching.")
        return self


class BulkOut(BaseModel):
    """The result of a change to many examples."""

    id: int
    kind: Kind
    value: str
    changed: list[int] = Field(description="Examples that were not so already.")
    undone: bool


def _beside(session: Session, person: Person, id: int) -> BesideOut:
    notes.task_of(session, person, id)
    notes_by_example, labels = notes.read_notes_and_labels(session, [id])
    return BesideOut.model_validate({"notes": [vars(note) for note in notes_by_example[id]], "labels": labels[id]})


async def _changed(request: Request, id: int, person: Person, change: Any, *args: Any) -> BesideOut:
    def write(session: Session) -> BesideOut:
        change(session, person, id, *args)
        return _beside(session, person, id)

    db: Database = request.app.state.db
    return await db.awrite(write)


@router.get("/examples/{id}/notes")
@needs("manage")
async def read_notes(request: Request, id: RowId, person: Member) -> BesideOut:
    """The notes and labels of an example (owners, moderators)."""
    db: Database = request.app.state.db
    return await db.aread(_beside, person, id)


@router.post("/examples/{id}/notes", status_code=201)
@needs("manage")
async def add_note(request: Request, id: RowId, body: NoteIn, person: Member) -> BesideOut:
    """Write a note on an example (owners, moderators)."""
    return await _changed(request, id, person, notes.add, body.text)


@router.delete("/examples/{id}/notes/{note}")
@needs("manage")
async def remove_note(request: Request, id: RowId, note: RowId, person: Member) -> BesideOut:
    """Take a note away (owners, moderators)."""
    return await _changed(request, id, person, notes.remove, note)


@router.post("/examples/{id}/labels", status_code=201)
@needs("manage")
async def put_label(request: Request, id: RowId, body: LabelIn, person: Member) -> BesideOut:
    """Put a label on an example (owners, moderators). Twice changes nothing."""
    return await _changed(request, id, person, notes.label, body.name, True)


@router.delete("/examples/{id}/labels/{name}")
@needs("manage")
async def take_label(request: Request, id: RowId, name: LabelName, person: Member) -> BesideOut:
    """Take a label off (owners, moderators). Twice changes nothing."""
    return await _changed(request, id, person, notes.label, name, False)


def _bulk_out(session: Session, person: Person, task: str, id: int) -> BulkOut:
    bulk_act, ids = bulk.read_bulk_act(session, person, task, id)
    values = {"id": bulk_act.id, "kind": bulk_act.kind, "value": bulk_act.value, "changed": ids}
    return BulkOut.model_validate(values | {"undone": bulk_act.undone_at is not None})


@router.post("/tasks/{task}/examples/bulk", status_code=201)
@needs("manage")
async def act_on_many(request: Request, task: str, body: BulkIn, person: Member) -> BulkOut:
    """Hide, restore, flag, label or note many examples at once (owners, moderators), up to a thousand."""

    def write(session: Session) -> BulkOut:
        ids = body.ids
        if body.matching is not None:
            before = body.matching.after or None
            filters = body.matching.filters()
            ids = search.ids(session, person, task, filters, before=before, most=bulk.MOST + 1)
            if not ids:
                raise errors.Invalid({"matching": _("No example matches all filters.")})
        bulk_act = bulk.act(session, person, task, body.kind, body.value, ids)
        return _bulk_out(session, person, task, bulk_act.id)

    db: Database = request.app.state.db
    return await db.awrite(write)


@router.post("/tasks/{task}/examples/bulk/{id}/undo")
@needs("manage")
async def undo_act(request: Request, task: str, id: RowId, person: Member) -> BulkOut:
    """Undo it where it still stands (owners, moderators). Twice changes nothing."""

    def write(session: Session) -> BulkOut:
        bulk.undo(session, person, task, id)
        return _bulk_out(session, person, task, id)

    db: Database = request.app.state.db
    return await db.awrite(write)
