"""Validators of a task as JSON: their figures, and whether their votes count."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from sqlalchemy.orm import Session

from dynabench.kit.api import After, Db, Limit
from dynabench.kit.schemas import Page, RowModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs
from dynabench.validation import exclusion, validators

router = APIRouter()

RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1, description="Only votes in this round.")]


class VoteShareOut(RowModel):
    """A share of votes or of pairs of votes with its 95 % interval; all null where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int = Field(description="How many votes, or pairs of votes, the share is of.")


class ValidatorOut(RowModel):
    """A validator with the figures of the votes that they did not take back."""

    id: int = Field(validation_alias="person_id")
    name: str
    role: str | None
    votes: int
    excluded: int = Field(description="How many of these votes an owner excluded from verdicts.")
    agreement: VoteShareOut = Field(description="Votes that equal the verdict, where it is final and not disputed.")
    others: VoteShareOut = Field(
        description="Pairs of a vote of theirs and one of another validator on the same example that agree."
    )
    accuracy: VoteShareOut = Field(
        description="Estimated share of right votes (Dawid-Skene); null until it was computed."
    )
    median_seconds: float | None = Field(description="Time at work where the page measured it; null if unknown.")
    timed: int = Field(description="How many votes the median is of.")
    flags: int
    last_vote: datetime
    banned: str | None = Field(description="The reason of the ban, null where there is none.")


class ValidatorPage(Page[ValidatorOut]):
    """A page of validators by id; `next` is the cursor of the page after it."""


class ExclusionEffectsOut(RowModel):
    """The effects of excluding a person's votes, or of counting them again."""

    votes: int = Field(description="Votes that would change.")
    verdicts: int = Field(description="Verdicts that would change.")
    reopened: int = Field(description="Examples among them that would wait for votes again.")
    released: int = Field(description="Votes in released rounds, which stay as they are.")
    released_verdicts: int = Field(description="Verdicts in released rounds that stay although they would change.")


class ExclusionStateOut(RowModel):
    """The decision on a person's votes, and how far verdicts have followed it."""

    excluded: bool
    at: datetime
    running: bool = Field(description="True until all verdicts have followed.")
    votes: int = Field(description="Votes that have changed so far.")
    verdicts: int = Field(description="Verdicts that have changed so far.")


class VoteExclusionOut(RowModel):
    """The decision on a person's votes, null where there is none, and what `change` would do now."""

    decision: ExclusionStateOut | None
    change: Literal["exclude", "restore"]
    effects: ExclusionEffectsOut


@router.get("/tasks/{task}/validators")
@needs("manage")
async def list_validators(
    db: Db, task: str, person: Member, number: RoundNumber = None, after: After = None, limit: Limit = 50
) -> ValidatorPage:
    """Everybody who has voted in the task, with figures of their votes (owners, moderators)."""
    rows = await db.aread(validators.list_validators, person, task, number)
    following = sorted((row for row in rows if row.person_id > (after or 0)), key=lambda row: row.person_id)
    return ValidatorPage.cut(following[: limit + 1], limit, "id", ValidatorOut.model_validate)


@router.get("/tasks/{task}/validators/{id}")
@needs("manage")
async def read_validator(db: Db, task: str, id: RowId, person: Member) -> ValidatorOut:
    """One validator of the task (owners, moderators)."""
    return ValidatorOut.model_validate(await db.aread(validators.validator_figures, person, task, id))


@router.get("/tasks/{task}/validators/{id}/exclusion")
@needs("manage")
async def read_exclusion(db: Db, task: str, id: RowId, person: Member) -> VoteExclusionOut:
    """The decision on a person's votes, and what a change would do (owners). Changes nothing."""

    def read(session: Session) -> VoteExclusionOut:
        state = exclusion.read_state(session, person, task, id)
        is_excluded = state is not None and state.excluded
        effects = exclusion.preview_effects(session, person, task, id, excluded=not is_excluded)
        decision = ExclusionStateOut.model_validate(state) if state else None
        change: Literal["exclude", "restore"] = "restore" if is_excluded else "exclude"
        return VoteExclusionOut(decision=decision, change=change, effects=ExclusionEffectsOut.model_validate(effects))

    return await db.aread(read)


@router.put("/tasks/{task}/validators/{id}/exclusion", status_code=202)
@needs("manage")
async def exclude_votes(db: Db, task: str, id: RowId, person: Member) -> ExclusionStateOut:
    """Exclude the votes of a banned person from verdicts (owners). Verdicts follow soon; released rounds never change.

    Twice changes nothing.
    """

    def write(session: Session) -> ExclusionStateOut:
        exclusion.exclude_votes(session, person, task, id)
        return ExclusionStateOut.model_validate(exclusion.read_state(session, person, task, id))

    return await db.awrite(write)


@router.delete("/tasks/{task}/validators/{id}/exclusion", status_code=202)
@needs("manage")
async def restore_votes(db: Db, task: str, id: RowId, person: Member) -> ExclusionStateOut | None:
    """Count a person's excluded votes again (owners); null where none were excluded. Verdicts follow soon."""

    def write(session: Session) -> ExclusionStateOut | None:
        if exclusion.restore_votes(session, person, task, id) is None:
            return None
        return ExclusionStateOut.model_validate(exclusion.read_state(session, person, task, id))

    return await db.awrite(write)
