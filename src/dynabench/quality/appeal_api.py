"""Decisions about oneself and appeals as JSON."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from dynabench.kit.api import After, Db, Limit
from dynabench.kit.schemas import RowModel, StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs, scope
from dynabench.quality import appeals
from dynabench.quality.decisions import DecisionKind
from dynabench.quality.tables import AppealState

router = APIRouter(prefix="/api/v1", tags=["accounts"], dependencies=[Depends(scope("annotate"))])


class AppealOut(RowModel):
    """An appeal of one's own, with its answer."""

    id: int
    task: str = Field(validation_alias="task_id")
    kind: DecisionKind
    subject: int = Field(validation_alias="subject_id", description="The example or submission; 0 where there is none.")
    reason: str = Field(description="The reason of the decision.")
    text: str
    state: AppealState
    answer: str
    at: datetime
    answered_at: datetime | None


class PersonDecisionOut(RowModel):
    """A decision about oneself that holds now; `appeal` is null before one was written."""

    task: str
    kind: DecisionKind
    subject: int
    reason: str
    at: datetime
    appeal: AppealOut | None


class AppealIn(StrictModel):
    """An appeal against a decision about oneself."""

    task: str = Field(max_length=60)
    kind: DecisionKind
    subject: int = Field(0, ge=0, le=2**53)
    text: str = Field(max_length=4000)


class TaskAppealOut(AppealOut):
    """An appeal as those who may answer it see it."""

    person: str = Field(description="The pseudonym of the person.")
    answerable: bool = Field(description="False for the person who made the decision.")
    facts: str = Field(description="A sentence about what was decided on, for a rejected submission.")


class AppealAnswerIn(StrictModel):
    """The answer to an appeal."""

    granted: bool
    answer: str = Field(max_length=4000, description="The person reads it.")


@router.get("/me/decisions")
async def list_decisions(db: Db, person: Member) -> list[PersonDecisionOut]:
    """The decisions about you that hold now, newest first, with your appeals."""
    return [
        PersonDecisionOut(
            task=row.decision.task_id,
            kind=row.decision.kind,
            subject=row.decision.subject_id,
            reason=row.decision.reason,
            at=row.decision.at,
            appeal=AppealOut.model_validate(row.appeal) if row.appeal else None,
        )
        for row in await db.aread(appeals.list_own_decisions, person)
    ]


@router.get("/me/appeals")
async def list_own(db: Db, person: Member) -> list[AppealOut]:
    """Your appeals, newest first, also against decisions that hold no more."""
    return [AppealOut.model_validate(row) for row in await db.aread(appeals.list_own_appeals, person)]


@router.post("/me/appeals", status_code=201)
async def write_appeal(db: Db, body: AppealIn, person: Member) -> AppealOut:
    """Appeal against a decision about you, once."""
    appeal = await db.awrite(appeals.write_appeal, person, body.task, body.kind, body.subject, body.text)
    return AppealOut.model_validate(appeal)


@router.delete("/me/appeals/{appeal}")
async def withdraw_appeal(db: Db, appeal: RowId, person: Member) -> AppealOut:
    """Take your appeal back before it is answered."""
    return AppealOut.model_validate(await db.awrite(appeals.withdraw_appeal, person, appeal))


@router.get("/tasks/{task}/appeals")
@needs("manage")
async def list_appeals(
    db: Db,
    task: str,
    person: Member,
    which: Annotated[Literal["waiting", "answered"], Query()] = "waiting",
    before: After = None,
    limit: Limit = 20,
) -> list[TaskAppealOut]:
    """The appeals of a task, newest first, below the appeal `before` (experts, moderators, owners)."""
    cases = await db.aread(appeals.list_appeals, person, task, which == "waiting", before, limit)
    return [
        TaskAppealOut.model_validate(
            {name: getattr(case.appeal, name) for name in ("id", "task_id", "kind", "subject_id", "reason", "text")}
            | {name: getattr(case.appeal, name) for name in ("state", "answer", "at", "answered_at")}
            | {"person": case.person, "answerable": case.answerable, "facts": case.facts}
        )
        for case in cases
    ]


@router.post("/tasks/{task}/appeals/{appeal}")
@needs("manage")
async def answer_appeal(db: Db, task: str, appeal: RowId, body: AppealAnswerIn, person: Member) -> AppealOut:
    """Grant or refuse an appeal (experts, moderators, owners, but not who decided); granting reverses the decision."""
    answered = await db.awrite(appeals.answer_appeal, person, task, appeal, body.granted, body.answer)
    return AppealOut.model_validate(answered)
