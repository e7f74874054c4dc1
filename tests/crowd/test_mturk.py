"""Mechanical Turk over its real protocol, against a local server: the frame, decisions, bonuses once, blocks."""

import json
import os
import re
import signal
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from dynabench.crowd import (
    accounts,
    blocking,
    bonuses,
    consent,
    entry,
    frames,
    lifecycle,
    participation,
    reconciling,
    studies,
)
from dynabench.crowd import jobs as crowd_jobs
from dynabench.crowd.provider import all_providers
from dynabench.crowd.providers.mturk_api import service_model
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import BonusOrder, BonusOrderState, Participation, StudyState
from dynabench.kit import errors
from dynabench.kit.jobs import Job
from dynabench.pay import ledger
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout
from dynabench.people.accounts.tables import Person
from dynabench.site import admission
from tests.crowd.conftest import CONSENT, OpenStudy, write_example
from tests.crowd.mturk_server import ACCESS_KEY, SECRET_KEY, MechanicalTurk
from tests.forked import Forked

SECRETS = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}


@pytest.fixture
def turk():
    server = MechanicalTurk()
    yield server
    server.close()


@pytest.fixture
def settings(settings, turk):
    hosts = turk.address.partition("//")[2]
    return settings.model_copy(update={"crowd_urls": {"mturk": turk.address}, "crowd_hosts": f"{hosts}, 127.0.0.1"})


def lead(database, settings, study, to):
    lifecycle.lead_study(database, settings, None, "nli", study.id, to, f"https://bench.example/studies/{study.slug}")


@pytest.fixture
def draft(owner, database, settings):
    """A study of one example that is not at the platform yet."""
    name, secrets = accounts.check_credentials(settings, "mturk", SECRETS)

    def write(session):
        consent.save_text(session, None, "nli", CONSENT)
        accounts.connect_account(session, None, "nli", settings.key, "mturk", name, secrets)
        plan = StudyPlan("Fool a model", PLAN, {"examples": 1})
        row = studies.draft_study(session, None, "nli", 1, "mturk", plan)
        return OpenStudy(row.id, row.slug)

    return database.write(write)


PLAN = {
    "reward": 150, "places": 5, "least_approval": 95, "least_approved": 100, "countries": "us, GB", "adults": True,
    "took_part": "3TOOKPART",
}  # fmt: skip


@pytest.fixture
def study(draft, database, settings):
    lead(database, settings, draft, StudyState.PUBLISHED)
    return draft


def hit_of(turk):
    return next(iter(turk.books.hits))


def fields_of(text):
    return dict(re.findall(r'<input type="hidden" name="(assignmentId|code|outcome)" value="([^"]+)"', text))


def open_frame(study, browser, parameters):
    """A worker's frame, which has no cookies, and the window that was opened from it."""
    frame = browser()
    page = frame.get(study.page, params=parameters)
    assert page.status_code == 200, page.text
    assert not frame.client.cookies, "a frame sets no cookie"
    link = re.search(r'href="(/studies/[^"]+\?ticket=[^"]+)"', page.text)[1]
    window = browser()
    assert window.get(link).status_code == 303
    again = re.search(r'hx-get="([^"]+)"', page.text)[1].replace("&amp;", "&")
    return frame, again, window


def finished(turk, study, browser, worker=None):
    """A worker who did the work and submitted the frame's form; the id of the assignment and the window."""
    parameters = turk.accept(hit_of(turk), worker)
    frame, again, window = open_frame(study, browser, parameters)
    version = re.search(r'name="consent" value="(\d+)"', window.get(study.page).text)[1]
    window.submit(f"{study.page}/consent", page=study.page, consent=version)
    assert "externalSubmit" not in frame.get(again).text
    write_example(window)
    assert window.submit(f"{study.page}/finish", page=study.page).status_code == 303
    assert "Go back to the window of Mechanical Turk and submit" in window.get(study.page).text
    page = frame.get(again).text
    assert f'action="{turk.address}/mturk/externalSubmit"' in page
    values = fields_of(page)
    assert values["outcome"] == "completed"
    raw = "&".join(f"{name}={value}" for name, value in values.items())
    assert turk.submit(raw)[0] == 200
    assert turk.submit(raw)[0] == 400, "an assignment is submitted once"
    return parameters["assignmentId"], window


def part_of(database, assignment):
    return database.read(lambda session: session.query(Participation).filter_by(external_session=assignment).one())


def run_jobs(database, settings, kind):
    rows = database.read(lambda session: [(job.id, job.payload) for job in session.query(Job).filter_by(kind=kind)])
    for id, payload in rows:
        if kind == "decide_participation":
            crowd_jobs.send_decision(database, settings, payload)
        else:
            bonuses.advance_order(database, settings, payload["order"])
        database.write(lambda session, id=id: session.query(Job).filter_by(id=id).delete())


def approve_bonus(database, assignment, cents, key, currency="USD"):
    part = part_of(database, assignment)

    def write(session):
        round_id = session.get(studies.Study, part.study_id).round_id
        money = Money(cents, currency)
        payment = ledger.book(session, round_id, part.person_id, PaymentKind.BONUS, money, "A good example", key)
        payment.state = PaymentState.APPROVED

    database.write(write)


@pytest.mark.slow
def test_a_study_is_one_hit_that_opens_and_expires(study, turk, database, settings):
    [hit] = turk.books.hits.values()
    assert (hit["Title"], hit["Reward"], hit["MaxAssignments"]) == ("Fool a model", "1.50", 5)
    assert f"https://bench.example/studies/{study.slug}" in hit["Question"]
    rows = turk.books.types[hit["HITTypeId"]]["QualificationRequirements"]
    requirements = {row["QualificationTypeId"]: row for row in rows}
    assert requirements["000000000000000000L0"]["IntegerValues"] == [95]
    assert requirements["00000000000000000071"]["LocaleValues"] == [{"Country": "US"}, {"Country": "GB"}]
    assert requirements["3TOOKPART"]["Comparator"] == "DoesNotExist"
    opened = hit["Expiration"]
    lead(database, settings, study, StudyState.PAUSED)
    assert hit["Expiration"] < opened
    lead(database, settings, study, StudyState.PUBLISHED)
    assert hit["Expiration"] >= opened
    lead(database, settings, study, StudyState.STOPPED)
    assert hit["Expiration"] < opened
    assert len(turk.books.hits) == 1


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["CreateHITType lost", "CreateHITWithHITType lost", "CreateHITWithHITType busy"])
def test_an_interrupted_creation_makes_one_hit(draft, turk, database, settings, failure):
    turk.fail(*failure.split())
    with pytest.raises(errors.Unavailable):
        lead(database, settings, draft, StudyState.PUBLISHED)
    lead(database, settings, draft, StudyState.PUBLISHED)
    assert len(turk.books.hits) == 1


def test_wrong_secrets_and_refusals_say_why(settings, turk):
    with pytest.raises(errors.Invalid):
        accounts.check_credentials(settings, "mturk", SECRETS | {"secret_key": "wrong"})
    turk.fail("GetAccountBalance", "busy")
    with pytest.raises(errors.Unavailable):
        accounts.check_credentials(settings, "mturk", SECRETS)


def test_a_site_without_botocore_says_how_to_install_it(settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore.loaders", None)
    service_model.cache_clear()
    with pytest.raises(errors.Invalid) as problem:
        accounts.check_credentials(settings, "mturk", SECRETS)
    assert "pip install 'dynabench-platform[mturk]'" in problem.value.fields["access_key"]


@pytest.mark.slow
def test_a_preview_accepts_no_work(study, turk, browser, database):
    page = browser().get(study.page, params=turk.preview(hit_of(turk)))
    assert page.status_code == 200
    assert "This is a preview" in page.text
    assert "<form" not in page.text
    assert "ticket=" not in page.text
    assert f"frame-ancestors https://www.mturk.com https://worker.mturk.com {turk.address};" in (
        page.headers["content-security-policy"] + ";"
    )
    assert database.read(lambda session: session.query(Participation).count()) == 0


def test_the_frame_shows_errors_before_its_study_is_known(study, turk, browser, client, monkeypatch):
    parameters = turk.accept(hit_of(turk))
    sources = f"frame-ancestors https://www.mturk.com https://worker.mturk.com {turk.address}"

    def expect_framed(answer, status, text):
        policy = answer.headers["content-security-policy"]
        assert (answer.status_code, answer.headers["x-frame-options"]) == (status, "")
        assert sources in policy
        assert "form-action 'none'" in policy
        assert text in answer.text
        assert "set-cookie" not in answer.headers
        return answer.headers

    ada = browser()
    for address in ("/studies/gone", "/studies/gone/frame"):
        assert "refresh" not in expect_framed(
            ada.get(address, params=parameters), 404, "Open it again from the platform"
        )
    expect_framed(ada.get(study.page, params=parameters | {"workerId": "\0"}), 400, "invalid characters")
    own_page = ada.get("/studies/gone", params={"ticket": "1.0"})
    assert "frame-ancestors 'none'" in own_page.headers["content-security-policy"]

    def refuse(*_args):
        raise errors.Unavailable("The database is away.", retry_after=7)

    monkeypatch.setattr(entry, "find_study", refuse)
    again = expect_framed(ada.get(study.page, params=parameters), 503, "This page tries again in 7 seconds")
    assert again["refresh"] == "7"
    monkeypatch.setattr(admission.RequestPlaces, "has_room", lambda *_: False)
    assert expect_framed(ada.get(study.page, params=parameters), 503, "tries again")["refresh"] == "2"


@pytest.mark.slow
def test_a_study_that_is_opened_twice_keeps_the_first_tab(study, turk, browser):
    frame, again, window = open_frame(study, browser, turk.accept(hit_of(turk)))
    page = window.get(study.page).text
    version = re.search(r'name="consent" value="(\d+)"', page)[1]
    token = re.search(r'name="csrf(?:-token)?" (?:value|content)="([^"]+)"', page)[1]
    link = re.search(r'href="(/studies/[^"]+\?ticket=[^"]+)"', frame.get(again).text)[1]
    assert window.get(link).status_code == 303
    answer = window.client.post(f"{study.page}/consent", data={"consent": version, "csrf": token})
    assert answer.status_code == 303, "the form of the first tab still counts"


@pytest.mark.slow
def test_only_the_frame_may_be_framed(study, turk, browser):
    parameters = turk.accept(hit_of(turk))
    _frame, again, window = open_frame(study, browser, parameters)
    for answer in (browser().get(study.page, params=parameters), browser().get(again)):
        assert turk.address in answer.headers["content-security-policy"]
        assert f"form-action {turk.address}" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == ""
        assert "set-cookie" not in answer.headers
    for path in (study.page, "/tasks/nli/create", "/"):
        assert "frame-ancestors 'none'" in window.get(path).headers["content-security-policy"]


@pytest.mark.slow
def test_claims_that_cannot_be_true_get_a_page_in_the_frame(study, turk, browser, database, settings):
    parameters = turk.accept(hit_of(turk))
    wrong = (
        ({"workerId": "x"}, 422), ({"hitId": "3OTHER"}, 422), ({"turkSubmitTo": "https://evil.example"}, 422),
        ({"turkSubmitTo": "https://www.mturk.com.evil.example"}, 422), ({"assignmentId": ""}, 422),
    )  # fmt: skip
    for claims, status in wrong:
        answer = browser().get(study.page, params=parameters | claims)
        assert answer.status_code == status, claims
        assert turk.address in answer.headers["content-security-policy"], "the frame shows why"
        assert "form-action 'none'" in answer.headers["content-security-policy"]
    lead(database, settings, study, StudyState.STOPPED)
    closed = browser().get(study.page, params=parameters)
    assert (closed.status_code, "This study is over" in closed.text) == (409, True)


@pytest.mark.slow
def test_a_ticket_opens_its_own_assignment_alone(study, turk, browser, database):
    first, second = turk.accept(hit_of(turk)), turk.accept(hit_of(turk))
    _frame, again, _window = open_frame(study, browser, first)
    _frame, _again, _window = open_frame(study, browser, second)
    ticket = parse_qs(urlsplit(again).query)["ticket"][0]
    number, _dot, mac = ticket.partition(".")
    other = part_of(database, second["assignmentId"]).id
    for forged in (f"{other}.{mac}", f"{number}.{mac[:-1]}0x", number, "", "9" * 30 + ".x", f"{number}.é"):
        assert browser().get(study.page, params={"ticket": forged}).status_code == 403, forged
        answer = browser().get(f"{study.page}/frame", params={"ticket": forged, "to": turk.address})
        assert answer.status_code == 403
    elsewhere = browser().get(f"{study.page}/frame", params={"ticket": ticket, "to": "https://evil.example"})
    assert elsewhere.status_code == 422


@pytest.mark.slow
def test_nobody_enters_the_account_of_another_workers_assignment(study, turk, browser, database):
    parameters = turk.accept(hit_of(turk), "AVICTIM")
    open_frame(study, browser, parameters)
    forged = parameters | {"assignmentId": "3MADEUP"}
    open_frame(study, browser, forged)
    people = {part_of(database, claims["assignmentId"]).person_id for claims in (parameters, forged)}
    assert len(people) == 2
    open_frame(study, browser, parameters)
    assert database.read(lambda session: session.query(Participation).count()) == 2, "and the worker comes back"


@pytest.mark.slow
def test_an_account_of_ones_own_is_kept_unless_one_agrees(study, turk, ada, enter, browser):
    own = enter(ada)
    page = browser().get(study.page, params=turk.accept(hit_of(turk))).text
    link = re.search(r'href="(/studies/[^"]+\?ticket=[^"]+)"', page)[1]
    switch = own.get(link)
    assert "You are logged in as" in switch.text
    ticket = parse_qs(urlsplit(link).query)["ticket"][0]
    assert own.submit(f"{study.page}/enter", page=link, ticket=ticket).status_code == 303
    assert "crowd@example.org" in own.get(study.page).text


def test_who_declines_returns_the_hit(study, turk, browser):
    frame, again, window = open_frame(study, browser, turk.accept(hit_of(turk)))
    window.submit(f"{study.page}/decline", page=study.page)
    assert "return the HIT" in window.get(study.page).text
    page = frame.get(again).text
    assert "Return the HIT on Mechanical Turk" in page
    assert "externalSubmit" not in page


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
        approve_bonus(database, assignment, 75 + number, f"bonus-{number}")
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
        approve_bonus(database, assignment, 75 + number, f"bonus-{number}")
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
    approve_bonus(database, assignment, 75, "bonus", "GBP")
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
        approve_bonus(database, assignment, 75 + number, f"bonus-{number}")
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


@pytest.mark.slow
def test_the_owner_blocks_a_worker(study, turk, browser, owner, enter, database, settings):
    page = enter(owner)
    assignment, _window = finished(turk, study, browser, "ABADWORKER")
    part = part_of(database, assignment)
    path = f"{study.manage}/participants/{part.id}/block"
    assert "Block worker" in page.get(study.manage).text
    assert page.submit(path, page=study.manage, reason="Copied texts").status_code == 303
    blocking.block_worker(database, settings, None, "nli", study.id, part.id, "Again")
    assert set(turk.books.blocks) == {"ABADWORKER"}
    assert page.submit(path, page=study.manage, reason="").status_code == 422


def test_worker_ids_stay_where_owners_see_them(study, turk, browser, owner, enter, database):
    finished(turk, study, browser, "ASECRETID")
    assert "ASECRETID" in enter(owner).get(study.manage).text
    row = database.read(lambda session: session.query(Participation).one())
    assert "ASECRETID" not in f"{row.worker_sealed} {row.worker_digest}"
    assert database.read(lambda session: session.query(Person).filter(Person.username.contains("ASECRET")).count()) == 0


def test_the_sandbox_is_a_platform_of_its_own():
    sandbox, real = all_providers()["mturk-sandbox"], all_providers()["mturk"]
    assert "sandbox" in sandbox.address
    assert set(sandbox.frame_ancestors).isdisjoint(real.frame_ancestors)
    with pytest.raises(errors.Invalid):
        frames.submit_site(real.frame_ancestors, "https://workersandbox.mturk.com")
    assert frames.submit_site(real.frame_ancestors, "https://www.mturk.com/") == "https://www.mturk.com"
