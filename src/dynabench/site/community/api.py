"""A person's own work as JSON: counts, withdrawal, deletion of the account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from dynabench.collection.withdrawal import written
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.language import _
from dynabench.kit.schemas import Page, StrictModel
from dynabench.people.accounts import login
from dynabench.people.accounts.auth import Member, limited, needs, scope
from dynabench.people.accounts.tables import Person
from dynabench.site.community import own_data, service


class WrittenOut(BaseModel):
    """Your examples of one round: `examples` remain, `retracted` were withdrawn; released ones stay."""

    task: str
    round: int
    state: str
    examples: int
    retracted: int


class WrittenList(Page[WrittenOut]):
    """All rounds that you wrote in, on one page."""


class WithdrawalIn(StrictModel):
    """The examples to withdraw: all of a round, of a task, or (with neither) all."""

    task: str | None = Field(None, max_length=60)
    round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    confirm: str = Field(max_length=40, description="Your username: this cannot be undone.")


class WithdrawalOut(BaseModel):
    """The number of withdrawn examples."""

    withdrawn: int


class DeletionIn(StrictModel):
    """The deletion of an account, confirmed by name and password."""

    confirm: str = Field(max_length=40, description="Your username: this cannot be undone.")
    password: str = Field(max_length=1000)
    withdraw_examples: bool = Field(False, description="Whether to take back all that is not released first.")


router = APIRouter(prefix="/api/v1", tags=["accounts"], dependencies=[Depends(scope("account"))])


def require_confirmation(person: Person, name: str) -> None:
    """Refuse a request that the person did not confirm by typing the own username. Raises Invalid."""
    if name.strip() != person.username:
        raise errors.Invalid({"confirm": _("Type your username exactly to confirm.")})


@router.get("/me/examples")
async def count_examples(db: Db, person: Member) -> WrittenList:
    """Counts of your examples, round by round; the examples themselves are listed under each task."""
    rounds_written = await db.aread(written, person.id)
    return WrittenList(
        items=[
            WrittenOut(
                task=written_round.task_id,
                round=written_round.number,
                state=written_round.state,
                examples=written_round.examples,
                retracted=written_round.retracted,
            )
            for written_round in rounds_written
        ]
    )


@router.get("/me/data", dependencies=[Depends(limited("own data", 20, 3600))], response_class=StreamingResponse)
@needs("account")
async def read_own_data(db: Db, person: Member) -> StreamingResponse:
    """Everything that is stored about you, as one JSON file: a list of objects for each section."""
    return own_data.download_own_data(db, person.id)


@router.post("/me/withdrawal")
async def withdraw_examples(db: Db, body: WithdrawalIn, person: Member) -> WithdrawalOut:
    """Take back all that you wrote in a round, in a task, or at all. Rounds that are released stay as they are."""
    require_confirmation(person, body.confirm)
    if body.round is not None and body.task is None:
        raise errors.Invalid({"task": _("Give the task of the round.")})
    return WithdrawalOut(withdrawn=await db.awrite(service.withdraw_own_examples, person, body.task, body.round))


@router.post("/me/deletion", status_code=204)
async def end_account(request: Request, settings: AppSettings, db: Db, body: DeletionIn, person: Member) -> None:
    """Delete your account, at once and for good."""
    require_confirmation(person, body.confirm)
    if not await login.confirm_password(request, person, body.password):
        raise errors.Invalid({"password": login.refusal_text(person)})
    await db.awrite(service.delete_own_account, settings, person.id, withdraw_examples=body.withdraw_examples)
