"""Moderation as JSON: the queues, and what is done about flags; hiding, warning, banning have other routes."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.collection import service
from dynabench.collection.schemas import ExampleOut, Strict
from dynabench.kit.db import Database
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs
from dynabench.validation import moderation
from dynabench.validation.moderation import Case

router = APIRouter()


class ReasonIn(Strict):
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
                "example": service.told(case.seen, author=case.seen.author.public_name),
                "flags": [{"by": flag.by, "values": flag.values, "at": flag.at} for flag in case.flags],
                "steps": [vars(step) for step in case.steps],
                "banned": case.banned,
            }
        )


class CasePage(BaseModel):
    """A page of a queue, newest examples first."""

    items: list[CaseOut]
    next: str | None


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
