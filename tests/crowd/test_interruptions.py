"""Acts of owners and jobs that are cut off between here and Prolific: each is finished, and nothing is paid twice."""

import json
import os
import signal

import pytest

from dynabench.crowd import accounts, bonuses, consent, lifecycle, participation, reconciling, studies
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import BonusOrderState, StudyState
from dynabench.kit import errors
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentState
from tests.crowd import prolific_study
from tests.crowd.conftest import CONSENT, OpenStudy
from tests.crowd.prolific_server import TOKEN
from tests.crowd.prolific_study import finished
from tests.crowd.study_steps import approve_bonus, lead, part_of, run_jobs
from tests.forked import Forked

pytestmark = pytest.mark.slow

prolific, settings, study = prolific_study.prolific, prolific_study.settings, prolific_study.study


def interrupt(database, settings, study, to, at_once=lambda: None):
    """Let the process die in an owner's act, after what is recorded first and perhaps the call."""

    def die(*_arguments):
        at_once()
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifecycle, "_finish", die)
        with pytest.raises(KeyboardInterrupt):
            lead(database, settings, study, to)


@pytest.mark.parametrize("to", [StudyState.PAUSED, StudyState.STOPPED])
@pytest.mark.parametrize("arrived", [True, False])
def test_an_act_that_a_dying_process_left_is_finished_by_the_comparison(
    study, prolific, database, settings, owner, enter, monkeypatch, to, arrived
):
    [row] = prolific.books.studies.values()

    status = {StudyState.PAUSED: "PAUSED", StudyState.STOPPED: "AWAITING REVIEW"}[to]
    interrupt(database, settings, study, to, lambda: row.update(status=status if arrived else "ACTIVE"))
    assert "has not confirmed the last change" in enter(owner).get(study.manage).text
    reconciling.reconcile_study(database, settings, study.id)
    assert row["status"] == (status if arrived else "ACTIVE"), "the act may still be under way"
    monkeypatch.setattr(lifecycle, "INTERRUPTED_AFTER", lifecycle.timedelta(0))
    for _ in range(2):
        reconciling.reconcile_study(database, settings, study.id)
    assert row["status"] == status
    assert "has not confirmed the last change" not in enter(owner).get(study.manage).text


def test_an_interrupted_act_that_the_platform_refuses_is_undone(study, prolific, database, settings, monkeypatch):
    interrupt(database, settings, study, StudyState.PAUSED)
    monkeypatch.setattr(lifecycle, "INTERRUPTED_AFTER", lifecycle.timedelta(0))
    prolific.fail(".*/transition/", "refuse")
    reconciling.reconcile_study(database, settings, study.id)
    assert database.read(lambda session: session.get(studies.Study, study.id).state) == StudyState.PUBLISHED


@pytest.mark.parametrize("how", ["lost", "busy"])
def test_an_interrupted_creation_is_found_again(owner, prolific, database, settings, how):
    def write(session):
        consent.save_text(session, None, "nli", CONSENT)
        accounts.connect_account(session, None, "nli", settings.key, "prolific", "lab", {"token": TOKEN})
        row = studies.draft_study(session, None, "nli", 1, "prolific", StudyPlan("x", {}, {"examples": 1}))
        return OpenStudy(row.id, row.slug)

    study = database.write(write)
    prolific.fail("/studies/", "")
    prolific.books.failures.clear()
    prolific.fail("/studies/", "busy") if how == "busy" else prolific.fail(r"/studies/[a-f0-9]{24}/transition/", "lost")
    with pytest.raises(errors.Unavailable):
        lead(database, settings, study, StudyState.PUBLISHED)
    lead(database, settings, study, StudyState.PUBLISHED)
    assert [row["status"] for row in prolific.books.studies.values()] == ["ACTIVE"]


def test_an_approval_whose_answers_are_all_lost_is_in_the_ledger_with_the_next_comparison(
    study, prolific, browser, database, settings
):
    session_id, _page = finished(prolific, study, browser)
    database.write(participation.decide, None, "nli", study.id, part_of(database, session_id).id, True)
    for _ in range(5):  # as often as the job tries
        prolific.fail(".*/transition/", "lost")
        with pytest.raises(errors.Unavailable):
            run_jobs(database, settings, "decide_participation")
    for _ in range(2):
        reconciling.reconcile_study(database, settings, study.id)
    assert database.read(lambda session: [(row.amount, row.state) for row in session.query(Payment)]) == [
        (150, PaymentState.PAID)
    ]


def test_a_decision_that_another_replaced_is_not_sent(study, prolific, browser, database, settings):
    session_id, _page = finished(prolific, study, browser)
    part = part_of(database, session_id)
    database.write(participation.decide, None, "nli", study.id, part.id, False, "Not English.")
    database.write(participation.decide, None, "nli", study.id, part.id, True)
    run_jobs(database, settings, "decide_participation")
    assert prolific.books.submissions[session_id]["status"] == "APPROVED"
    assert prolific.books.calls["POST /submissions/:id/transition/"] == 1


def test_a_worker_who_returned_is_not_approved_and_the_owner_reads_it(
    study, prolific, browser, database, settings, owner, enter
):
    session_id, _page = finished(prolific, study, browser)
    prolific.books.submissions[session_id]["status"] = "RETURNED"
    database.write(participation.decide, None, "nli", study.id, part_of(database, session_id).id, True)
    with pytest.raises(errors.Conflict):
        run_jobs(database, settings, "decide_participation")
    assert "not confirmed by the platform yet" in enter(owner).get(study.manage).text
    reconciling.reconcile_study(database, settings, study.id)
    assert part_of(database, session_id).state == "returned"
    assert database.read(lambda session: session.query(Payment).count()) == 0


ADVANCE = """
import json, sys
from dynabench.crowd import bonuses
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
settings = Settings(**json.loads(sys.argv[2]))
bonuses.advance_order(Database(settings.url), settings, int(sys.argv[1]))
"""


@pytest.mark.parametrize("step", ["/submissions/bonus-payments/", "/bulk-bonus-payments/.*"])
def test_a_process_killed_while_it_pays_pays_once(study, prolific, browser, database, settings, step, tmp_path):
    session_id, _page = finished(prolific, study, browser)
    approve_bonus(database, session_id, Money(80, "GBP"), "bonus")
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    prolific.fail(step, "hang")
    values = json.dumps(settings.model_dump(mode="json", exclude_defaults=True))
    process = Forked([str(order), values], os.environ, tmp_path / "process.log", ADVANCE)
    try:
        assert prolific.reached.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    prolific.released.set()
    for _ in range(2):
        assert bonuses.advance_order(database, settings, order) == BonusOrderState.PAID
    assert prolific.books.paid(session_id) == 80
    assert prolific.books.calls["POST /bulk-bonus-payments/:id/pay/"] == 1
