"""A worker's way through a study: entry without an account, consent, work, the code, and all the wrong turns."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from dynabench.collection.tables import Example, Retraction
from dynabench.crowd import entry, studies
from dynabench.crowd.provider import Arrival
from dynabench.crowd.tables import Participation, StudyState
from dynabench.people.accounts.tables import Person
from tests.crowd.conftest import write_example


def people(database):
    return database.read(lambda session: session.query(Person).filter(Person.worker_task != "").count())


@pytest.mark.slow
def test_a_worker_writes_and_gets_a_code_without_an_account(make_study, worker, database):
    study = make_study(examples=2)
    page = worker(study, "w1", agree=False)
    answer_page = page.get(study.page).text
    assert "crowd@example.org" in answer_page
    assert "You write 2 examples" in answer_page
    assert page.get("/tasks/nli/create").status_code == 200, "the task can be looked at before"
    page = worker(study, "w1")
    write_example(page)
    assert "1 of 2" in page.get(study.page).text
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 409, "one example lacks"
    bar = re.search(r'<aside class="study-bar".*?</aside>', page.get("/tasks/nli/create").text, re.DOTALL)[0]
    assert "1 of 2 examples" in bar
    assert "1 of 2 examples" in page.get(f"{study.page}/bar", headers={"HX-Request": "true"}).text
    write_example(page, "Nobody came along.")
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303
    text = page.get(study.page).text
    code = re.search(r"<code[^>]*>([A-Z2-9]{10})</code>", text)
    assert code, text
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303, "a second click changes nothing"
    assert code[1] in page.get(study.page).text
    database.write(lambda session: setattr(session.query(Participation).one(), "state", "approved"))
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303, "nor does one after the decision"
    assert people(database) == 1


@pytest.mark.slow
def test_a_worker_who_comes_back_from_the_panel_goes_on_in_any_browser(make_study, worker, database):
    study = make_study(examples=2)
    first = worker(study, "w1")
    write_example(first)
    second = worker(study, "w1", agree=False)
    assert "1 of 2" in second.get(study.page).text
    assert people(database) == 1
    another = make_study(examples=1)
    assert "crowd@example.org" in worker(another, "w1", agree=False).get(another.page).text, (
        "consent is answer_page anew"
    )
    assert people(database) == 1, "the same worker in another study of the task"


def test_declining_collects_nothing_and_can_be_changed(make_study, worker):
    study = make_study()
    page = worker(study, "w1", agree=False)
    for _ in range(2):  # the second time after an answer that was lost
        assert page.submit(f"{study.page}/decline", page=study.page).status_code == 303
    assert "You did not agree" in page.get(study.page).text
    again = re.search(r'name="consent" value="(\d+)"', page.get(study.page).text)
    assert page.submit(f"{study.page}/consent", page=study.page, consent=again[1]).status_code == 303
    assert "0 of 1" in page.get(study.page).text


@pytest.mark.slow
def test_stopping_early_gives_another_code_and_ends_the_work(make_study, worker):
    study = make_study(examples=3)
    page = worker(study, "w1")
    assert page.submit(f"{study.page}/finish", page=study.page, early="yes").status_code == 303
    early = re.search(r"<code[^>]*>([A-Z2-9]{10})</code>", page.get(study.page).text)[1]
    other = worker(study, "w2")
    for hypothesis in ("It did not happen.", "Nobody came.", "It is not so."):
        write_example(other, hypothesis)
    other.submit(f"{study.page}/finish", page=study.page)
    assert early not in other.get(study.page).text
    assert page.submit(f"{study.page}/consent", page=study.page, consent="1").status_code == 303
    assert early in page.get(study.page).text, "a form of before changes nothing"


@pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.STOPPED])
def test_a_closed_study_takes_nobody_new_and_lets_those_within_finish(make_study, worker, browser, database, state):
    study = make_study(examples=1)
    page = worker(study, "w1")
    database.write(studies.move_study, None, "nli", study.id, state)
    refused = browser().get(study.entry("w2"))
    assert refused.status_code == 409
    assert "paused" in refused.text if state is StudyState.PAUSED else "is over" in refused.text
    write_example(page)
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303


@pytest.mark.slow
def test_where_the_round_closes_the_worker_is_told_and_can_finish(make_study, worker, owner):
    study = make_study(examples=5)
    page = worker(study, "w1")
    write_example(page)
    assert owner.post("/api/v1/tasks/nli/rounds/1/close").status_code in (200, 201)
    assert "Round 1 has closed" in page.get(study.page).text
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303


def test_wrong_turns_have_a_page_each(make_study, browser, owner, enter):
    study = make_study()
    stranger = browser()
    assert stranger.get("/studies/nowhere").status_code == 404
    lacking = stranger.get(f"{study.page}?other=1")
    assert lacking.status_code == 422
    assert "lacks your id" in lacking.text
    without_cookie = stranger.get(f"{study.page}?entered=1")
    assert without_cookie.status_code == 403
    assert "refuses cookies" in without_cookie.text
    page = enter(owner)
    answer_page = page.get(study.entry("w1"))
    assert answer_page.status_code == 200
    assert "You are logged in as" in answer_page.text
    answer = page.submit(f"{study.page}/enter", page=study.entry("w1"), participantId="w1")
    assert answer.status_code == 303
    assert "crowd@example.org" in page.get(study.page).text


def test_a_worker_reaches_the_task_alone(make_study, worker):
    page = worker(make_study(), "w1")
    assert page.get("/tasks/nli/create").status_code == 200
    for path in ("/settings", "/settings/tokens", "/people/me", "/inbox", "/tasks/nli/submit", "/archives"):
        assert page.get(path).status_code in (303, 401, 403), path
    elsewhere = page.get("/tasks/sentiment/create")
    assert elsewhere.status_code == 200
    assert "worker-" not in elsewhere.text, "elsewhere a worker is a visitor"
    api = page.client.post("/api/v1/tokens", json={"name": "x"}, headers={"X-CSRF-Token": page.token("/tasks/nli")})
    assert api.status_code in (401, 403)


@pytest.mark.slow
def test_a_worker_withdraws_what_was_written(make_study, worker, database):
    study = make_study(examples=1)
    page = worker(study, "w1")
    write_example(page)
    page.submit(f"{study.page}/finish", page=study.page)
    assert page.submit(f"{study.page}/withdraw", page=study.page).status_code == 303
    assert "was withdrawn" in page.get(f"{study.page}?done=withdrawn").text
    examples, retracted = database.read(
        lambda session: (session.query(Example).count(), session.query(Retraction).count())
    )
    assert (examples, retracted) == (1, 1)


def test_windows_opened_at_once_make_one_account(make_study, database, settings):
    study = make_study()
    arrival = Arrival("w1", "w1")
    with ThreadPoolExecutor(8) as pool:
        entered = list(
            pool.map(lambda _: database.write(entry.enter_study, settings.key, study.slug, arrival), range(16))
        )
    assert len({worker.cookie for worker in entered}) == 16
    assert people(database) == 1
    assert database.read(lambda session: session.query(Participation).count()) == 1


def test_a_second_tab_leaves_the_first_one_logged_in(make_study, worker):
    study = make_study()
    page = worker(study, "w1")
    cookies = dict(page.client.cookies)
    assert page.get(study.entry("w1")).status_code == 303
    assert dict(page.client.cookies) == cookies
    assert "0 of 1" in page.get(study.page).text
