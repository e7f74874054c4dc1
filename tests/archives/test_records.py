"""Records about people survive an archive: onboarding, controls, excluded votes, pay, exposures and declarations."""

import io
import json
from datetime import timedelta

import pyarrow.parquet
import pytest
from sqlalchemy import func, select

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Standing
from dynabench.collection.writing_facts import WritingFacts
from dynabench.communities.inspiration.tables import Inspiration
from dynabench.datasets import exports, parquet, scopes
from dynabench.datasets.archives import layout
from dynabench.kit.db import now
from dynabench.onboarding.tables import OnboardingProgress, Qualification, QuizAnswer, QuizAttempt
from dynabench.pay import booking, jobs, ledger, service
from dynabench.pay.money import Money
from dynabench.pay.scheme import Scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout
from dynabench.rounds.tables import Round, RoundState
from dynabench.validation.controls import items
from dynabench.validation.controls.tables import ControlAnswer, ControlDecision, ControlItem
from dynabench.validation.tables import Undo, Validation, VoteExclusion
from tests.archives.packing import alike, bring, files, packed
from tests.datasets.world import recount, written

NAMES = set(layout.RECORDS)


@pytest.fixture
def busy(world):
    """A world with two examples, and records of every kind about a validator and the author."""
    author, validator = world.person(), world.person()
    first, second = (written(world, author, text) for text in ("It rains.", "It snows."))
    world.vote(world.person(), first, "correct")
    world.vote(validator, first, "incorrect")
    world.vote(world.owner, second, "correct", owner=True)

    def make(session):
        example, other = session.get_one(Example, first), session.get_one(Example, second)
        vote = session.scalars(select(Validation).where(Validation.person_id == validator.id)).one()
        vote.weight = 1.25
        session.add(Undo(validation_id=vote.id, excluded=True))
        session.get_one(Standing, first).votes -= 1
        session.add(VoteExclusion(task_id=world.task, person_id=validator.id, excluded=True, by=world.owner.id))
        later = now() - timedelta(hours=1)
        session.add(Inspiration(handout_id=example.handout_id, example_id=second, round_id=world.round_id,
                                at=session.get_one(Handout, example.handout_id).at))  # fmt: skip
        session.add(WritingFacts(example_id=second, task_id=world.task, person_id=author.id, model_written=True))
        version = session.get_one(Round, world.round_id).version_id
        key = {"task_id": world.task, "person_id": validator.id, "activity": "check"}
        attempts = [
            QuizAttempt(**key, number=number, version=1, version_id=version, drawn=[{"name": "q", "order": [1, 0]}],
                        state=state, right=number - 1)
            for number, state in ((1, "failed"), (2, "passed"))
        ]  # fmt: skip
        gold = items.add_example(session, None, world.task, second)
        own = ControlItem(task_id=world.task, kind="attention", context={}, input={"hypothesis": "Vote no."}, answer={},
                          predictions=[], right_vote="incorrect", source="f.csv", digest="d" * 64,
                          retired_at=later)  # fmt: skip
        session.add_all([*attempts, gold, own])
        session.flush()
        session.add_all([
            QuizAnswer(attempt_id=attempts[0].id, position=0, question="q", option="B", right=False),
            OnboardingProgress(**key, version=1, done="quiz", practised=2, attempts_after=attempts[0].id),
            Qualification(**key, version=1, by_hand=True, granted_by=world.owner.id, expires_at=later),
        ])  # fmt: skip
        answer_controls(session, world, validator, first, second, (gold, own))
        return other.uid, vote.id

    _uid, vote = world.db.write(make)
    world.db.write(pay, world, author, validator, first, vote)
    world.db.write(lambda session: setattr(session.get_one(Round, world.round_id), "state", "closed"))
    return world


def answer_controls(session, world, validator, first, second, controls):
    """Add the validator's answers to a gold item and an attention check, and the pause that followed."""
    gold, own = controls
    later = now() - timedelta(hours=1)
    for number, (control, kind) in enumerate(((gold, "gold"), (own, "attention"))):
        cast = Validation(example_id=first, person_id=validator.id, vote="correct", by_owner=False, values={},
                          at=later + timedelta(minutes=number))  # fmt: skip
        session.add(cast)
        session.flush()
        content = second if control is gold else None
        session.add(Undo(validation_id=cast.id))
        session.add(ControlAnswer(validation_id=cast.id, task_id=world.task, person_id=validator.id, kind=kind,
                                  item_id=control.id, shown_id=content, expected=control.right_vote,
                                  is_right=control is gold))  # fmt: skip
    session.add(ControlDecision(task_id=world.task, person_id=validator.id, consequence="pause", answers=2, right=1,
                                threshold=0.7, last_answer=cast.id))  # fmt: skip


def pay(session, world, author, validator, example, vote):
    scheme = Scheme(currency="EUR", per_example="0.50", per_vote="0.10")
    service.save_scheme(session, None, world.task, 1, scheme)
    lines = [
        (author, PaymentKind.EXAMPLE, 50, f"example:{example}"), (validator, PaymentKind.VOTE, 10, f"vote:{vote}"),
        (author, PaymentKind.BONUS, 7, ""), (author, PaymentKind.BASE, 5, f"base:{world.round_id}:{author.id}"),
    ]  # fmt: skip
    for number, (person, kind, amount, item) in enumerate(lines):
        ledger.book(session, world.round_id, person.id, kind, Money(amount, "EUR"), "For work", f"k{number}", item)
    rows = session.scalars(select(Payment).order_by(Payment.id)).all()
    rows[0].state = PaymentState.APPROVED
    session.flush()
    [payout] = ledger.claim_payments(session, world.round_id, [author.id], reason="Study")
    ledger.record_paid(session, payout.id, "prolific 5f0000000000000000000001")


def comparable(archive):
    """The files of an archive with examples named by their places, and unpaid payments as an import holds them."""
    content = files(archive)
    rows = [json.loads(line) for line in content["pay.jsonl"].splitlines()]
    for row in rows:
        if row["kind"] == "payment" and row["state"] not in ("paid", "cancelled"):
            row["state"], row["decision"] = "held", "Imported. It is paid, or not, where it was earned."
    content["pay.jsonl"] = json.dumps(rows).encode()
    parts = alike(archive, "x")
    for name in ("controls.jsonl", "pay.jsonl"):
        parts[name] = content[name]
        for place, line in enumerate(content[layout.EXAMPLES].splitlines()):
            parts[name] = parts[name].replace(json.loads(line)["uid"].encode(), f"example-{place}".encode())
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_records_come_back_under_pseudonyms(busy, settings, elsewhere, other_settings, tmp_path, where):
    archive = packed(busy.db, settings, "checks")
    assert files(archive).keys() >= NAMES
    assert b"prolific" not in b"".join(files(archive).values())
    db, home = (busy.db, settings) if where == "here" else (elsewhere, other_settings)
    result = bring(db, home, archive, "copy", tmp_path)
    assert (result.refused, result.notes) == ([], {})
    again = packed(db, home, "copy")
    assert comparable(again) == comparable(archive)
    assert bring(db, home, again, "third", tmp_path).refused == []
    assert comparable(packed(db, home, "third")) == comparable(again)
    recount(db, lambda: packed(db, home, "copy"), "copy")


@pytest.mark.slow
def test_imported_figures_are_those_of_the_task_and_nothing_is_paid_again(busy, settings, tmp_path):
    bring(busy.db, settings, packed(busy.db, settings, "checks"), "copy", tmp_path)

    def figures(session, task):
        rounds = select(Round.id).where(Round.task_id == task)
        standing = select(Standing.verdict, Standing.votes).where(Standing.round_id.in_(rounds))
        verdicts = [tuple(row) for row in session.execute(standing.order_by(Standing.example_id))]
        controls = select(func.count(), func.sum(Payment.amount)).where(Payment.round_id.in_(rounds))
        return verdicts, tuple(session.execute(controls).one())

    assert busy.db.read(figures, "copy") == busy.db.read(figures, "checks")
    round_id = busy.db.read(lambda session: session.scalar(select(Round.id).where(Round.task_id == "copy")))
    people = busy.db.read(booking.people_to_book, round_id, 0, 100)
    assert busy.db.write(booking.book_people, round_id, people) == 0
    assert round_id not in busy.db.read(jobs._changed_rounds)
    assert busy.db.write(ledger.claim_payments, round_id) == []
    paid = busy.db.read(lambda s: s.scalar(select(func.count()).select_from(Payout).where(Payout.round_id == round_id)))
    assert paid == 1


def test_what_is_withheld_leaves_with_no_record_of_it(busy, settings):
    def hide(session):
        example = session.scalars(select(Example).order_by(Example.id.desc())).first()
        session.get_one(Standing, example.id).withheld = True
        session.get_one(Round, busy.round_id).state = RoundState.RELEASED
        return example.uid

    uid = busy.db.write(hide)
    content = files(packed(busy.db, settings, "checks"))
    assert all(uid.encode() not in part for part in content.values())
    kinds = [json.loads(line)["kind"] for line in content["controls.jsonl"].splitlines()]
    assert kinds == ["item", "answer", "decision"], "the gold item and its answer went with the example"


def test_parquet_has_the_weights_of_votes(busy, settings):
    busy.db.write(lambda session: session.query(Undo).filter_by(excluded=True).delete())
    scope = busy.db.read(scopes.export_scope, None, "checks")
    content = b"".join(parquet.parquet_stream(exports.read_records(busy.db, settings, scope), scope))
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    weights = [vote["weight"] for votes in table["validations"].to_pylist() for vote in votes]
    assert sorted(weights, key=str) == [1.25, None, None]
    assert table["exact"].null_count == table.num_rows
