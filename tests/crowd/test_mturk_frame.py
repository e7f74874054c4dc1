"""The page of a study in the frame of Mechanical Turk, and the window that a worker opens from it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from dynabench.crowd import entry, frames
from dynabench.crowd.provider import all_providers
from dynabench.crowd.tables import Participation, StudyState
from dynabench.kit import errors
from dynabench.site import admission
from tests.crowd import mturk_study
from tests.crowd.mturk_study import hit_of, open_frame
from tests.crowd.study_steps import lead, part_of

turk, settings, draft, study = mturk_study.turk, mturk_study.settings, mturk_study.draft, mturk_study.study


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


def test_the_sandbox_is_a_platform_of_its_own():
    sandbox, real = all_providers()["mturk-sandbox"], all_providers()["mturk"]
    assert "sandbox" in sandbox.address
    assert set(sandbox.frame_ancestors).isdisjoint(real.frame_ancestors)
    with pytest.raises(errors.Invalid):
        frames.submit_site(real.frame_ancestors, "https://workersandbox.mturk.com")
    assert frames.submit_site(real.frame_ancestors, "https://www.mturk.com/") == "https://www.mturk.com"
