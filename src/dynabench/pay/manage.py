"""The owner's pages of pay: a round's scheme, its costs and people, a person's payments, and files for accounting."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.pay import costs, exports, reading, service
from dynabench.pay.api import decide_payments
from dynabench.pay.exports import money_text
from dynabench.pay.schemas import PayDecisionIn
from dynabench.pay.scheme import Scheme, parse_scheme, read_scheme, write_scheme
from dynabench.people.accounts.tables import Person
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.schemas import Number

router = APIRouter()
SECTION = "payments"
PEOPLE_SHOWN = 500
ONE_CLICK = ("approve", "retry")
"""Acts that may be done for everybody at once."""
FIELDS = (
    *("currency", "per_example", "paid_examples", "per_fooling", "per_vote", "per_blind_answer", "blind_answers"),
    *("base.amount", "base.examples", "base.votes", "bonus.confidence.amount", "bonus.confidence.at_least"),
    *("bonus.targets.amount",),
    *("caps.amount", "caps.examples", "caps.votes", "guard.wage", "guard.action", "budget", "approval_limit"),
)
"""The fields of the scheme's form, by the dotted names of its document."""
PARTS = {
    "base": "amount",
    "bonus.confidence": "amount",
    "bonus.targets": "amount",
    "guard": "wage",
}
"""Parts of the document that are left out where this field of theirs is empty."""
RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Done = Annotated[str, Query(max_length=20)]


@router.get("/tasks/{task}/manage/payments", name="manage_payments")
async def payments(
    request: Request, task: str, owner: TaskOwner, number: RoundNumber = None, done: Done = "", count: int = 0
) -> Response:
    """Costs, budget, people and what is due, of one round."""
    return await _payments_page(request, task, owner, number, done=done, count=count)


async def _payments_page(
    request: Request, task: str, owner: Person, number: int | None, /, *, status: int = 200, **more: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        numbers = reading.paying_rounds(session, task)
        chosen = number or next((n for n, pays in numbers.items() if pays), next(iter(numbers), None))
        values: dict[str, Any] = {"numbers": list(numbers), "number": chosen, "scheme": None, "people": []}
        if chosen is None:
            return values
        round_, scheme = reading.owned_round(session, owner, task, chosen)
        if scheme is None:
            return values
        people = reading.list_people(session, round_, scheme)
        return values | {
            "scheme": scheme,
            "costs": costs.read_costs(session, round_),
            "people": people[:PEOPLE_SHOWN],
            "people_count": len(people),
            "spread": reading.spread_of(people),
            "sums": reading.count_by_state(session, round_.id),
        }

    defaults = {"errors": {}, "done": "", "count": 0, "typed": {"reason": "", "reference": ""}, "chosen": ()}
    values = defaults | await request.app.state.db.aread(read) | more
    values |= {"money": money_text, "states": reading.STATE_NAMES, "kinds": reading.KIND_NAMES}
    return await frame.console_page(request, task, "pay/manage/payments.html", SECTION, status=status, **values)


@router.post("/tasks/{task}/manage/payments/{n}/decide", name="decide_payments")
async def decide(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Approve, hold, release, mark as paid or try again, for the people who are ticked; `all` stands for everybody."""
    form = await request.form()
    body = _decision(form)
    try:
        decision = await db.awrite(decide_payments, owner, task, n, body)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = {"reason": body.reason, "reference": body.reference}
        ticked = set(body.people or ())
        return await _payments_page(request, task, owner, n, typed=typed, chosen=ticked, **rejection(problem, "people"))
    done = "waiting" if decision.waiting else body.act
    query = {"round": n, "done": done, "count": decision.waiting or decision.count}
    return redirect(request, "manage_payments", task=task, query=query, anchor="people-title")


def _decision(form: FormData) -> PayDecisionIn:
    act = str(form.get("act", ""))
    people = [int(str(value)) for value in form.getlist("people")[:10_000] if str(value).isdecimal()]
    values: dict[str, Any] = {name: str(form.get(name, ""))[:500] for name in ("reason", "reference")}
    values["reference"] = values["reference"][:200]
    if act not in ("approve", "hold", "release", "paid", "retry"):
        raise errors.Invalid({"act": _("Choose what to do.")})
    everybody = bool(form.get("all")) and act in ONE_CLICK
    return PayDecisionIn.model_validate({"act": act, "people": None if everybody else people, **values})


@router.post("/tasks/{task}/manage/payments/{n}/booking", name="book_payments")
async def book_now(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Ask the worker to book what was earned now."""
    try:
        await db.awrite(service.update_now, owner, task, n)
    except errors.Conflict as problem:
        return await _payments_page(request, task, owner, n, **rejection(problem, "people"))
    return redirect(request, "manage_payments", task=task, query={"round": n, "done": "booking"})


@router.get("/tasks/{task}/manage/payments/{n}/people/{id}", name="person_payments")
async def person_payments(
    request: Request, task: str, n: Number, id: RowId, owner: TaskOwner, done: Done = ""
) -> Response:
    """All payments of one person in a round, each of which may be cancelled."""
    return await _person_page(request, task, n, id, owner, done=done)


async def _person_page(
    request: Request, task: str, n: int, id: int, owner: Person, /, *, status: int = 200, **more: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        round_, scheme = reading.owned_round(session, owner, task, n)
        person = session.get(Person, id)
        lines = reading.list_lines(session, round_.id, person_id=id)
        if person is None or scheme is None or not lines:
            raise errors.NotFound(_("This person has no payments in this round."))
        return {"person_name": person.public_name, "person_id": id, "lines": lines[::-1], "number": n}

    values = {"errors": {}, "typed": "", "done": "", "cancelled_id": 0} | await request.app.state.db.aread(read) | more
    values |= {"money": money_text, "states": reading.STATE_NAMES, "kinds": reading.KIND_NAMES}
    values["open_states"] = service.OPEN_STATES
    return await frame.console_page(request, task, "pay/manage/person.html", SECTION, status=status, **values)


@router.post("/tasks/{task}/manage/payments/{n}/people/{id}/cancel/{payment}", name="cancel_payment")
async def cancel(
    request: Request,
    db: Db,
    task: str,
    n: Number,
    id: RowId,
    payment: RowId,
    owner: TaskOwner,
    reason: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Cancel one payment for a reason that the person reads."""
    try:
        await db.awrite(service.cancel, owner, task, n, [payment], reason)
    except (errors.Invalid, errors.Conflict) as problem:
        return await _person_page(
            request, task, n, id, owner, cancelled_id=payment, typed=reason, **rejection(problem, "reason")
        )
    return redirect(request, "person_payments", task=task, n=n, id=id, query={"done": "cancelled"})


@router.get("/tasks/{task}/manage/payments/{n}/payments.csv", name="download_payments")
async def download_payments(db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """The ledger of a round as a file, with exact decimals."""

    def read(session: Session) -> list[Any]:
        round_, _scheme = reading.owned_round(session, owner, task, n)
        return list(exports.payment_rows(session, round_.id))

    return csv_response(f"{task}-round-{n}-payments.csv", exports.PAYMENT_COLUMNS, await db.aread(read))


@router.get("/tasks/{task}/manage/payments/{n}/people.csv", name="download_paid_people")
async def download_people(db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Everybody who worked in a round, with earnings, time and hourly pay, as a file."""

    def read(session: Session) -> list[Any]:
        round_, scheme = reading.owned_round(session, owner, task, n)
        people = reading.list_people(session, round_, scheme) if scheme else []
        return list(exports.people_rows(people, scheme.currency)) if scheme else []

    return csv_response(f"{task}-round-{n}-pay.csv", exports.PEOPLE_COLUMNS, await db.aread(read))


@router.get("/tasks/{task}/manage/rounds/{n}/pay", name="manage_scheme")
async def scheme_page(request: Request, task: str, n: Number, owner: TaskOwner, done: Done = "") -> Response:
    """The payment scheme of a round, as a form and as YAML."""
    return await _scheme_page(request, task, n, owner, done=done)


async def _scheme_page(
    request: Request, task: str, n: int, owner: Person, /, *, status: int = 200, **more: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        _round, scheme = reading.owned_round(session, owner, task, n)
        document = scheme.document() if scheme else {}
        return {
            "values": _flat(document),
            "source": write_scheme(document) if scheme else "",
            "has_scheme": bool(scheme),
        }

    values = {"errors": {}, "done": "", "number": n} | await request.app.state.db.aread(read) | more
    return await frame.console_page(request, task, "pay/manage/scheme.html", "rounds", status=status, **values)


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """The document as the fields of the form."""
    values: dict[str, str] = {} if prefix else dict.fromkeys(FIELDS, "")
    for name, value in document.items():
        if isinstance(value, Mapping):
            values |= _flat(value, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = str(value)
    return values


@router.post("/tasks/{task}/manage/rounds/{n}/pay", name="save_scheme")
async def save_scheme(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Save the scheme from the form, or from `source` where that was sent."""
    form = await request.form()
    posted = {name: str(form.get(name, "")).strip()[:60] for name in FIELDS}
    source = str(form.get("source", ""))
    from_source = form.get("then") == "source"
    try:
        scheme = read_scheme(source) if from_source else _read_form(posted)
        await db.awrite(service.save_scheme, owner, task, n, scheme)
    except (errors.Invalid, errors.Conflict) as problem:
        fields = {"source": source} if from_source else {"values": posted}
        return await _scheme_page(request, task, n, owner, **fields, **rejection(problem, "scheme"))
    return redirect(request, "manage_scheme", task=task, n=n, query={"done": "saved"})


def _read_form(posted: Mapping[str, str]) -> Scheme:
    document: dict[str, Any] = {}
    for name, text in posted.items():
        part = next((part for part in PARTS if name.startswith(f"{part}.")), None)
        if not text or (part and not posted[f"{part}.{PARTS[part]}"]):
            continue
        *path, key = name.split(".")
        inner = document
        for step in path:
            inner = inner.setdefault(step, {})
        inner[key] = text
    if "currency" in document:
        document["currency"] = document["currency"].upper()
    return parse_scheme(document)
