"""Notes and labels on examples, and acts on many at once, as JSON; for owners and moderators."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field, model_validator
from sqlalchemy.orm import Session

from dynabench.collection import notes, search
from dynabench.collection.schemas import ExampleQuery, Strict
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs
from dynabench.people.accounts.tables import Person
from dynabench.validation import bulk
from dynabench.validation.bulk import Kind

router = APIRouter()
Name = Annotated[str, Path(max_length=100)]


class NoteIn(Strict):
    """A note."""

    text: str = Field(max_length=notes.LONGEST)


class LabelIn(Strict):
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


class BulkIn(Strict):
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
    said, labels = notes.of(session, [id])
    return BesideOut.model_validate({"notes": [vars(each) for each in said[id]], "labels": labels[id]})


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
async def take_label(request: Request, id: RowId, name: Name, person: Member) -> BesideOut:
    """Take a label off (owners, moderators). Twice changes nothing."""
    return await _changed(request, id, person, notes.label, name, False)


def _told(session: Session, person: Person, task: str, id: int) -> BulkOut:
    found, ids = bulk.one(session, person, task, id)
    values = {"id": found.id, "kind": found.kind, "value": found.value, "changed": ids}
    return BulkOut.model_validate(values | {"undone": found.undone_at is not None})


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
                raise errors.Invalid({"matching": _("No example holds to all of this.")})
        made = bulk.act(session, person, task, body.kind, body.value, ids)
        return _told(session, person, task, made.id)

    db: Database = request.app.state.db
    return await db.awrite(write)


@router.post("/tasks/{task}/examples/bulk/{id}/undo")
@needs("manage")
async def undo_act(request: Request, task: str, id: RowId, person: Member) -> BulkOut:
    """Undo it where it still stands (owners, moderators). Twice changes nothing."""

    def write(session: Session) -> BulkOut:
        bulk.undo(session, person, task, id)
        return _told(session, person, task, id)

    db: Database = request.app.state.db
    return await db.awrite(write)
