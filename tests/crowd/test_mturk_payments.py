"""Decisions at Mechanical Turk over its real protocol, and bonuses that are paid once."""

import json
import os
import signal

import pytest

from dynabench.crowd import bonuses, participation, reconciling
from dynabench.crowd.tables import BonusOrder, BonusOrderState
from dynabench.kit import errors
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout
from tests.crowd import mturk_study
from tests.crowd.mturk_study import finished, hit_of
from tests.crowd.study_steps import approve_bonus, part_of, run_jobs
from tests.forked import Forked

turk, settings, draft, study = mturk_study.turk, mturk_study.settings, mturk_study.draft, mturk_study.study


@pytest.mark.slow
def test_an_approval_pays_once_and_qualifies(study, turk, browser, database, settings):
    assignment, _window = finished(turk, study, browser, "AWORKER")
    turk.fail("ApproveAssignment", "lost")
    database.write(participation.decide, None, "nli", study.id, part_of(database, assignment).id, True)
    with pytest.raises(errors.Unavailable):
        run_jobs(database, settings, "decide_participation")
    run_jobs(database, settings, "decide_participation")
    reconciling.reconcile_study(database, settings, study.id)
    assert turk.books.assignments[assignment]["AssignmentStatus"] == "Approved"
    assert turk.books.calls["ApproveAssignment"] == 1
    assert turk.books.qualified == {"3TOOKPART": {"AWORKER"}}
    paid = database.read(lambda session: [(row.kind, row.amount, row.currency) for row in session.query(Payment)])
    assert paid == [(PaymentKind.BASE, 150, "USD")]


@pytest.mark.slow
def test_a_rejection_can_be_taken_back(study, turk, browser, database, settings):
    assignment, window = finished(turk, study, browser)
    part = part_of(database, assignment)
    database.write(participation.decide, None, "nli", study.id, part.id, False, "Not English.")
    run_jobs(database, settings, "decide_participation")
    assert turk.books.assignments[assignment]["RequesterFeedback"] == "Not English."
    assert "Not English." in window.get(study.page).text
    database.write(participation.decide, None, "nli", study.id, part.id, True)
    run_jobs(database, settings, "decide_participation")
    assert turk.books.assignments[assignment]["AssignmentStatus"] == "Approved"


@pytest.mark.slow
def test_an_assignment_of_another_worker_is_not_decided(study, turk, browser, database, settings):
    assignment, _window = finished(turk, study, browser)
    turk.books.assignments[assignment]["WorkerId"] = "ASOMEBODYELSE"
    database.write(participation.decide, None, "nli", study.id, part_of(database, assignment).id, True)
    with pytest.raises(errors.Conflict):
        run_jobs(database, settings, "decide_participation")
    turk.books.assignments[assignment]["AssignmentStatus"] = "Approved"
    reconciling.reconcile_study(database, settings, study.id)
    assert database.read(lambda session: session.query(Payment).count()) == 0


@pytest.mark.slow
def test_the_comparison_finds_automatic_approvals(study, turk, browser, database, settings):
    assignments = [finished(turk, study, browser)[0] for _ in range(2)]
    turk.books.assignments[assignments[0]]["AssignmentStatus"] = "Approved"
    stranger = turk.accept(hit_of(turk))
    turk.submit(f"assignmentId={stranger['assignmentId']}&x=1")
    differences = reconciling.reconcile_study(database, settings, study.id)
    assert (differences.changed, differences.unknown) == (1, 1)
    assert [part_of(database, assignment).state for assignment in assignments] == ["approved", "finished"]
    assert database.read(lambda session: [row.amount for row in session.query(Payment)]) == [150]


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["", "SendBonus lost", "SendBonus busy", "ListBonusPayments busy"])
def test_a_bonus_is_paid_exactly_once_whatever_gets_lost(study, turk, browser, database, settings, failure):
    assignments = [finished(turk, study, browser)[0] for _ in range(2)]
    for number, assignment in enumerate(assignments):
        approve_bonus(database, assignment, Money(75 + number, "USD"), f"bonus-{number}")
    if failure:
        turk.fail(*failure.split())
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    for _ in range(3):
        try:
            bonuses.advance_order(database, settings, order)
        except errors.Unavailable:
            assert failure.startswith("List")
    assert [turk.books.paid(assignment) for assignment in assignments] == [75, 76]
    assert database.read(lambda session: {row.state for row in session.query(Payout)}) == {"paid"}
    assert database.read(lambda session: session.query(BonusOrder).one().state) == BonusOrderState.PAID


@pytest.mark.slow
def test_one_refused_bonus_keeps_no_other_from_being_paid(study, turk, browser, database, settings):
    assignments = [finished(turk, study, browser)[0] for _ in range(2)]
    for number, assignment in enumerate(assignments):
        approve_bonus(database, assignment, Money(75 + number, "USD"), f"bonus-{number}")
    turk.fail("SendBonus", "refuse")
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.PAID
    assert sorted(turk.books.paid(assignment) for assignment in assignments) in ([0, 75], [0, 76])
    states = database.read(lambda session: sorted(row.state for row in session.query(Payment)))
    assert states == [PaymentState.FAILED, PaymentState.PAID]
    assert "insufficient funds" in database.read(lambda session: session.query(BonusOrder).one().problem)


@pytest.mark.slow
def test_bonuses_in_another_currency_are_refused(study, turk, browser, database, settings):
    assignment, _window = finished(turk, study, browser)
    approve_bonus(database, assignment, Money(75, "GBP"), "bonus")
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.REFUSED
    assert not turk.books.bonuses


ADVANCE = """
import json, sys
from dynabench.crowd import bonuses
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
settings = Settings(**json.loads(sys.argv[2]))
bonuses.advance_order(Database(settings.url), settings, int(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_process_killed_between_two_bonuses_pays_each_once(study, turk, browser, database, settings, tmp_path):
    assignments = [finished(turk, study, browser)[0] for _ in range(2)]
    for number, assignment in enumerate(assignments):
        approve_bonus(database, assignment, Money(75 + number, "USD"), f"bonus-{number}")
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    turk.fail("SendBonus", "hang")
    values = json.dumps(settings.model_dump(mode="json", exclude_defaults=True))
    process = Forked([str(order), values], os.environ, tmp_path / "process.log", ADVANCE)
    try:
        assert turk.reached.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    turk.released.set()
    assert len(turk.books.bonuses) == 1
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.PAID
    assert [turk.books.paid(assignment) for assignment in assignments] == [75, 76]
    assert turk.books.calls["SendBonus"] == 2
