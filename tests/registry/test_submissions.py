"""Entering models: what is refused at once, how often one may, who sees what, and what may become of a submission."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from dynabench.benchmark.registry import submissions
from dynabench.benchmark.registry.tables import ModelListing, Submission
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.models import catalog
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks
from tests.conftest import PASSWORD
from tests.registry.sending import HUB, SENT, empty_zip, ready, send

PAID = {"kind": "endpoint", "protocol": "oip", "url": "https://example.org", "model": "m"}


def test_a_submission_waits_for_its_check_which_is_asked_for_in_the_same_transaction(ada, database):
    response = send(ada, licence="MIT", languages="en, de-CH", parameters="22,000,000", readme="# Mine")
    assert (response["state"], response["by"], response["name"], response["attempt"]) == ("queued", "ada", "mine", 1)
    assert response["card"] == {"licence": "MIT", "languages": ["en", "de-CH"], "parameters": 22_000_000}
    [job] = database.read(lambda s: s.scalars(select(jobs.Job).where(jobs.Job.kind == "check_submission")).all())
    assert job.payload == {"submission": response["id"], "attempt": 1}
    assert [item["id"] for item in ada.get(SENT).json()["items"]] == [response["id"]]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "Mine"}, "name"),
        ({"name": "../mine"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "nli-minilm"}, "name"),
        ({"hub": "../etc"}, "hub"),
        ({"hub": "/etc/passwd"}, "hub"),
        ({"hub": "owner/.."}, "hub"),
        ({"revision": "../../x"}, "revision"),
        ({"languages": "<b>"}, "languages"),
        ({"parameters": "many"}, "parameters"),
        ({"paper": "javascript:alert(1)"}, "paper"),
        ({"kind": "archive"}, "file"),
        ({"kind": "adapter", "file": "../../secret"}, "file"),
        ({"kind": "endpoint", "protocol": "smtp", "url": "https://a.org", "model": "m"}, "protocol"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://127.0.0.1", "model": "m"}, "url"),
        ({"kind": "endpoint", "protocol": "oip", "url": "http://example.org", "model": "m"}, "url"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://169.254.169.254/x", "model": "m"}, "url"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://example.org"}, "model"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://a.org", "model": "m", "token": "a b"}, "token"),
        (PAID | {"price_in": 0.1}, "price_in"),
        (PAID | {"spend_per_day": 5}, "spend_per_day"),
        ({"kind": "predictions"}, "files"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_kept(ada, database, fields, field):
    answer = ada.post(SENT, json=HUB | fields)
    assert answer.status_code == 422, answer.text
    assert list(answer.json()["fields"]) == [field]
    assert database.read(lambda s: s.scalars(select(Submission)).all()) == []


def test_what_an_endpoint_costs_is_kept_as_amounts(ada, person, browser, database):
    send(ada, **PAID | {"protocol": "openai", "price_in": 0.15, "price_out": 0.6, "spend_per_day": 5})
    eve = browser()
    eve.join("eve")
    paid = PAID | {"name": "other", "price_per_call": "0.01"}
    wrong = eve.submit("/tasks/nli/submit", page="/settings", **paid | {"price_per_call": "a lot"})
    assert (wrong.status_code, "Give an amount of money" in wrong.text) == (422, True)
    assert 'value="a lot"' in wrong.text
    assert eve.submit("/tasks/nli/submit", page="/settings", **paid).status_code == 303
    sources = database.read(lambda s: [row.source for row in s.scalars(select(Submission).order_by(Submission.id))])
    assert {name: sources[0][name] for name in ("price_in", "price_out", "spend_per_day")} == {
        "price_in": 0.15, "price_out": 0.6, "spend_per_day": 5.0
    }  # fmt: skip
    assert sources[1]["price_per_call"] == 0.01


def test_a_name_belongs_to_whoever_used_it_first(ada, bob):
    send(ada)
    assert list(bob.post(SENT, json=HUB).json()["fields"]) == ["name"]
    assert send(ada)["id"] > 1, "a further version"


def test_only_what_passes_counts_and_the_answer_says_when_to_come_back(ada, bob, database):
    first = [send(ada)["id"] for _ in range(3)]
    refused = ada.post(SENT, json=HUB)
    assert refused.status_code == 429
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_401
    assert "Try again after" in refused.json()["detail"]
    assert bob.post(SENT, json=HUB | {"name": "other"}).status_code == 201, "each person has their own number"
    assert ada.post(f"/api/v1/submissions/{first[0]}/cancel").json()["code"] == "cancelled"
    send(ada)
    for id in first[1:]:
        ready(database, id)
    assert ada.post(SENT, json=HUB).status_code == 429
    assert ada.post(f"/api/v1/submissions/{first[1]}/withdraw").status_code == 200
    assert ada.post(SENT, json=HUB).status_code == 429, "withdrawing makes no room"
    before = now() - timedelta(days=1, minutes=1)
    database.write(lambda s: s.execute(update(Submission).values(created_at=before)))
    send(ada)


def test_tries_are_capped_too(ada, owner, database):
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
    changed = source.replace("submissions:", "unused:") + "\nsubmissions: {per_day: 2, attempts: 3}\n"
    assert owner.post("/api/v1/tasks", json={"config": changed}).status_code in (200, 201)
    id = send(ada)["id"]
    for _ in range(2):
        assert ada.post(f"/api/v1/submissions/{id}/cancel").status_code == 200
        assert ada.post(f"/api/v1/submissions/{id}/retry").json()["state"] == "queued"
    assert ada.post(f"/api/v1/submissions/{id}/cancel").status_code == 200
    assert ada.post(f"/api/v1/submissions/{id}/retry").status_code == 429
    assert ada.post(SENT, json=HUB).status_code == 429


def test_who_sees_a_submission(ada, bob, owner, database, person):
    olga = person("olga")
    database.write(rounds.set_role, None, "nli", "olga", "owner")
    ids = {}
    for name in submissions.VISIBILITIES:
        ids[name] = send(ada, name=name, visibility=name)["id"]

    def seen(caller):
        return {item["name"]: item["by"] for item in caller.get(SENT).json()["items"]}

    assert seen(ada) == {"public": "ada", "anonymous": "ada", "private": "ada"}
    assert seen(bob) == {}
    assert seen(olga) == {"public": "ada", f"#{ids['anonymous']}": ""}
    statuses = [olga.get(f"/api/v1/submissions/{id}").status_code for id in ids.values()]
    assert statuses == [200, 404, 404]
    assert olga.post(f"/api/v1/submissions/{ids['public']}/withdraw").status_code == 403
    assert bob.get(f"/api/v1/submissions/{ids['public']}").status_code == 404
    listings = database.read(lambda s: dict(s.execute(select(ModelListing.name, ModelListing.visibility)).all()))
    assert listings == {"public": "public", "anonymous": "private", "private": "private"}
    assert ada.patch(f"/api/v1/submissions/{ids['private']}", json={"visibility": "public"}).status_code == 200
    assert "private" in seen(olga)


def test_a_withdrawn_submission_stays_in_the_ledger_with_its_date(ada, database):
    id = send(ada)["id"]
    ready(database, id)
    gone = ada.post(f"/api/v1/submissions/{id}/withdraw").json()
    assert gone["state"] == "withdrawn"
    assert gone["withdrawn_at"] is not None
    assert gone["model"] == "mine"
    assert ada.post(f"/api/v1/submissions/{id}/withdraw").status_code == 409
    assert ada.post(f"/api/v1/submissions/{id}/retry").status_code == 409
    assert ada.patch(f"/api/v1/submissions/{id}", json={"visibility": "private"}).status_code == 409
    assert database.read(lambda s: s.get_one(ModelListing, "mine").visibility) == "private"


def test_banned_people_submit_nothing(ada, owner, database):
    id = database.read(lambda s: s.scalar(select(Person.id).where(Person.username == "ada")))
    database.write(people.ban_person, None, "nli", id, "Spam.")
    assert ada.post(SENT, json=HUB).status_code == 403


def test_whoever_leaves_stands_beside_no_submission_and_leaves_no_file_and_no_token(ada, database, settings):
    url = {"kind": "endpoint", "protocol": "openai", "url": "https://api.example.org/v1", "model": "m"}
    scored, waits = (send(ada, **url, name=name, token=f"sk-{name}", hub="")["id"] for name in ("scored", "waits"))
    ready(database, scored)
    file = ada.post(f"{SENT}/files", params={"name": "m.zip"}, content=empty_zip()).json()["file"]
    entered = send(ada, kind="adapter", name="packed", file=file, hub="")["id"]
    ada.post(f"{SENT}/files", params={"name": "m.zip"}, content=empty_zip())
    assert ada.post("/api/v1/me/deletion", json={"confirm": "ada", "password": PASSWORD}).status_code == 204
    rows = [database.read(lambda s, id=id: s.get_one(Submission, id)) for id in (scored, waits, entered)]
    assert [row.person_id for row in rows] == [None, None, None]
    assert [(row.state, row.code) for row in rows] == [("ready", ""), ("failed", "cancelled"), ("failed", "cancelled")]
    assert not list((settings.folder / "tokens").iterdir())
    assert not [path for path in (settings.folder / "uploads").rglob("*") if path.is_file()]


def test_an_installed_model_is_entered_once_and_is_ready_at_once(database, owner):
    card = catalog.entry("nli-ngram").card
    id = database.write(lambda s: submissions.submit_installed(s, None, "nli", card).id)
    created = database.read(lambda s: s.get_one(Submission, id))
    assert (created.state, created.kind, created.model, created.version) == (
        "ready",
        "installed",
        "nli-ngram",
        card.version,
    )
    assert created.inside
    assert created.card["licence"] == card.licence
    with pytest.raises(Exception, match="already submitted for this task"):
        database.write(submissions.submit_installed, None, "nli", card)
    with pytest.raises(Exception, match="needs the fields"):
        database.write(submissions.submit_installed, None, "sentiment", card)


@pytest.mark.parametrize("id", [0, -1, 2**63, 2**62])
def test_ids_that_no_submission_has(ada, id):
    assert ada.get(f"/api/v1/submissions/{id}").status_code in (404, 422)
    assert ada.post(f"/api/v1/submissions/{id}/withdraw").status_code in (404, 422)
