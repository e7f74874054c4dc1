"""Booking follows the work and the verdicts, may be repeated at any moment, and keeps budgets and approvals."""

import pytest
from sqlalchemy import func, select

from dynabench.kit.db import now
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.pay import booking, costs, ledger, limits, service
from dynabench.pay.earnings import earnings
from dynabench.pay.scheme import parse_scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, PayScheme
from dynabench.people.accounts.tables import Notice
from dynabench.rounds import planning
from dynabench.rounds.tables import Round
from tests.jobs.conftest import Worker, until
from tests.jobs.conftest import worker as worker
from tests.validation.world import World

SCHEME = {"currency": "USD", "per_example": "0.30", "per_fooling": "0.70", "per_vote": "0.05"}


@pytest.fixture
def world(database) -> World:
    return World(database)


def set_scheme(world: World, **parts: object) -> PayScheme:
    return world.db.write(service.save_scheme, world.owner, world.task, 1, parse_scheme(SCHEME | parts))


def book(world: World) -> int:
    def run(session) -> int:
        return booking.book_people(session, world.round_id, booking.people_to_book(session, world.round_id, 0, 1000))

    return world.db.write(run)


def lines(world: World, person: int) -> list[tuple[str, int, str]]:
    statement = select(Payment.item, Payment.amount, Payment.state).where(Payment.person_id == person)
    return world.db.read(lambda session: [tuple(row) for row in session.execute(statement.order_by(Payment.id))])


def test_payment_follows_the_verdict_and_corrections_lower_what_is_not_paid(world):
    set_scheme(world)
    author, ann, bob = (world.person() for _ in range(3))
    example = world.example(author)
    assert book(world) == 1
    for validator in (ann, bob):
        world.vote(validator, example, "correct")
    assert book(world) == 3
    assert book(world) == 0  # repeated
    assert lines(world, author.id) == [(f"example:{example}", 30, "due"), (f"fooling:{example}", 70, "due")]
    assert [amount for _item, amount, _state in lines(world, ann.id)] == [5]
    world.vote(world.owner, example, "incorrect", owner=True)
    book(world)
    assert lines(world, author.id)[2:] == [(f"fooling:{example}", -70, "due")]
    world.db.write(service.approve, world.owner, world.task, 1)
    payouts = world.db.write(ledger.claim_payments, world.round_id)
    assert {payout.person_id: payout.amount for payout in payouts} == {author.id: 30, ann.id: 5, bob.id: 5}


def test_what_was_paid_is_taken_back_only_by_an_owners_decision(world):
    set_scheme(world)
    author = world.person()
    example = world.example(author)
    book(world)
    world.db.write(service.approve, world.owner, world.task, 1)
    (payout,) = world.db.write(service.mark_paid, world.owner, world.task, 1, [author.id], "transfer 7")
    assert payout.amount == 30
    notices = select(Notice.text).where(Notice.person_id == author.id)
    assert "0.30 USD" in world.db.read(lambda session: session.scalars(notices).one())
    world.retract(example)
    book(world)
    assert lines(world, author.id)[1:] == [(f"example:{example}", -30, "held")]
    world.example(author)
    book(world)
    world.db.write(service.approve, world.owner, world.task, 1)
    (second,) = world.db.write(service.mark_paid, world.owner, world.task, 1, [author.id], "transfer 8")
    assert second.amount == 30  # the held correction did not lower it
    correction = world.db.read(lambda session: session.scalars(select(Payment.id).where(Payment.amount < 0)).one())
    world.db.write(service.cancel, world.owner, world.task, 1, [correction], "Paid in good faith.")
    assert book(world) == 0  # a decision stays


def test_a_payment_that_an_owner_cancelled_is_not_booked_again(world):
    set_scheme(world)
    author = world.person()
    world.example(author)
    book(world)
    payment = world.db.read(lambda session: session.scalars(select(Payment.id)).one())
    with pytest.raises(Invalid):
        world.db.write(service.cancel, world.owner, world.task, 1, [payment], " ")
    world.db.write(service.cancel, world.owner, world.task, 1, [payment], "Copied text.")
    assert book(world) == 0
    assert world.db.read(earnings, world.round_id, author.id).total.minor == 0


def test_work_is_paid_by_the_version_of_its_time_and_promises_stay(world):
    set_scheme(world, caps={"amount": "5"})
    author = world.person()
    first = world.example(author)
    book(world)
    set_scheme(world, per_example="0.10", caps={"amount": "5"})
    second = world.example(author)
    book(world)
    assert [(item, amount) for item, amount, _ in lines(world, author.id)] == [
        (f"example:{first}", 30),
        (f"example:{second}", 10),
    ]
    for worse in ({"caps": {"amount": "4"}}, {"caps": {"examples": 1}}, {"currency": "EUR", "caps": {"amount": "5"}}):
        with pytest.raises(Invalid):
            set_scheme(world, **worse)
    set_scheme(world)  # without the cap


def test_beyond_the_limit_a_second_owner_approves(world):
    set_scheme(world, approval_limit="0.50")
    authors = [world.person() for _ in range(3)]
    for author in authors:
        world.example(author)
    world.example(world.owner, source="expert")
    book(world)
    decide = world.db.write
    assert decide(service.approve, world.owner, world.task, 1, [authors[0].id]).waiting == 0
    # Small parts do not get around the limit.
    assert decide(service.approve, world.owner, world.task, 1, [authors[1].id]).waiting == 1
    assert decide(service.approve, world.owner, world.task, 1).waiting == 1
    assert decide(service.approve, world.owner, world.task, 1).count == 0
    # Nobody approves a payment to themselves.
    assert lines(world, world.owner.id)[0][2] == PaymentState.DUE
    other = world.person(role="owner")
    assert decide(service.approve, other, world.task, 1, [author.id for author in authors]).count == 2
    states = [lines(world, author.id)[0][2] for author in authors]
    assert states == [PaymentState.APPROVED] * 3
    with pytest.raises(Forbidden):
        decide(service.approve, authors[0], world.task, 1)


def test_held_payments_are_not_paid_until_released(world):
    set_scheme(world)
    author = world.person()
    world.example(author)
    book(world)
    world.db.write(service.hold, world.owner, world.task, 1, [author.id], "Checking for copies.")
    assert world.db.write(service.approve, world.owner, world.task, 1).count == 0
    world.db.write(service.release_hold, world.owner, world.task, 1, [author.id])
    assert world.db.write(service.approve, world.owner, world.task, 1).count == 1


def test_a_budget_ends_writing_before_anybody_works_unpaid(world):
    # An example costs at most 0.30 + 0.70 + 5 votes of 0.05.
    set_scheme(world, budget="3.00")
    limits._recent_commitments.clear()
    writer, late = world.person(), world.person()

    def check(person, *, begun: bool = False) -> None:
        limits._recent_commitments.clear()
        world.db.read(limits.refuse_unpaid_example, person, world.round_id, begun=begun)

    check(writer)
    world.example(writer, at=now())
    check(late)
    world.example(late, at=now())
    with pytest.raises(Conflict, match="budget"):
        check(late)
    check(late, begun=True)  # handed out before the end: it may be sent, and is paid
    validator = world.person()
    world.db.read(limits.refuse_unpaid_vote, validator, world.round_id)  # votes have been set aside


def test_caps_end_work_before_it_would_be_unpaid(world):
    set_scheme(world, caps={"examples": 2, "votes": 1})
    author, validator = world.person(), world.person()
    examples = [world.example(author) for _ in range(2)]
    with pytest.raises(Conflict, match="2 examples"):
        world.db.read(limits.refuse_unpaid_example, author, world.round_id, begun=True)
    world.vote(validator, examples[0], "correct")
    with pytest.raises(Conflict, match="1 votes"):
        world.next(validator)


def test_costs_are_of_examples_with_their_votes(world):
    set_scheme(world, budget="100")
    author, ann, bob = (world.person() for _ in range(3))
    for _ in range(2):
        example = world.example(author)
        for validator in (ann, bob):
            world.vote(validator, example, "correct")
    world.example(world.person())
    book(world)
    figures = world.db.read(lambda session: costs.read_costs(session, session.get_one(Round, world.round_id)))
    assert figures.by_kind == {PaymentKind.EXAMPLE: 90, PaymentKind.FOOLING: 140, PaymentKind.VOTE: 20}
    line = figures.lines[0]
    assert (line.total, dict(line.counts)) == (250, {"examples": 3, "validated": 2, "verified": 2})
    assert line.per["verified"].value == pytest.approx(125)
    assert figures.forecast.per_day == 250


def test_a_draft_is_deleted_with_its_scheme(world):
    set_scheme(world)
    world.state("draft")
    world.db.write(planning.discard_draft, world.owner, world.task, 1)
    assert world.db.read(lambda session: session.scalars(select(PayScheme)).all()) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_booking_that_is_killed_goes_on_and_books_each_line_once(world, worker: Worker):
    set_scheme(world)
    authors = [world.person() for _ in range(120)]
    for author in authors:
        world.example(author)
    world.db.write(service.request_booking, world.round_id)

    def count() -> int:
        return world.db.read(lambda session: session.scalar(select(func.count()).select_from(Payment)))

    def finished() -> bool:
        return world.db.read(lambda session: session.scalar(select(PayScheme.fingerprint))) != ""

    worker.start()
    until(count)
    worker.end()
    world.db.write(service.request_booking, world.round_id)  # and once more, beside the one that is resumed
    worker.start()
    until(finished)
    until(lambda: count() == len(authors))
    total = world.db.read(lambda session: session.scalar(select(func.sum(Payment.amount))))
    assert total == 30 * len(authors)
