"""Signals as JSON, for the owners and moderators of a task."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.kit.api import After, Db, Limit
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs, scope
from dynabench.quality.signals import service
from dynabench.quality.signals.error_rates import read_error_rates
from dynabench.quality.signals.service import ShownSignal, SignalFilters
from dynabench.quality.signals.tables import SignalKind, SignalState
from dynabench.validation.validators_api import VoteShareOut

router = APIRouter(prefix="/api/v1", tags=["validation"], dependencies=[Depends(scope("manage"))])

RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]


class SignalOut(BaseModel):
    """A signal about an example; it has no consequence by itself."""

    id: int
    kind: SignalKind
    example: int
    round: int
    author: str
    value: float
    threshold: float
    other: int | None = Field(description="The example that it resembles.")
    facts: dict[str, Any] = Field(description="The numbers behind the value; counts of characters are claims.")
    at: datetime
    state: SignalState
    reason: str
    checked_at: datetime | None


class SignalErrorsOut(BaseModel):
    """Errors of a signal, measured on known data of that name."""

    kind: SignalKind
    data: str
    false_alarms: VoteShareOut
    missed: VoteShareOut


class SignalsOut(BaseModel):
    """A page of signals, newest first; `next` is the `before` of the page after it."""

    items: list[SignalOut]
    next: int | None
    running: bool = Field(description="True while the worker computes signals.")
    error_rates: list[SignalErrorsOut]


class SignalCheckIn(StrictModel):
    """A moderator's check: `fine`, `acted` (with the reason), or `open` to take the check back."""

    state: SignalState
    reason: str = Field("", max_length=4000, description="At most 500 characters; moderators and owners read it.")


def _signal_out(listed: ShownSignal) -> SignalOut:
    signal = listed.signal
    return SignalOut(
        id=signal.id,
        kind=SignalKind(signal.kind),
        example=signal.example_id,
        round=listed.round,
        author=listed.author,
        value=signal.value,
        threshold=signal.threshold,
        other=signal.other_id,
        facts=signal.facts,
        at=signal.at,
        state=SignalState(signal.state),
        reason=signal.reason,
        checked_at=signal.checked_at,
    )


def _rates_out() -> list[SignalErrorsOut]:
    return [
        SignalErrorsOut(
            kind=kind,
            data=row.data,
            false_alarms=VoteShareOut.model_validate(row.false_alarms),
            missed=VoteShareOut.model_validate(row.missed),
        )
        for kind, rows in read_error_rates().items()
        for row in rows
    ]


@router.get("/tasks/{task}/signals")
@needs("manage")
async def list_signals(
    db: Db,
    task: str,
    person: Member,
    kind: SignalKind | None = None,
    state: SignalState | None = None,
    number: RoundNumber = None,
    before: After = None,
    limit: Limit = 50,
) -> SignalsOut:
    """Signals about a task's examples, newest first, with the error rates of signals (owners, moderators)."""

    def read(session: Session) -> SignalsOut:
        filters = SignalFilters(kind, state, number)
        rows = service.list_signals(session, person, task, filters, before, limit + 1)
        following = rows[limit - 1].signal.id if len(rows) > limit else None
        items = list(map(_signal_out, rows[:limit]))
        running = service.is_running(session, task)
        return SignalsOut(items=items, next=following, running=running, error_rates=_rates_out())

    return await db.aread(read)


@router.post("/tasks/{task}/signals", status_code=202)
@needs("manage")
async def compute_signals(db: Db, task: str, person: Member) -> SignalsOut:
    """Have the worker compute the signals of earlier examples too (owners, moderators). Twice changes nothing."""

    def write(session: Session) -> SignalsOut:
        service.request_signals(session, person, task)
        return SignalsOut(items=[], next=None, running=service.is_running(session, task), error_rates=_rates_out())

    return await db.awrite(write)


@router.put("/tasks/{task}/signals/{signal}")
@needs("manage")
async def check_signal(db: Db, task: str, signal: RowId, body: SignalCheckIn, person: Member) -> SignalOut:
    """Record a check of a signal, or take it back (owners, moderators). Nothing else changes."""

    def write(session: Session) -> SignalOut:
        service.check_signal(session, person, task, signal, body.state, body.reason)
        session.flush()
        return _signal_out(service.read_signal(session, person, task, signal))

    return await db.awrite(write)
