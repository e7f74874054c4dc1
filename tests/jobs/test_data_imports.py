"""Files of examples, imported by a worker that may die at any moment."""

import json
import signal

import pytest
from sqlalchemy import func, select

from dynabench.collection.tables import Example, Standing
from dynabench.people.accounts.tables import Act
from dynabench.rounds.tables import Round
from tests.datasets.test_hub import address  # noqa: F401
from tests.jobs.conftest import until

pytestmark = pytest.mark.slow

API = "/api/v1/tasks/nli/imports"
MANY = 900


def row(number, **more):
    return {"uid": str(number), "premise": "It rains.", "hypothesis": f"It is wet, {number}.", "label": "e",
            "model_label": "n", "verifier_labels": ["e", "e"]} | more  # fmt: skip


def started(owner, rows, **plan):
    content = "\n".join(json.dumps(item) for item in rows).encode()
    sent = owner.post(f"{API}/files", params={"name": "file.jsonl"}, content=content)
    assert sent.status_code == 201, sent.text
    answer = owner.post(API, json={"file": sent.json()["file"], **plan})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def ended(owner, job):
    def look():
        document = owner.get(f"{API}/{job}").json()
        return document if document["state"] in ("done", "failed", "cancelled") else None

    return until(look, 120)


def count(database, table):
    return database.read(lambda session: session.scalar(select(func.count()).select_from(table)))


@pytest.mark.release
def test_a_file_of_examples_is_imported_with_its_refused_rows(owner, worker, database, settings):
    worker.start()
    rows = [row(1), row(2, label="what"), row(3, hypothesis=""), row(1)]
    answer = ended(owner, job := started(owner, rows))
    assert answer["state"] == "done", (answer, worker.log_text())
    result = answer["result"]
    assert (result["created"], result["duplicates"], result["failed"], result["rounds"]) == (1, 1, 2, [1])
    assert [error["row"] for error in result["errors"]] == [2, 3]
    page = owner.get(f"{API}/{job}/refused").json()
    assert page["items"][0]["values"]["label"] == "what"
    standing = database.read(lambda session: session.scalars(select(Standing)).one())
    assert (standing.fooled, standing.verdict) == (True, "correct")
    acts = database.read(lambda session: session.scalars(select(Act.kind).order_by(Act.id)).all())
    assert acts.count("data.imported") == 1
    assert [path for path in (settings.folder / "uploads").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_worker_that_dies_in_between_brings_nothing_twice(owner, worker, database):
    worker.start()
    job = started(owner, [row(number) for number in range(MANY)])
    until(lambda: count(database, Example) > 0, pause=0.02)
    worker.end(signal.SIGKILL)
    assert count(database, Example) < MANY
    worker.start()
    answer = ended(owner, job)
    assert answer["state"] == "done", (answer, worker.log_text())
    assert answer["result"]["created"] == MANY
    assert count(database, Example) == count(database, Standing) == MANY
    assert count(database, Round) == 1


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_dataset_of_the_hub_is_downloaded_and_imported(owner, worker, database, settings, address):  # noqa: F811
    worker.env["DYNABENCH_HUB_URL"] = address
    worker.start()
    job = owner.post(f"{API}/hub", json={"dataset": "some/data"}).json()["id"]
    answer = ended(owner, job)
    assert answer["state"] == "done", (answer, worker.log_text())
    assert (answer["result"]["created"], count(database, Example)) == (1, 1)
    unknown = ended(owner, owner.post(f"{API}/hub", json={"dataset": "no/such"}).json()["id"])
    assert (unknown["state"], "no dataset no/such" in unknown["error"]) == ("failed", True)
    assert list((settings.folder / "uploads").glob(".hub-*")) == []
