"""One's own work as JSON: how much there is, taking it back, leaving."""

from fastapi import APIRouter, Depends, Request

from dynabench import errors
from dynabench.accounts import entry
from dynabench.accounts.auth import Member, scope
from dynabench.accounts.tables import Person
from dynabench.collection.withdrawal import written
from dynabench.community import schemas, service
from dynabench.db import Database
from dynabench.language import _

router = APIRouter(prefix="/api/v1", tags=["accounts"], dependencies=[Depends(scope("account"))])


def confirmed(person: Person, name: str) -> None:
    """Refuse what was not confirmed by typing one's own username."""
    if name.strip() != person.username:
        raise errors.Invalid({"confirm": _("Type your username exactly to confirm.")})


@router.get("/me/examples")
async def count_examples(request: Request, person: Member) -> schemas.WrittenList:
    """How much you wrote, round by round; your examples themselves are at each task's."""
    db: Database = request.app.state.db
    found = await db.aread(written, person.id)
    return schemas.WrittenList(
        items=[
            schemas.WrittenOut(
                task=each.task_id,
                round=each.number,
                state=each.state,
                examples=each.examples,
                retracted=each.retracted,
            )
            for each in found
        ]
    )


@router.post("/me/withdrawal")
async def withdraw_examples(request: Request, body: schemas.WithdrawalIn, person: Member) -> schemas.WithdrawalOut:
    """Take back all that you wrote in a round, in a task, or at all. Rounds that are released stay as they are."""
    db: Database = request.app.state.db
    confirmed(person, body.confirm)
    if body.round is not None and body.task is None:
        raise errors.Invalid({"task": _("Say which task's round.")})
    return schemas.WithdrawalOut(withdrawn=await db.awrite(service.take_back, person, body.task, body.round))


@router.post("/me/deletion", status_code=204)
async def end_account(request: Request, body: schemas.DeletionIn, person: Member) -> None:
    """Delete your account, at once and for good."""
    db: Database = request.app.state.db
    confirmed(person, body.confirm)
    if not await entry.confirm(request, person, body.password):
        raise errors.Invalid({"password": _("This is not your password.")})
    await db.awrite(service.leave, request.app.state.settings, person.id, withdraw_examples=body.withdraw_examples)
