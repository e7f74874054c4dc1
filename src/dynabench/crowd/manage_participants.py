"""The owner's acts on a study's participants: decisions, bonuses, and the file of all."""

from anyio import to_thread
from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.crowd import (
    blocking,
    bonuses,
    participants,
    participation,
    payment_lists,
    studies,
)
from dynabench.crowd.manage import study_page
from dynabench.crowd.participants import Participant
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, csv_response
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds.manage.frame import TaskOwner

router = APIRouter()


@router.post("/tasks/{task}/manage/studies/{id}/bonuses", name="pay_bonuses")
async def pay_bonuses(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """Pay what the ledger has approved for the study's workers as bonuses, or list it where the owner pays by hand."""
    try:
        order, by_hand = await db.awrite(_begin_order, owner, task, id)
    except errors.Conflict as problem:
        return await study_page(request, db, task, owner, id, **rejection(problem, "state"))
    if order and by_hand:
        return redirect(request, "payment_list", task=task, id=id, order=order, query={"done": "listed"})
    return redirect(request, "manage_study", task=task, id=id, query={"done": "paying" if order else "nothing"})


def _begin_order(session: Session, owner: Person, task: str, study_id: int) -> tuple[int, bool]:
    study = studies.owned_study(session, owner, task, study_id)
    by_hand = not studies.provider_of(study).credential_fields
    order = (payment_lists.begin_list if by_hand else bonuses.begin_order)(session, owner, task, study_id)
    return (order.id if order else 0), by_hand


@router.post("/tasks/{task}/manage/studies/{id}/bonuses/{order}/{decision}", name="decide_bonuses")
async def decide_bonuses(
    request: Request, db: Db, task: str, id: RowId, order: RowId, decision: str, owner: TaskOwner
) -> Response:
    """Settle an order that the platform's books do not decide."""
    if decision not in ("paid", "unpaid"):
        raise errors.NotFound(_("This page does not exist."))
    try:
        await db.awrite(bonuses.decide_order, owner, task, id, order, decision == "paid")
    except errors.Conflict as problem:
        return await study_page(request, db, task, owner, id, **rejection(problem, "state"))
    return redirect(request, "manage_study", task=task, id=id, query={"done": "decided"})


@router.post("/tasks/{task}/manage/studies/{id}/participants/{participant}/{decision}", name="decide_participant_form")
async def decide(
    request: Request,
    db: Db,
    task: str,
    id: RowId,
    participant: RowId,
    decision: str,
    owner: TaskOwner,
    reason: Text = "",
) -> Response:
    """Approve or reject a participant who has finished, or shut one out of all work of the platform's account."""
    if decision not in ("approve", "reject", "block"):
        raise errors.NotFound(_("This page does not exist."))
    try:
        if decision == "block":
            settings = request.app.state.settings
            await to_thread.run_sync(blocking.block_worker, db, settings, owner, task, id, participant, reason)
            return redirect(request, "manage_study", task=task, id=id, query={"done": "blocked"})
        await db.awrite(participation.decide, owner, task, id, participant, decision == "approve", reason)
    except (errors.Invalid, errors.Conflict, errors.Unavailable) as problem:
        return await study_page(request, db, task, owner, id, refused=participant, **rejection(problem, "reason"))
    return redirect(request, "manage_study", task=task, id=id, query={"done": "decided"}, anchor=f"p{participant}")


@router.get("/tasks/{task}/manage/studies/{id}/participants.csv", name="download_participants")
async def download_participants(
    request: Request, db: Db, settings: AppSettings, task: str, id: RowId, owner: TaskOwner
) -> Response:
    """All participants of a study, with the platform's ids, for its owners alone."""
    rows = await db.aread(_all_participants, owner, task, id, settings.key)
    return csv_response(f"{task}-study-{id}.csv", participants.CSV_COLUMNS, (participants.csv_row(row) for row in rows))


def _all_participants(session: Session, owner: Person, task: str, study_id: int, key: bytes) -> list[Participant]:
    study = studies.owned_study(session, owner, task, study_id)
    return participants.list_participants(session, study, key, limit=participants.MOST_EXPORTED)
