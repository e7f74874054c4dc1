"""Snapshots, forks, the ledger, and results in the forms of others."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
import yaml
from sqlalchemy import delete

from dynabench.benchmark.evaluations.tables import Evaluation, Record, Score
from dynabench.benchmark.leaderboards.ledger import tries_by_submitter
from dynabench.benchmark.registry.tables import Submission
from dynabench.kit.db import now

BOARD = "/api/v1/tasks/sentiment/leaderboard"
SNAPSHOTS, FORKS = "/api/v1/tasks/sentiment/snapshots", "/api/v1/tasks/sentiment/forks"


def test_a_snapshot_never_changes_and_its_digest_is_of_what_is_downloaded(client, ids, ada, database, become):
    become(ids[3], visibility="private", person_id=ada.id)
    response = ada.post(SNAPSHOTS, json={"title": "Before {all}", "weights": {"metrics": {"memory": 0}}})
    assert response.status_code == 201, response.text
    slug, digest = response.json()["slug"], response.json()["digest"]
    document = client.get(f"/api/v1/snapshots/{slug}")
    assert hashlib.sha256(document.content).hexdigest() == digest
    result = document.json()
    assert result["weights"]["metrics"]["memory"] == 0
    assert [row["name"] for row in result["rows"]] == ["model-0", "model-1", "model-2"], "private rows stay out"
    assert all("submitter" not in row for row in result["rows"])
    assert {dataset["name"] for dataset in result["datasets"]} == {"first", "second"}
    assert result["code"]
    database.write(lambda session: session.execute(delete(Score)))
    assert client.get(f"/api/v1/snapshots/{slug}").content == document.content
    page = client.get(f"/snapshots/{slug}").text
    assert digest in page
    folded = page.index("Digests (SHA-256)")
    assert page.count(digest) - page[folded:].count(digest) == 1, "in plain sight it stands in the citation alone"
    assert digest[:12] not in client.get("/tasks/sentiment/snapshots").text
    assert "@misc{dynabench-" in page
    assert "Before \\{all\\}" in page
    listed = client.get(SNAPSHOTS).json()
    assert [item["slug"] for item in listed["items"]] == [slug]


def test_a_snapshot_signs_the_scores_that_it_shows_of_hidden_data(client, ids, ada, database, become, hide):
    def sign(session):
        for evaluation in session.query(Evaluation):
            signature = f"{evaluation.submission_id:0128x}"
            session.add(Record(evaluation_id=evaluation.id, document={}, signature=signature, made_at=now()))

    database.write(sign)
    for at, (id, visibility) in enumerate(zip(ids, ("public", "public", "anonymous", "anonymous"), strict=True)):
        become(id, person_id=ada.id, visibility=visibility, created_at=now() + timedelta(hours=at))
    hide("first")
    slug = ada.post(SNAPSHOTS, json={}).json()["slug"]
    rows = {row["id"]: row["signatures"] for row in client.get(f"/api/v1/snapshots/{slug}").json()["rows"]}
    first, copy, anonymous, worse = ids
    assert rows[copy] == {"first": f"{first:0128x}", "second": f"{copy:0128x}"}, "a copy shows the first one's scores"
    assert rows[worse] == {"second": f"{worse:0128x}"}, "no score of it is shown"
    assert rows[first]["first"] == f"{first:0128x}"
    assert rows[anonymous]["first"] == f"{anonymous:0128x}"


def test_snapshots_are_listed_in_pages(client, ids, ada):
    slugs = [ada.post(SNAPSHOTS, json={}).json()["slug"] for _ in range(3)]
    first = client.get(f"{SNAPSHOTS}?limit=2").json()
    second = client.get(SNAPSHOTS, params={"limit": 2, "after": first["next"]}).json()
    assert [item["slug"] for item in first["items"] + second["items"]] == slugs[::-1]
    assert second["next"] is None
    assert client.get(f"{SNAPSHOTS}?after=nonsense").status_code == 422
    assert client.get(f"{SNAPSHOTS}?after={'9' * 60}_a").status_code == 422


@pytest.mark.slow
def test_a_day_has_room_for_twenty_snapshots(client, ids, ada):
    status_codes = [ada.post(SNAPSHOTS, json={}).status_code for _ in range(21)]
    assert status_codes == [201] * 20 + [429]


@pytest.mark.parametrize(
    "weights",
    [
        {"metrics": {"accuracy": -1}}, {"metrics": {"accuracy": 99}}, {"metrics": {"accuracy": 1.5}},
        {"metrics": {"accuracy": "4"}}, {"metrics": {"nothing": 1}}, {"datasets": {"nothing": 1}}, {"form": "best"},
        {"datasets": {"first": 0, "second": 0}}, {"other": 1},
    ],
)  # fmt: skip
def test_bad_weights_are_refused(ids, ada, weights: dict[str, Any]):
    for address in (SNAPSHOTS, FORKS):
        answer = ada.post(address, json={"title": "Mine", "weights": weights})
        assert answer.status_code == 422
        assert answer.json()["fields"]


def test_a_fork_weighs_the_current_board_and_belongs_to_its_maker(client, ids, ada, person, become):
    bob = person("bob")
    weights = {"metrics": {"accuracy": 1, "memory": 5}, "datasets": {"second": 0}}
    slug = ada.post(FORKS, json={"title": "Small ones", "note": "For phones.", "weights": weights}).json()["slug"]
    assert slug.startswith("small-ones-")
    document = client.get(f"{BOARD}?fork={slug}").json()
    assert document["weights"]["metrics"]["memory"] == 5
    assert document["weights"]["datasets"] == {"first": 5, "second": 0}
    become(ids[0], state="withdrawn")
    assert len(client.get(f"{BOARD}?fork={slug}").json()["rows"]) == 3, "always current"
    assert bob.patch(f"/api/v1/forks/{slug}", json={"title": "Mine now"}).status_code == 403
    assert bob.delete(f"/api/v1/forks/{slug}").status_code == 403
    changed = ada.patch(f"/api/v1/forks/{slug}", json={"title": "Smaller", "weights": {"metrics": {"memory": 0}}})
    assert (changed.json()["title"], changed.json()["weights"]["metrics"]["memory"]) == ("Smaller", 0)
    assert "Smaller" in client.get(f"/forks/{slug}").text
    assert ada.delete(f"/api/v1/forks/{slug}").status_code == 204
    assert client.get(f"/forks/{slug}").status_code == 404
    assert client.get(f"{BOARD}?fork={slug}").status_code == 404


def test_forms_keep_boards_as_the_page_weighs_them(client, ids, browser):
    ada = browser()
    ada.join("ada")
    page = "/tasks/sentiment/leaderboard"
    submission = ada.submit("/tasks/sentiment/snapshots", page=page, weights="?m.memory=0", title="Mine")
    assert submission.status_code == 303
    assert "memory 0" in ada.get(submission.headers["location"]).text.lower()
    created = ada.submit("/tasks/sentiment/forks", page=page, weights="?m.memory=0&form=guarded", title="My board")
    address = created.headers["location"]
    assert 'id="w-m-memory" name="m.memory" min="0" max="5" step="1" value="0"' in " ".join(
        ada.get(address).text.split()
    )
    assert ada.submit(address, page=page, title="Renamed", note="").status_code == 303
    assert "Renamed" in client.get("/tasks/sentiment/snapshots").text
    assert ada.submit(f"{address}/delete", page=page).status_code == 303
    assert ada.submit("/tasks/sentiment/forks", page=page, weights="?m.memory=nan", title="x").status_code == 422
    assert ada.submit("/tasks/sentiment/forks", page=page, weights="", title=" ").status_code == 422


def test_the_ledger_keeps_withdrawn_tries_and_names_nobody_who_is_not_public(client, ids, ada, become, database):
    for id in ids:
        become(id, person_id=ada.id)
    become(ids[1], state="withdrawn")
    become(ids[2], visibility="private")
    become(ids[3], visibility="anonymous")
    lines = client.get("/api/v1/tasks/sentiment/ledger").json()["items"]
    answer = [(line["name"], line["submitter"], line["nth"], line["state"]) for line in lines[::-1]]
    public = database.read(lambda session: session.get(Submission, ids[0]).person_id) and lines[-1]["submitter"]
    assert public
    assert answer == [
        ("model-0", public, 1, "ready"), ("model-1", public, 2, "withdrawn"), (f"Private {ids[2]}", "", None, "ready"),
        (f"Anonymous {ids[3]}", "", None, "ready"),
    ]  # fmt: skip
    counted = database.read(lambda session: tries_by_submitter(session, None, "sentiment"))
    assert counted == [(public, 3, 1)], "a count that rose by the anonymous one would say whose it is"
    become(ids[1], visibility="anonymous")
    become(ids[0], created_at=now() + timedelta(hours=1))
    again = client.get("/api/v1/tasks/sentiment/ledger").json()["items"]
    assert (again[0]["name"], again[0]["nth"]) == ("model-0", 2), "so would a number that skips it"
    become(ids[1], visibility="public")
    become(ids[0], created_at=now() - timedelta(hours=1))
    sheet = client.get("/api/v1/tasks/sentiment/ledger?format=csv").text
    assert "model-1" in sheet
    assert "model-2" not in sheet
    page = client.get("/tasks/sentiment/ledger").text
    assert "model-1" in page
    assert "model-3" not in page
    assert {line["name"] for line in ada.get("/api/v1/tasks/sentiment/ledger").json()["items"]} == {
        f"model-{n}" for n in range(4)
    }


def test_results_travel_as_model_index_and_come_back_as_reported_alone(client, ids, become):
    card = client.get(f"{BOARD}/rows/{ids[0]}/card")
    matter = yaml.safe_load(card.text.split("---")[1])
    results = matter["model-index"][0]["results"]
    assert {result["dataset"]["name"] for result in results} == {"First", "Second"}
    value = client.get(f"{BOARD}/rows/{ids[0]}").json()["datasets"]["first"]["accuracy"]["value"]
    assert results[0]["metrics"][0] == {"type": "accuracy", "name": "Accuracy (%)", "value": round(value, 6)}
    before = client.get(BOARD).json()
    become(ids[3], readme=card.text.replace(f"value: {round(value, 6)}", "value: 123.456"))
    items = client.get("/api/v1/tasks/sentiment/reported").json()["items"]
    assert len(items) == 12
    assert {item["on"] for item in items} == {"first", "second"}
    assert "12 results reported elsewhere" in client.get("/tasks/sentiment/leaderboard").text
    assert "123.456" in client.get("/tasks/sentiment/reported").text
    assert client.get(BOARD).json() == before, "what others report is not ranked"
    become(ids[3], visibility="anonymous")
    assert "123.456" not in client.get("/tasks/sentiment/reported").text


def test_papers_with_code_has_a_table_for_each_dataset(client, ids):
    (task,) = client.get(f"{BOARD}/paperswithcode").json()
    assert [dataset["dataset"] for dataset in task["datasets"]] == ["First", "Second"]
    assert len(task["datasets"][0]["sota"]["rows"]) == 4
    assert float(task["datasets"][0]["sota"]["rows"][0]["metrics"]["Accuracy"]) > 50
