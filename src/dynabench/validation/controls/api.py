"""Control items of a task, validators' answers to them, and the consequences, as JSON for owners."""

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.language import _
from dynabench.kit.schemas import RowModel, StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs
from dynabench.validation.controls import consequences, figures, items
from dynabench.validation.controls.items import MOST_DECIDED
from dynabench.validation.controls.tables import Consequence
from dynabench.validation.schemas import ErrorRateOut

router = APIRouter()
Label = Literal["correct", "incorrect", "flagged"]


class ControlItemIn(StrictModel):
    """A control item with values of its own."""

    context: dict[str, Any] = Field({})
    input: dict[str, Any]
    answer: dict[str, Any]
    vote: Label = Field(description="The right vote.")
    kind: Literal["gold", "attention"] = "gold"
    predictions: list[dict[str, Any]] = Field(
        [], max_length=20, description="Models' answers, shown after the vote as those of an example are."
    )


class ControlItemsIn(StrictModel):
    """Control items to add: values of their own, one decided example, or a number of decided examples at random."""

    items: list[ControlItemIn] = Field([], max_length=500)
    example: int | None = Field(None, ge=1, le=2**53)
    decided: int | None = Field(None, ge=1, le=MOST_DECIDED)


class RefusedItemOut(RowModel):
    """An item that was not added: its number in the request from 1, and why."""

    number: int
    reason: str


class AddedItemsOut(RowModel):
    """The number of items added, of those known already, and those that were refused."""

    created: int
    duplicates: int
    refused: list[RefusedItemOut]


class ControlItemOut(RowModel):
    """A control item with the answers to it."""

    id: int
    kind: Literal["gold", "attention"]
    example: int | None = Field(description="The decided example that it shows; null for values of its own.")
    text: str = Field(description="Its content on one line.")
    vote: Label = Field(description="The right vote.")
    source: str = Field(description="The file that it is from; empty for decided examples.")
    at: datetime
    retired_at: datetime | None
    right: ErrorRateOut = Field(description="Share of right answers, with a Wilson interval at 95 %.")
    votes: dict[str, int] = Field(description="How often each vote was given.")

    @classmethod
    def of(cls, row: items.ItemFigures) -> "ControlItemOut":
        """As JSON."""
        names = ("id", "kind", "source", "at", "retired_at")
        return cls.model_validate(
            {name: getattr(row.item, name) for name in names}
            | {"example": row.item.example_id, "vote": row.item.right_vote, "text": row.text}
            | {"right": ErrorRateOut.of(row.right), "votes": row.votes}
        )


class ControlFiguresOut(RowModel):
    """The figures of a validator from answers to controls."""

    id: int
    name: str
    measured: ErrorRateOut = Field(description="Right answers to gold items and attention checks together.")
    gold: ErrorRateOut
    attention: ErrorRateOut
    repeat: ErrorRateOut = Field(description="Own votes that were given again alike.")

    @classmethod
    def of(cls, row: figures.ControlFigures) -> "ControlFiguresOut":
        """As JSON."""
        rates = {name: ErrorRateOut.of(getattr(row, name)) for name in ("measured", "gold", "attention", "repeat")}
        return cls(id=row.person_id, name=row.name, **rates)


class ControlDecisionOut(RowModel):
    """A consequence of too few right answers; it holds while `ended_at` is null."""

    id: int
    person: int = Field(validation_alias="person_id")
    consequence: Consequence
    answers: int
    right: int
    threshold: float
    at: datetime
    ended_at: datetime | None


class DecisionChangeIn(StrictModel):
    """A change of a decision: `end` lifts or closes it, `pause` pauses the validator of a review or a warning."""

    then: Literal["end", "pause"]


class RetiredIn(StrictModel):
    """A change of an item: shown no more, or again."""

    retired: bool


@router.get("/tasks/{task}/controls")
@needs("manage")
async def list_controls(db: Db, task: str, person: Member) -> list[ControlItemOut]:
    """The control items of the task with the answers to them (owners)."""
    return list(map(ControlItemOut.of, await db.aread(items.list_items, person, task)))


@router.post("/tasks/{task}/controls", status_code=201)
@needs("manage")
async def add_controls(db: Db, task: str, body: ControlItemsIn, person: Member) -> AddedItemsOut:
    """Add control items (owners). Those that are refused are named, and the others are added."""
    ways = (bool(body.items), body.example is not None, body.decided is not None)
    if sum(ways) != 1:
        raise errors.Invalid({"items": _("Give one of items, example and decided.")})
    if body.example is not None:
        await db.awrite(items.add_example, person, task, body.example)
        return AddedItemsOut(created=1, duplicates=0, refused=[])
    if body.decided is not None:
        created = await db.awrite(items.add_decided, person, task, body.decided)
        return AddedItemsOut(created=created, duplicates=0, refused=[])
    rows = [
        items.ControlRow(
            number,
            {name: getattr(row, name) for name in items.GROUPS},
            row.vote,
            row.kind,
            row.predictions,
        )
        for number, row in enumerate(body.items, start=1)
    ]
    result = await db.awrite(items.add_rows, person, task, rows, "API")
    refused = [RefusedItemOut(number=number, reason=reason) for number, reason in result.errors]
    return AddedItemsOut(created=result.created, duplicates=result.duplicates, refused=refused)


@router.patch("/tasks/{task}/controls/{item}", status_code=204)
@needs("manage")
async def change_control(db: Db, task: str, item: RowId, body: RetiredIn, person: Member) -> None:
    """Show an item no more, or again (owners)."""
    await db.awrite(items.retire_item, person, task, item, retired=body.retired)


@router.get("/tasks/{task}/controls/validators")
@needs("manage")
async def list_control_figures(db: Db, task: str, person: Member) -> list[ControlFiguresOut]:
    """Validators' accuracy on control items and their agreement with themselves, lowest first (owners)."""
    return list(map(ControlFiguresOut.of, await db.aread(figures.list_figures, person, task)))


@router.get("/tasks/{task}/controls/decisions")
@needs("manage")
async def list_control_decisions(db: Db, task: str, person: Member) -> list[ControlDecisionOut]:
    """Warnings, pauses and reviews, those that hold first (owners)."""
    rows = await db.aread(consequences.list_decisions, person, task)
    return [ControlDecisionOut.model_validate(decision) for decision, _person in rows]


@router.post("/tasks/{task}/controls/decisions/{decision}")
@needs("manage")
async def change_control_decision(
    db: Db, task: str, decision: RowId, body: DecisionChangeIn, person: Member
) -> ControlDecisionOut:
    """End a decision, or pause the validator of a review or a warning (owners)."""
    act = consequences.pause_reviewed if body.then == "pause" else consequences.end_decision
    return ControlDecisionOut.model_validate(await db.awrite(act, person, task, decision))
