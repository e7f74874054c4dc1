"""Pay in an archive: the versions of rounds' schemes, the ledger and payouts, by pseudonym.

References and problems of payouts are left out, since they can name submissions at a crowd platform. What is brought
in is a record: nothing more is booked from an imported scheme, and a payment that was not paid when the archive was
written is held, so that no work is paid twice.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel, field_validator
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection import queries as collected
from dynabench.collection.tables import Example
from dynabench.datasets.archives.layout import ArchivePart
from dynabench.datasets.archives.records import PERSON, UNSTORED, RecordSource, RecordTarget
from dynabench.datasets.rows import Moment, format_moment
from dynabench.kit.language import _
from dynabench.pay.booking import IMPORTED
from dynabench.pay.money import LARGEST
from dynabench.pay.scheme import Scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout, PayoutState, PayScheme
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from dynabench.validation.tables import Validation

FINAL = frozenset({PaymentState.PAID, PaymentState.CANCELLED})
VOTE, PERSONAL = "vote", ("base", "top_up")
"""Names of the work of a payment: a vote, and what is paid to the person; all others are an example's."""

Name = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
Amount = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Sentence = Annotated[str, Field(max_length=2000)]


class ArchivedScheme(ArchivePart):
    """A version of a round's payment scheme."""

    kind: Literal["scheme"]
    round: Number
    number: Number
    document: dict[str, Any]
    created_at: Moment

    @field_validator("document")
    @classmethod
    def _check_scheme(cls, document: dict[str, Any]) -> dict[str, Any]:
        Scheme.model_validate(document)
        return document


class ArchivedPayout(ArchivePart):
    """A payout; payments name it by its `number` in the list."""

    kind: Literal["payout"]
    number: Number
    round: Number
    person: Name
    amount: Amount
    currency: Currency
    reason: Sentence
    state: PayoutState
    created_at: Moment
    settled_at: Moment | None


class ArchivedWork(ArchivePart):
    """The work that a payment is for; `example` is null for what is paid to the person."""

    name: Annotated[str, Field(pattern=r"^[a-z_]{1,20}$")]
    example: Annotated[str, Field(max_length=64)] | None = None


class ArchivedPayment(ArchivePart):
    """A line of the ledger; `number` is its place."""

    kind: Literal["payment"]
    number: Number
    round: Number
    person: Name
    payment: PaymentKind
    amount: Amount
    currency: Currency
    reason: Sentence
    work: ArchivedWork | None
    state: PaymentState
    decision: Sentence
    payout: Number | None
    at: Moment


class PayRecord(RootModel[ArchivedScheme | ArchivedPayout | ArchivedPayment]):
    """A row of the list."""

    root: Annotated[ArchivedScheme | ArchivedPayout | ArchivedPayment, Field(discriminator="kind")]


RECORD = PayRecord


def write_records(source: RecordSource) -> Iterator[dict[str, Any]]:
    """Yield schemes, then payouts, then the ledger."""
    session, rounds = source.session, _rounds(source.session, source.task_id)
    mine = list(rounds)
    schemes = select(PayScheme).where(PayScheme.round_id.in_(mine)).order_by(PayScheme.id)
    ordered = sorted(session.scalars(schemes), key=lambda row: (rounds[row.round_id], row.number))
    for scheme in ordered:
        yield {"kind": "scheme", "round": rounds[scheme.round_id], "number": scheme.number,
               "document": scheme.document, "created_at": format_moment(scheme.created_at)}  # fmt: skip
    numbers: dict[int, int] = {}
    payouts = select(Payout, *PERSON).join(Person, Person.id == Payout.person_id)
    for row in session.execute(payouts.where(Payout.round_id.in_(mine)).order_by(Payout.id)):
        payout = row.Payout
        numbers[payout.id] = len(numbers) + 1
        yield {
            "kind": "payout", "number": numbers[payout.id], "round": rounds[payout.round_id],
            "person": source.name(row), "amount": payout.amount, "currency": payout.currency, "reason": payout.reason,
            "state": payout.state, "created_at": format_moment(payout.created_at),
            "settled_at": format_moment(payout.settled_at) if payout.settled_at else None,
        }  # fmt: skip
    payments = select(Payment, *PERSON).join(Person, Person.id == Payment.person_id)
    payments = payments.where(Payment.round_id.in_(mine)).order_by(Payment.id)
    examples = _examples_by_item(session, mine)
    for number, row in enumerate(session.execute(payments), start=1):
        line = row.Payment
        yield {
            "kind": "payment", "number": number, "round": rounds[line.round_id], "person": source.name(row),
            "payment": line.kind, "amount": line.amount, "currency": line.currency, "reason": str(line.reason),
            "work": _work(line.item, examples), "state": line.state, "decision": str(line.decision),
            "payout": numbers.get(line.payout_id), "at": format_moment(line.at),
        }  # fmt: skip


def _rounds(session: Session, task_id: str) -> dict[int, int]:
    rows = session.execute(select(Round.id, Round.number).where(Round.task_id == task_id))
    return {row.id: row.number for row in rows}


def _examples_by_item(session: Session, round_ids: list[int]) -> Mapping[tuple[bool, int], str]:
    """The names of the examples that votes (True) and examples (False) of rounds are of; concealed ones have none."""
    visible = (Example.round_id.in_(round_ids), ~collected.concealed(Example.id.expression))
    examples = {(False, row.id): row.uid for row in session.execute(select(Example.id, Example.uid).where(*visible))}
    votes = select(Validation.id, Example.uid).join(Example, Example.id == Validation.example_id).where(*visible)
    return examples | {(True, row.id): row.uid for row in session.execute(votes)}


def _work(item: str, examples: Mapping[tuple[bool, int], str]) -> dict[str, Any] | None:
    name, _colon, number = item.partition(":")
    if name in PERSONAL:
        return {"name": name, "example": None}
    uid = examples.get((name == VOTE, int(number))) if number.isdigit() else None
    return {"name": name, "example": uid} if uid else None


def store_records(target: RecordTarget, rows: Sequence[tuple[int, PayRecord]]) -> list[tuple[int, str]]:
    """Store the rows; those of a round that is not here are returned."""
    records = [(number, row.root) for number, row in rows]
    round_ids = {number: id for id, number in _rounds(target.session, target.task_id).items()}
    people = target.people(record.person for _number, record in records if not isinstance(record, ArchivedScheme))
    works = [record.work for _number, record in records if isinstance(record, ArchivedPayment) and record.work]
    examples = target.examples(work.example for work in works)
    unstored = []
    for number, record in records:
        round_id = round_ids.get(record.round)
        if round_id is None:
            unstored.append((number, str(_(UNSTORED))))
        elif isinstance(record, ArchivedScheme):
            values = record.model_dump(exclude={"kind", "round"})
            target.session.add(PayScheme(**values, round_id=round_id, fingerprint=IMPORTED))
        elif isinstance(record, ArchivedPayout):
            _store_payout(target, record, round_id, people[record.person])
        else:
            _store_payment(target, record, round_id, people[record.person], examples)
    target.session.flush()
    return unstored


def _key(task_id: str, kind: str, number: int) -> str:
    return "import-" + hashlib.sha256(f"{task_id}\0{kind}\0{number}".encode()).hexdigest()[:40]


def _store_payout(target: RecordTarget, record: ArchivedPayout, round_id: int, person: int) -> None:
    values = record.model_dump(exclude={"kind", "round", "person", "number", "state"})
    state = PayoutState.FAILED if record.state is PayoutState.SENDING else record.state
    key = _key(target.task_id, "payout", record.number)
    target.session.add(Payout(**values, round_id=round_id, person_id=person, state=state, key=key))


def _store_payment(
    target: RecordTarget, record: ArchivedPayment, round_id: int, person: int, examples: dict[str, int]
) -> None:
    session, payout_id = target.session, None
    if record.payout is not None:
        session.flush()
        key = _key(target.task_id, "payout", record.payout)
        payout_id = session.scalar(select(Payout.id).where(Payout.key == key))
    held = record.state not in FINAL
    session.add(
        Payment(
            round_id=round_id,
            person_id=person,
            kind=record.payment,
            amount=record.amount,
            currency=record.currency,
            reason=record.reason,
            item=_item(session, record.work, round_id, person, examples),
            key=_key(target.task_id, "payment", record.number),
            state=PaymentState.HELD if held else record.state,
            decision=record.decision or (_("Imported. It is paid, or not, where it was earned.") if held else ""),
            payout_id=payout_id,
            at=record.at,
        )
    )


def _item(session: Session, work: ArchivedWork | None, round_id: int, person: int, examples: dict[str, int]) -> str:
    if work is None:
        return ""
    if work.example is None:
        return f"{work.name}:{round_id}:{person}" if work.name in PERSONAL else ""
    example_id = examples.get(work.example)
    if example_id is None or work.name != VOTE:
        return f"{work.name}:{example_id}" if example_id else ""
    mine = (Validation.example_id == example_id, Validation.person_id == person)
    vote_id = session.scalar(select(Validation.id).where(*mine).order_by(Validation.id.desc()).limit(1))
    return f"{VOTE}:{vote_id}" if vote_id else ""
