"""Studies for their owners: drafts, publishing, the table of participants, decisions, and secrecy of ids."""

import csv
import io
import re
from datetime import timedelta

import pytest

from dynabench.crowd import jobs as crowd_jobs
from dynabench.crowd import participation
from dynabench.crowd.provider import all_providers
from dynabench.crowd.tables import Participation
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from tests.crowd.conftest import CONSENT, write_example

STUDIES = "/api/v1/tasks/nli/studies"
PAGE = "/tasks/nli/manage/studies"
WORKER = "secret-worker-4711"


@pytest.mark.slow
def test_an_owner_drafts_and_publishes_on_the_pages(owner, enter):
    page = enter(owner)
    assert "/tasks/nli/manage/studies/new?round=1" in page.get("/tasks/nli/manage/rounds/1").text
    form = {"round": "1", "provider": "generic", "name": "Fool a model", "work.examples": "0", "work.votes": "0"}
    form["work.minutes"] = "10"
    refused = page.submit(PAGE, page=f"{PAGE}/new", **form | {"settings.worker_parameter": "a b"})
    assert refused.status_code == 422
    assert "at least one example or one vote" in refused.text
    form |= {"work.examples": "2", "settings.codes.completed": "DONE42"}
    answer = page.submit(PAGE, page=f"{PAGE}/new", **form)
    assert answer.status_code == 303, answer.text
    here = answer.headers["location"].partition("?")[0]
    early = page.submit(f"{here}/publish", page=here)
    assert early.status_code == 409
    assert "consent text" in early.text
    assert page.submit("/tasks/nli/manage/consent", page=PAGE, text="Write to [CONTACT]").status_code == 422
    assert page.submit("/tasks/nli/manage/consent", page=PAGE, text=CONSENT).status_code == 303
    assert page.submit(f"{here}/publish", page=here).status_code == 303
    text = page.get(here).text
    assert re.search(r"/studies/[\w-]{16}\?participantId=ID", text), text
    assert page.submit(f"{here}/edit", page=here, name="Other").status_code == 409, "workers were promised this one"
    for act in ("pause", "publish", "stop"):
        assert page.submit(f"{here}/{act}", page=here).status_code == 303
    assert page.submit(f"{here}/publish", page=here).status_code == 409, "a stopped study does not begin anew"


def test_a_draft_of_a_round_is_deleted_with_its_study(owner, database):
    number = owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"], "draft": True}).json()["number"]
    body = {"round": number, "name": "Fool a model", "work": {"examples": 1}}
    study = owner.post(STUDIES, json=body).json()
    assert owner.delete(f"/api/v1/tasks/nli/rounds/{number}").status_code == 204
    assert owner.get(f"{STUDIES}/{study['id']}").status_code == 404


@pytest.mark.slow
def test_the_table_has_each_worker_and_decisions_are_for_those_who_finished(make_study, worker, owner):
    study = make_study(examples=1, settings={"codes": {"completed": "DONE42"}})
    done, busy = worker(study, WORKER), worker(study, "w2")
    write_example(done)
    done.submit(f"{study.page}/finish", page=study.page)
    rows = owner.get(f"{STUDIES}/{study.id}/participants?limit=1").json()
    assert [(row["worker"], row["state"], row["code"], row["examples"]) for row in rows["items"]] == [
        (WORKER, "finished", "DONE42", 1)
    ]
    rest = owner.get(f"{STUDIES}/{study.id}/participants?after={rows['next']}").json()["items"]
    assert [(row["worker"], row["state"]) for row in rest] == [("w2", "working")]
    at = f"{STUDIES}/{study.id}/participants"
    assert owner.post(f"{at}/{rest[0]['id']}/decision", json={"approve": True}).status_code == 409, "at work"
    first = rows["items"][0]["id"]
    assert owner.post(f"{at}/{first}/decision", json={"approve": False}).status_code == 422, "a reason is needed"
    rejected = owner.post(f"{at}/{first}/decision", json={"approve": False, "reason": "Not English."})
    assert rejected.json()["state"] == "rejected"
    assert "Not English." in done.get(study.page).text
    for _ in range(2):
        assert owner.post(f"{at}/{first}/decision", json={"approve": True}).json()["state"] == "approved"
    assert owner.post(f"{at}/{first}/decision", json={"approve": False, "reason": "x"}).status_code == 409, "it is paid"
    assert "0 of 1" in busy.get(study.page).text


@pytest.mark.slow
def test_a_decision_reaches_the_platform_again_until_it_is_known(make_study, worker, database, settings, monkeypatch):
    study = make_study(examples=1)
    page = worker(study, "w1")
    write_example(page)
    page.submit(f"{study.page}/finish", page=study.page)
    part = database.read(lambda session: session.query(Participation).one().id)
    database.write(participation.decide, None, "nli", study.id, part, True)

    def queued():
        return database.read(lambda session: session.query(Job).filter_by(kind="decide_participation").count())

    assert queued() == 1
    crowd_jobs.resend_decisions(database, settings)
    assert queued() == 1, "the first job may still run"
    later = now() + timedelta(minutes=6)
    monkeypatch.setattr(crowd_jobs, "now", lambda: later)
    for _ in range(2):
        crowd_jobs.resend_decisions(database, settings)
    assert queued() == 2, "once for each time that has passed"
    calls = []
    provider = all_providers()["generic"]
    monkeypatch.setattr(type(provider), "approve", lambda self, *values: calls.append(values[2].worker))
    payload = {"participation": part, "approve": True, "reason": "", "category": "other"}
    crowd_jobs.send_decision(database, settings, payload)
    crowd_jobs.resend_decisions(database, settings)
    assert calls == ["w1"]
    assert queued() == 2, "the platform knows"


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_platforms_ids_are_for_owners_alone(make_study, worker, owner, ada, client, enter):
    study = make_study(examples=1)
    page = worker(study, WORKER)
    write_example(page)
    page.submit(f"{study.page}/finish", page=study.page)
    own = enter(owner)
    file = list(csv.DictReader(io.StringIO(own.get(f"{study.manage}/participants.csv").text)))
    assert [(row["worker"], row["examples"]) for row in file] == [(WORKER, "1")]
    assert ada.get(f"{STUDIES}/{study.id}/participants").status_code == 403
    for path in (
        "/api/v1/tasks/nli/exports/examples.jsonl",
        "/api/v1/tasks/nli/export?format=jsonl",
        "/tasks/nli/people",
        "/tasks/nli/rounds/1",
        "/tasks/nli/manage/people",
        "/tasks/nli/manage/examples",
        "/tasks/nli/manage/log",
    ):
        assert WORKER not in own.get(path).text, path
        assert WORKER not in client.get(path).text, path
    assert WORKER not in page.get(study.page).text
