"""Prolific over its real protocol, against a local server: studies, confirmation, decisions, bonuses once, webhooks."""

import time
from datetime import UTC, datetime

import pytest

from dynabench.crowd import accounts, bonuses, participation, queries, reconciling, studies
from dynabench.crowd.provider import all_providers
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import BonusOrder, BonusOrderState, CrowdEvent, StudyState
from dynabench.kit import errors
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout
from tests.crowd import prolific_study
from tests.crowd.prolific_server import TOKEN
from tests.crowd.prolific_study import SECRET, external, finished
from tests.crowd.study_steps import approve_bonus, lead, part_of, run_jobs

prolific, settings, study = prolific_study.prolific, prolific_study.settings, prolific_study.study


@pytest.mark.slow
def test_a_study_lives_at_the_platform_as_it_does_here(study, prolific, database, settings):
    [row] = prolific.books.studies.values()
    assert row["status"] == "ACTIVE"
    assert row["reward"] == 150
    assert row["external_study_url"].startswith(f"https://bench.example/studies/{study.slug}?PROLIFIC_PID=")
    for to, status in (
        (StudyState.PAUSED, "PAUSED"),
        (StudyState.PUBLISHED, "ACTIVE"),
        (StudyState.STOPPED, "AWAITING REVIEW"),
    ):
        lead(database, settings, study, to)
        assert row["status"] == status
    assert len(prolific.books.studies) == 1


def test_a_wrong_token_is_refused_before_it_is_kept(settings):
    with pytest.raises(errors.Invalid):
        accounts.check_credentials(settings, "prolific", {"token": "wrong"})


@pytest.mark.slow
def test_the_platform_confirms_who_comes(study, prolific, browser):
    parameters = prolific.reserve(external(prolific))
    forged = parameters | {"PROLIFIC_PID": "a" * 24}
    unknown = parameters | {"SESSION_ID": "b" * 24}
    other = parameters | {"STUDY_ID": "c" * 24}
    for claims, status in ((forged, 403), (unknown, 403), (other, 422), ({"PROLIFIC_PID": "x"}, 422)):
        assert browser().get(study.page, params=claims).status_code == status, claims
    assert browser().get(study.page, params=parameters).status_code == 303
    prolific.fail("/submissions/.*", "busy")
    late = browser().get(study.page, params=parameters)
    assert late.status_code == 503
    assert browser().get(study.page, params=parameters).status_code == 303, "it heals"


@pytest.mark.slow
def test_an_approval_pays_the_reward_once_and_the_ledger_knows(study, prolific, browser, database, settings):
    session_id, _page = finished(prolific, study, browser)
    part = part_of(database, session_id)
    prolific.fail(".*/transition/", "lost")
    database.write(participation.decide, None, "nli", study.id, part.id, True)
    with pytest.raises(errors.Unavailable):
        run_jobs(database, settings, "decide_participation")
    run_jobs(database, settings, "decide_participation")
    reconciling.reconcile_study(database, settings, study.id)
    assert prolific.books.submissions[session_id]["status"] == "APPROVED"
    paid = database.read(lambda session: [(row.kind, row.amount, row.state) for row in session.query(Payment)])
    assert paid == [(PaymentKind.BASE, 150, PaymentState.PAID)]


@pytest.mark.slow
def test_a_rejection_tells_why(study, prolific, browser, database, settings):
    session_id, page = finished(prolific, study, browser)
    part = part_of(database, session_id)
    database.write(participation.decide, None, "nli", study.id, part.id, False, "Not English.", "low_effort")
    run_jobs(database, settings, "decide_participation")
    assert prolific.books.submissions[session_id]["status"] == "REJECTED"
    assert "Not English." in page.get(study.page).text
    assert database.read(lambda session: session.query(Payment).count()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["", "set up lost", "set up busy", "pay lost"])
def test_a_bonus_is_paid_exactly_once_whatever_gets_lost(study, prolific, browser, database, settings, failure):
    sessions = [finished(prolific, study, browser)[0] for _ in range(2)]
    for number, session_id in enumerate(sessions):
        approve_bonus(database, session_id, Money(75 + number, "GBP"), f"bonus-{number}")
    if failure:
        act, how = failure.rsplit(" ", 1)
        prolific.fail("/submissions/bonus-payments/" if act == "set up" else "/bulk-bonus-payments/.*", how)
    assert database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    with pytest.raises(errors.Conflict):
        database.write(bonuses.begin_order, None, "nli", study.id)
    for _ in range(3):
        try:
            run_jobs(database, settings, "pay_bonuses")
        except errors.Unavailable:
            assert failure.startswith("set up")
    assert [prolific.books.paid(session_id) for session_id in sessions] == [75, 76]
    assert database.read(lambda session: {row.state for row in session.query(Payout)}) == {"paid"}
    assert database.read(lambda session: session.query(BonusOrder).one().state) == BonusOrderState.PAID
    assert prolific.books.calls["POST /bulk-bonus-payments/:id/pay/"] == 1


@pytest.mark.slow
def test_two_tasks_of_one_account_do_not_pay_side_by_side(study, prolific, browser, database, settings):
    session_id, _page = finished(prolific, study, browser)
    approve_bonus(database, session_id, Money(75, "GBP"), "bonus")

    def elsewhere(session, account):
        accounts.connect_account(session, None, "sentiment", settings.key, "prolific", account, {"token": TOKEN})
        other = studies.draft_study(session, None, "sentiment", 1, "prolific", StudyPlan("x", {}, {"examples": 1}))
        session.add(BonusOrder(study_id=other.id, payouts=[]))

    def side_by_side(session):
        [account] = session.scalars(queries.credentials("nli", "prolific"))
        elsewhere(session, account.name)
        bonuses.begin_order(session, None, "nli", study.id)

    with pytest.raises(errors.Conflict, match="being paid already"):
        database.write(side_by_side)
    database.write(elsewhere, "another laboratory")
    assert database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)


@pytest.mark.slow
def test_a_second_submission_of_a_worker_leaves_the_first_alone(study, prolific, browser, database, settings):
    session_id, _page = finished(prolific, study, browser)
    prolific.books.submissions[session_id]["status"] = "AWAITING REVIEW"
    worker = prolific.books.submissions[session_id]["participant_id"]
    again = prolific.reserve(external(prolific), worker)
    prolific.books.submissions[again["SESSION_ID"]]["status"] = "RETURNED"
    differences = reconciling.reconcile_study(database, settings, study.id)
    assert differences.unknown == 1
    assert part_of(database, session_id).state == "finished"


@pytest.mark.slow
def test_what_the_books_do_not_show_is_for_the_owner_to_decide(
    study, prolific, browser, database, settings, monkeypatch
):
    session_id, _page = finished(prolific, study, browser)
    approve_bonus(database, session_id, Money(80, "GBP"), "bonus")
    prolific.books.delayed = True
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.SENT
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.SENT
    monkeypatch.setattr(bonuses, "UNDECIDED_AFTER", bonuses.timedelta(0))
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.UNDECIDED
    assert prolific.books.calls["POST /bulk-bonus-payments/:id/pay/"] == 1, "it is never asked for again"
    prolific.books.process()
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.PAID, "late is not lost"
    with pytest.raises(errors.Conflict):
        database.write(bonuses.decide_order, None, "nli", study.id, order, False)


@pytest.mark.slow
def test_a_refused_bonus_gives_its_payments_back(study, prolific, browser, database, settings):
    session_id, _page = finished(prolific, study, browser)
    approve_bonus(database, session_id, Money(80, "GBP"), "bonus")
    prolific.fail("/bulk-bonus-payments/.*", "refuse")
    order = database.write(lambda session: bonuses.begin_order(session, None, "nli", study.id).id)
    assert bonuses.advance_order(database, settings, order) == BonusOrderState.REFUSED
    assert database.read(lambda session: session.query(BonusOrder).one().problem).endswith("Not enough funds.")
    assert database.read(lambda session: session.query(Payment).one().state) == PaymentState.FAILED
    assert prolific.books.paid(session_id) == 0


@pytest.mark.slow
def test_webhooks_count_once_in_any_order_and_forged_ones_never(study, prolific, browser, database, client):
    session_id, _page = finished(prolific, study, browser)
    account = database.read(lambda session: session.query(accounts.CrowdCredentials).one().id)
    address = f"/api/v1/crowd/prolific/{account}/events"

    def post(headers, body):
        return client.post(address, content=body, headers=headers).status_code

    stale = prolific.event(SECRET, session_id, at=time.time() - 60, id="first")
    prolific.books.submissions[session_id]["status"] = "APPROVED"
    headers, body = prolific.event(SECRET, session_id, at=time.time() - 30, id="second")
    assert post(headers | {"X-Prolific-Request-Signature": "x"}, body) == 403
    assert post(headers, body.replace(b"APPROVED", b"REJECTED")) == 403
    assert post(*prolific.event("another secret", session_id)) == 403
    assert post(*prolific.event(SECRET, session_id, at=time.time() - 3600)) == 403, "a replay"
    assert client.post(f"/api/v1/crowd/prolific/{account + 1}/events", content=body, headers=headers).status_code == 404
    for _ in range(2):
        assert post(headers, body) == 204
    assert post(*stale) == 204
    assert part_of(database, session_id).state == "approved", "older news change nothing"
    assert database.read(lambda session: session.query(CrowdEvent).count()) == 2
    assert database.read(lambda session: [row.amount for row in session.query(Payment)]) == [150]


@pytest.mark.slow
def test_a_comparison_finds_what_no_event_told(study, prolific, browser, database, settings):
    session_id, page = finished(prolific, study, browser)
    prolific.reserve(external(prolific))
    prolific.books.submissions[session_id]["status"] = "RETURNED"
    differences = reconciling.reconcile_study(database, settings, study.id)
    assert (differences.changed, differences.unknown) == (1, 1)
    assert part_of(database, session_id).state == "returned"
    assert page.get(study.page).status_code == 200
    assert reconciling.reconcile_study(database, settings, study.id).changed == 0


def test_events_without_a_secret_are_refused():
    provider = all_providers()["prolific"]
    with pytest.raises(errors.Forbidden):
        provider.read_events("", {}, b"{}", datetime.now(UTC))
