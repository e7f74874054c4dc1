"""The ledger of payments: booked once, claimed once, paid once, on both databases and from many threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from dynabench.kit.errors import Conflict
from dynabench.pay import ledger
from dynabench.pay.earnings import earnings
from dynabench.pay.hours import UNMEASURED_MOST, Spell, working_seconds
from dynabench.pay.money import DIGITS, Money, decimal_text, parse_amount
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout, PayoutState
from tests.validation.world import World

THREADS = 8


@pytest.fixture
def world(database) -> World:
    return World(database)


def book(world: World, person: int, amount: int, key: str, kind: PaymentKind = PaymentKind.EXAMPLE) -> Payment:
    return world.db.write(ledger.book, world.round_id, person, kind, Money(amount, "USD"), "work", key)


def approve_all(world: World) -> None:
    def approve(session) -> None:
        for payment in session.scalars(select(Payment).where(Payment.state == PaymentState.DUE)):
            payment.state = PaymentState.APPROVED

    world.db.write(approve)


def at_once(function: Callable[[int], object]) -> list[object]:
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> object:
        barrier.wait()
        return function(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.slow
def test_many_who_book_and_claim_the_same_keys_do_it_once(world):
    people = [world.person().id for _ in range(5)]
    keys = [(person, f"example:{person}:{number}") for person in people for number in range(6)]

    def book_every_key(number: int) -> None:
        turned = keys[number * 3 :] + keys[: number * 3]
        for person, key in turned:
            book(world, person, 25, key)

    at_once(book_every_key)
    approve_all(world)
    claimed = at_once(lambda number: world.db.write(ledger.claim_payments, world.round_id, people))
    payouts = [payout for part in claimed for payout in part]
    assert sorted(payout.person_id for payout in payouts) == people
    assert {payout.amount for payout in payouts} == {150}
    at_once(lambda number: [world.db.write(ledger.record_paid, payout.id, "ref") for payout in payouts])
    count, total = world.db.read(
        lambda session: session.execute(
            select(func.count(), func.sum(Payment.amount)).where(Payment.state == PaymentState.PAID)
        ).one()
    )
    assert (count, total) == (len(keys), 25 * len(keys))


def test_a_key_stands_for_one_payment(world):
    ada, bob = world.person().id, world.person().id
    first = book(world, ada, 100, "example:1")
    assert book(world, ada, 100, "example:1").id == first.id
    for person, amount in ((ada, 101), (bob, 100)):
        with pytest.raises(Conflict):
            book(world, person, amount, "example:1")
    with pytest.raises(ValueError, match="negative"):
        book(world, ada, -1, "example:2")


def test_corrections_lower_a_payout_and_are_never_paid_out_themselves(world):
    ada, bob = world.person().id, world.person().id
    book(world, ada, 100, "example:1")
    book(world, ada, -30, "example:1#1", PaymentKind.ADJUSTMENT)
    book(world, bob, -30, "example:2#1", PaymentKind.ADJUSTMENT)
    approve_all(world)
    (payout,) = world.db.write(ledger.claim_payments, world.round_id)
    assert (payout.person_id, payout.amount, payout.currency) == (ada, 70, "USD")
    book(world, bob, 50, "example:3")
    approve_all(world)
    (payout,) = world.db.write(ledger.claim_payments, world.round_id, [bob])
    assert payout.amount == 20


def test_results_are_recorded_once_and_a_failed_payout_gives_its_payments_back(world):
    ada = world.person().id
    book(world, ada, 100, "example:1")
    approve_all(world)
    (payout,) = world.db.write(ledger.claim_payments, world.round_id)
    assert payout.state == PayoutState.SENDING
    for _ in range(2):
        world.db.write(ledger.record_failed, payout.id, "no such worker")
    with pytest.raises(Conflict):
        world.db.write(ledger.record_paid, payout.id, "late")
    state = world.db.read(lambda session: session.scalars(select(Payment.state)).one())
    assert state == PaymentState.FAILED
    assert world.db.write(ledger.claim_payments, world.round_id) == []  # until an owner tries again
    world.db.write(lambda session: setattr(session.scalars(select(Payment)).one(), "state", PaymentState.APPROVED))
    (again,) = world.db.write(ledger.claim_payments, world.round_id)
    assert again.key != payout.key
    for _ in range(2):
        assert world.db.write(ledger.record_paid, again.id, "R1").state == PayoutState.PAID
    with pytest.raises(Conflict):
        world.db.write(ledger.record_paid, again.id, "R2")
    assert world.db.read(lambda session: session.scalar(select(func.count()).select_from(Payout))) == 2


def test_earnings_are_sums_of_the_ledger_with_the_time_at_work(world):
    author = world.person()
    book(world, author.id, 300, "example:1")
    book(world, author.id, 200, "fooling:1", PaymentKind.FOOLING)
    book(world, author.id, 900, "vote:1", PaymentKind.VOTE)

    def cancel(session) -> None:
        session.scalars(select(Payment).where(Payment.key == "vote:1")).one().state = PaymentState.CANCELLED

    world.db.write(cancel)
    world.example(author, seconds=4000.0, active_seconds=900.0)
    person_earnings = world.db.read(earnings, world.round_id, author.id)
    assert person_earnings.by_kind == {PaymentKind.EXAMPLE: 300, PaymentKind.FOOLING: 200}
    assert (str(person_earnings.total), person_earnings.active_seconds) == ("5.00 USD", 900)
    assert str(person_earnings.hourly) == "20.00 USD"


@given(st.sampled_from(["USD", "JPY", "KWD", "CLF", "IQD"]), st.integers(-(10**12), 10**12))
def test_amounts_are_read_and_written_exactly(currency, minor):
    text = decimal_text(minor, currency)
    assert len(text.partition(".")[2]) == DIGITS.get(currency, 2)
    assert parse_amount(text, currency) == minor


@pytest.mark.parametrize(
    ("text", "currency"),
    [("1.005", "USD"), ("1.000", "EUR"), ("1,000", "USD"),
     ("0.5", "JPY"), ("1.0005", "KWD"), ("1e3", "USD"), ("", "USD"), ("NaN", "USD"), ("1,5", "EUR"),
     ("٣", "USD"), ("99999999999999", "USD")],
)  # fmt: skip
def test_amounts_that_a_currency_does_not_have_are_refused(text, currency):
    with pytest.raises(ValueError):  # noqa: PT011 - the message is for people
        parse_amount(text, currency)


SPELLS = st.lists(
    st.tuples(st.integers(0, 5000), st.none() | st.integers(0, 3000), st.none() | st.integers(-5, 4000)), max_size=8
)


@given(SPELLS)
def test_time_at_work_is_what_was_measured_and_never_more_than_passed(rows):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    spells = [
        Spell(start + timedelta(seconds=end), None if span is None else float(span), active)
        for end, span, active in rows
    ]
    seconds = {second for end, span, _ in rows for second in range(end - (span or 0), end)}
    measured = sum(
        min(span or 0, UNMEASURED_MOST) if active is None else min(max(active, 0), span or 0)
        for _, span, active in rows
    )
    assert working_seconds(spells) == pytest.approx(min(measured, len(seconds)))
