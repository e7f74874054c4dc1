"""Pay as JSON: schemes, costs, people, the ledger and decisions for owners; one's own pay for everybody."""

from collections.abc import Callable

from fastapi import APIRouter, Depends
from sqlalchemy.orm import Session

from dynabench.kit.api import After, Db, Limit
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.pay import costs, reading, service
from dynabench.pay.money import Money
from dynabench.pay.schemas import (
    OwnPayList,
    OwnPayOut,
    PayDecisionIn,
    PayDecisionOut,
    PaymentOut,
    PaymentPage,
    PaySchemeIn,
    PaySchemeOut,
    PersonPayList,
    PersonPayOut,
    RoundPayOut,
)
from dynabench.pay.scheme import parse_scheme
from dynabench.pay.service import Decision
from dynabench.pay.tables import PaymentState, PayScheme
from dynabench.people.accounts.auth import Member, needs, scope
from dynabench.people.accounts.tables import Person
from dynabench.rounds.schemas import Number

router = APIRouter(prefix="/api/v1", tags=["pay"], dependencies=[Depends(scope("annotate"))])


def _scheme_out(row: PayScheme | None) -> PaySchemeOut:
    if row is None:
        return PaySchemeOut(version=None, scheme=None, created_at=None)
    return PaySchemeOut(version=row.number, scheme=row.document, created_at=row.created_at)


@router.get("/tasks/{task}/rounds/{n}/pay/scheme")
@needs("manage")
async def get_scheme(db: Db, task: str, n: Number, person: Member) -> PaySchemeOut:
    """Return the payment scheme of a round (owners)."""

    def read(session: Session) -> PaySchemeOut:
        round_, _code = reading.owned_round(session, person, task, n)
        current = service.scheme_of(session, round_.id)
        return _scheme_out(current[0] if current else None)

    return await db.aread(read)


@router.put("/tasks/{task}/rounds/{n}/pay/scheme")
@needs("manage")
async def put_scheme(db: Db, task: str, n: Number, body: PaySchemeIn, person: Member) -> PaySchemeOut:
    """Set the payment scheme of a round (owners). It counts for the work from now on; repeated it changes nothing."""
    scheme = parse_scheme(body.scheme)
    return await db.awrite(lambda session: _scheme_out(service.save_scheme(session, person, task, n, scheme)))


@router.get("/tasks/{task}/rounds/{n}/pay")
@needs("manage")
async def get_costs(db: Db, task: str, n: Number, person: Member) -> RoundPayOut:
    """Return the costs of a round, its budget and a forecast (owners)."""

    def read(session: Session) -> RoundPayOut:
        round_, _scheme = reading.owned_round(session, person, task, n)
        return RoundPayOut.of(costs.read_costs(session, round_))

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/pay/people")
@needs("manage")
async def list_people(db: Db, task: str, n: Number, person: Member) -> PersonPayList:
    """List everybody who worked in a round with earnings, time and hourly pay (owners)."""

    def read(session: Session) -> PersonPayList:
        round_, scheme = reading.owned_round(session, person, task, n)
        people = reading.list_people(session, round_, scheme) if scheme else []
        return PersonPayList(items=[PersonPayOut.of(row, scheme.currency) for row in people if scheme])

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/pay/payments")
@needs("manage")
async def list_payments(
    db: Db,
    task: str,
    n: Number,
    person: Member,
    state: PaymentState | None = None,
    after: After = None,
    limit: Limit = 50,
) -> PaymentPage:
    """List the ledger of payments of a round (owners)."""

    def read(session: Session) -> PaymentPage:
        round_, _scheme = reading.owned_round(session, person, task, n)
        rows = reading.list_lines(session, round_.id, state=state, after=after or 0, limit=limit + 1)
        return PaymentPage.cut(rows, limit, "id", PaymentOut.of)

    return await db.aread(read)


@router.post("/tasks/{task}/rounds/{n}/pay/booking", status_code=202)
@needs("manage")
async def book_now(db: Db, task: str, n: Number, person: Member) -> None:
    """Book what was earned now (owners); the worker does it every few minutes by itself."""
    await db.awrite(service.update_now, person, task, n)


@router.post("/tasks/{task}/rounds/{n}/pay/decisions")
@needs("manage")
async def decide(db: Db, task: str, n: Number, body: PayDecisionIn, person: Member) -> PayDecisionOut:
    """Approve, hold, release, cancel, mark as paid or try again (owners)."""
    decision = await db.awrite(decide_payments, person, task, n, body)
    plain = decision.amount.plain if decision.amount.currency else "0"
    return PayDecisionOut(count=decision.count, amount=plain, waiting=decision.waiting)


def decide_payments(session: Session, person: Person | None, task: str, n: int, body: PayDecisionIn) -> Decision:
    """Carry out an owner's act on payments."""
    if body.act in ("hold", "release", "paid") and not body.people:
        raise Invalid({"people": _("Choose at least one person.")})
    if body.act == "cancel" and not body.payments:
        raise Invalid({"payments": _("Choose at least one payment.")})
    people = body.people or []
    acts: dict[str, Callable[[], Decision]] = {
        "approve": lambda: service.approve(session, person, task, n, body.people),
        "hold": lambda: service.hold(session, person, task, n, people, body.reason),
        "release": lambda: service.release_hold(session, person, task, n, people),
        "cancel": lambda: service.cancel(session, person, task, n, body.payments, body.reason),
        "retry": lambda: service.try_again(session, person, task, n),
        "paid": lambda: _paid(session, person, task, n, people, body.reference),
    }
    return acts[body.act]()


def _paid(session: Session, person: Person | None, task: str, n: int, people: list[int], reference: str) -> Decision:
    payouts = service.mark_paid(session, person, task, n, people, reference)
    currency = payouts[0].currency if payouts else ""
    return Decision(len(payouts), Money(sum(payout.amount for payout in payouts), currency))


@router.get("/me/pay")
async def get_own_pay(db: Db, person: Member) -> OwnPayList:
    """Return your pay by round, with the time that you worked and your pay per hour."""
    return await db.aread(
        lambda session: OwnPayList(items=[OwnPayOut.of(pay) for pay in reading.own_pay(session, person)])
    )
