"""A person's own work as JSON: counts, withdrawal, deletion of the account."""

from fastapi import APIRouter, Depends, Request

from dynabench.collection.withdrawal import written
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts import login
from dynabench.people.accounts.auth import Member, scope
from dynabench.people.accounts.tables import Person
from dynabench.site.community import schemas, service

router = APIRouter(prefix="/api/v1", tags=["accounts"], dependencies=[Depends(scope("account"))])


def require_confirmation(person: Person, name: str) -> None:
    """Refuse a request that the person did not confirm by typing the own username. Raises Invalid."""
    if name.strip() != person.username:
        raise errors.Invalid({"confirm": _("Type your username exactly to confirm.")})


@router.get("/me/examples")
async def count_examples(request: Request, person: Member) -> schemas.WrittenList:
    """Counts of your examples, round by round; the examples themselves are listed under each task."""
    db: Database = request.app.state.db
    rounds_written = await db.aread(written, person.id)
    return schemas.WrittenList(
        items=[
            schemas.WrittenOut(
                task=written_round.task_id,
                round=written_round.number,
                state=written_round.state,
                examples=written_round.examples,
                retracted=written_round.retracted,
            )
            for written_round in rounds_written
        ]
    )


@router.post("/me/withdrawal")
async def withdraw_examples(request: Request, body: schemas.WithdrawalIn, person: Member) -> schemas.WithdrawalOut:
    """Take back all that you wrote in a round, in a task, or at all. Rounds that are released stay as they are."""
    db: Database = request.app.state.db
    require_confirmation(person, body.confirm)
    if body.round is not None and body.task is None:
        raise errors.Invalid({"task": _("Give the task of the round.")})
    return schemas.WithdrawalOut(
        withdrawn=await db.awrite(service.withdraw_own_examples, person, body.task, body.round)
    )


@router.post("/me/deletion", status_code=204)
async def end_account(request: Request, body: schemas.DeletionIn, person: Member) -> None:
    """Delete your account, at once and for good."""
    db: Database = request.app.state.db
    require_confirmation(person, body.confirm)
    if not await login.confirm_password(request, person, body.password):
        raise errors.Invalid({"password": _("Wrong password.")})
    await db.awrite(
        service.delete_own_account, request.app.state.settings, person.id, withdraw_examples=body.withdraw_examples
    )
