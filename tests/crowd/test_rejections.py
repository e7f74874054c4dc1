"""Rejections of crowd work are decisions about people: the worker answers, an expert decides, the platform follows."""

import pytest

from dynabench.crowd import jobs as crowd_jobs
from dynabench.crowd import participation, reconciling
from dynabench.crowd.tables import PAID_INSTEAD
from dynabench.kit import errors
from dynabench.kit.jobs import Job
from dynabench.pay.tables import Payment, PaymentState
from tests.crowd import test_prolific as around
from tests.crowd.test_prolific import finished, part_of, run_jobs

pytestmark = pytest.mark.slow

prolific, settings, study = around.prolific, around.settings, around.study
OWN, TASK = "/me/decisions", "/tasks/nli/appeals"


@pytest.fixture
def expert(person, owner):
    answerer = person("expert")
    assert owner.post("/api/v1/tasks/nli/roles", json={"username": "expert", "role": "expert"}).status_code < 300
    return answerer


@pytest.fixture
def reject(database, settings, prolific, study, owner):
    """Reject a submission as the owner who is logged in, here and at the platform."""

    def write(session_id):
        part = part_of(database, session_id)
        address = f"/api/v1/tasks/nli/studies/{study.id}/participants/{part.id}/decision"
        answer = owner.post(address, json={"approve": False, "reason": "Not English.", "category": "low_effort"})
        assert answer.status_code == 200, answer.text
        run_jobs(database, settings, "decide_participation")
        assert prolific.books.submissions[session_id]["status"] == "REJECTED"
        return part.id

    return write


def appeal(page, part_id):
    sent = {"task": "nli", "kind": "rejected_submission", "subject": str(part_id), "text": "I wrote it in English."}
    return page.submit(OWN, page=OWN, **sent)


@pytest.mark.parametrize("keeps", [False, True], ids=["approved after all", "kept by the platform"])
def test_a_granted_appeal_pays_the_worker_once(
    study, prolific, browser, database, settings, reject, expert, owner, ada, enter, keeps
):
    assert owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "owner"}).status_code < 300
    session_id, page = finished(prolific, study, browser)
    part_id = reject(session_id)
    worker = prolific.books.submissions[session_id]["participant_id"]
    ended = page.get(study.page).text
    assert "Not English." in ended
    assert OWN in ended
    assert "Not English." in page.get(OWN).text
    assert appeal(page, part_id).status_code == 303
    assert appeal(page, part_id).status_code == 303, "the same form again is the same appeal"
    [case] = expert.get("/api/v1/tasks/nli/appeals").json()
    assert "1 of 1 examples" in case["facts"]
    answer = {"granted": True, "answer": "It is English."}
    assert owner.post(f"/api/v1/tasks/nli/appeals/{case['id']}", json=answer).status_code == 403, "who rejected"
    for text in (str(case), enter(expert).get(TASK).text, enter(expert).get(f"{TASK}.csv").text):
        assert worker not in text
        assert session_id not in text
    prolific.books.keeps_rejections = keeps
    assert expert.post(f"/api/v1/tasks/nli/appeals/{case['id']}", json=answer).status_code == 200
    run_jobs(database, settings, "decide_participation")
    for _ in range(2):  # the platform's list and the worker's round of keepers change nothing more
        reconciling.reconcile_study(database, settings, study.id)
        crowd_jobs.resend_decisions(database, settings)
    part = part_of(database, session_id)
    assert (part.state, part.synced_state) == ("approved", PAID_INSTEAD if keeps else "approved")
    assert not database.read(lambda session: session.query(Job).filter_by(kind="decide_participation").count())
    if keeps:
        assert "as a bonus" in page.get(study.page).text
        assert "Pay approved payments" in enter(owner).get(study.manage).text
        assert "keeps a rejection" in ada.get("/api/v1/me/notices").text
        assert owner_pays(owner, enter, study) == 303
        run_jobs(database, settings, "pay_bonuses")
        assert prolific.books.paid(session_id) == 150
    paid = database.read(lambda session: [(row.amount, row.state) for row in session.query(Payment)])
    assert paid == [(150, PaymentState.PAID)]
    assert "It is English." in page.get(OWN).text


def owner_pays(owner, enter, study):
    return enter(owner).submit(f"{study.manage}/bonuses", page=study.manage).status_code


def test_a_refused_appeal_leaves_the_rejection(study, prolific, browser, database, settings, reject, expert):
    session_id, page = finished(prolific, study, browser)
    assert appeal(page, reject(session_id)).status_code == 303
    [case] = expert.get("/api/v1/tasks/nli/appeals").json()
    body = {"granted": False, "answer": "It is not."}
    assert expert.post(f"/api/v1/tasks/nli/appeals/{case['id']}", json=body).status_code == 200
    run_jobs(database, settings, "decide_participation")
    assert prolific.books.submissions[session_id]["status"] == "REJECTED"
    assert database.read(lambda session: session.query(Payment).count()) == 0


def test_a_rejection_on_the_platform_is_a_decision_too(study, prolific, browser, database, settings, expert):
    session_id, page = finished(prolific, study, browser)
    prolific.books.submissions[session_id]["status"] = "REJECTED"
    reconciling.reconcile_study(database, settings, study.id)
    part = part_of(database, session_id)
    assert "A submission of yours was rejected" in page.get(OWN).text
    assert appeal(page, part.id).status_code == 303
    reconciling.reconcile_study(database, settings, study.id)
    decision = page.get(OWN).text.split("<section")[1]
    assert "I wrote it in English." in decision, "the same decision as before the comparison"


def test_a_refusal_for_another_reason_is_tried_again(study, prolific, browser, database, settings):
    session_id, _page = finished(prolific, study, browser)
    part = part_of(database, session_id)
    database.write(participation.decide, None, "nli", study.id, part.id, True)
    prolific.fail(".*/transition/", "refuse")
    with pytest.raises(errors.Conflict):
        run_jobs(database, settings, "decide_participation")
    assert part_of(database, session_id).synced_state != PAID_INSTEAD
    run_jobs(database, settings, "decide_participation")
    assert prolific.books.submissions[session_id]["status"] == "APPROVED"
