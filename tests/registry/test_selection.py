"""A task in which people choose training data, by a real worker: baselines, sets of two people, the board."""

import csv
import io
import time

import pytest
from sqlalchemy import select

from dynabench.benchmark.registry.tables import Submission
from dynabench.operations import demo
from dynabench.rounds import service as rounds
from dynabench.tasks.shipped import shipped_selections
from tests.jobs.conftest import Worker, until

[SHIPPED] = shipped_selections()
TASK = "/api/v1/tasks/data-selection"
POOL = list(SHIPPED.rows("pool"))
CAREFUL = [row for row in POOL if "desk" in row["tags"]]


@pytest.fixture
def worker(settings, tmp_path, owner, database):
    demo.add_selection(database, settings, SHIPPED)
    created = Worker(settings, tmp_path / "worker.log")
    created.env |= {"OMP_NUM_THREADS": "1"}
    created.start()
    yield created
    if created.process.poll() is None:
        created.end()


def balanced():
    topics = {row["answers"][0]["topic"] for row in CAREFUL}
    return [row for topic in sorted(topics) for row in [r for r in CAREFUL if r["answers"][0]["topic"] == topic][:30]]


def send(caller, name, rows, **said):
    content = "".join(f"{row['uid']}\n" for row in rows).encode()
    file = caller.post(f"{TASK}/submissions/files", params={"name": "rows.txt"}, content=content).json()["file"]
    answer = caller.post(f"{TASK}/submissions", json={"kind": "training_set", "name": name, "file": file, **said})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def ended(caller, worker, id):
    def look():
        time.sleep(0.3)  # the worker needs the processor
        document = caller.get(f"/api/v1/submissions/{id}").json()
        assert worker.process.poll() is None, worker.log_text()
        return document if document["state"] not in ("queued", "checking") else None

    return until(look, 300)


def board(caller, rows, metric="accuracy"):
    """The board's rows by name, once as many of them are scored on both datasets."""

    def look():
        time.sleep(0.3)
        result = {row["name"]: row for row in caller.get(f"{TASK}/leaderboard").json()["rows"]}
        done = [row for row in result.values() if all(cell[metric]["value"] for cell in row["datasets"].values())]
        return result if len(done) == rows else None

    return until(look, 300)


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # the rules below are tried on both
def test_choosing_is_scored_beside_chance_and_the_whole_pool(ada, bob, worker, browser, database, settings):
    chosen, poor = balanced(), POOL[:20]
    mine = send(ada, "careful", chosen, visibility="public", readme="From the desk, as many of each topic.")
    theirs = send(bob, "hasty", poor, visibility="anonymous")
    bad = send(bob, "wrong", [POOL[0], {"uid": "nobody"}, POOL[0]])
    created = ended(ada, worker, mine)
    assert (created["state"], created["model"], created["inside"]) == ("ready", "careful", True), created
    assert [step["name"] for step in created["report"]["steps"][:2]] == ["rows", "learns"]
    assert created["card"]["rows"] == len(chosen)
    assert sum(created["card"]["balance"].values()) == len(chosen)
    assert ended(bob, worker, theirs)["state"] == "ready"
    wrong = ended(bob, worker, bad)
    assert (wrong["state"], wrong["code"]) == ("failed", "wrong_rows")
    lines = wrong["report"]["steps"][0]["told"].splitlines()
    assert lines[1:] == ["line 2: The pool has no row 'nobody'.", "line 3: Row 'p-001' already occurs in line 1."]

    result = board(ada, 4)
    names = {"careful", f"Anonymous {theirs}", "data-selection-random-rows", "data-selection-whole-pool"}
    assert result.keys() == names
    score = {name: row["datasets"]["test"]["accuracy"] for name, row in result.items()}
    assert score["careful"]["value"] > score["data-selection-random-rows"]["value"] + 10
    assert score["careful"]["low"] < score["careful"]["value"] < score["careful"]["high"]
    assert result["data-selection-random-rows"]["rows"] == 120
    assert result["data-selection-whole-pool"]["rows"] == len(POOL)
    assert "rows" not in result[f"Anonymous {theirs}"], "of an anonymous one nothing but its scores is told"
    assert result["careful"]["datasets"].keys() == {"dev", "test"}, "no model is scored on the pool"

    sheet = list(csv.DictReader(io.StringIO(ada.get(f"{TASK}/leaderboard/file?format=csv").text)))
    assert {row["name"]: row["rows"] for row in sheet}["careful"] == str(len(chosen))
    sent = ada.get(f"/api/v1/submissions/{mine}/rows")
    assert sent.content.decode().split() == [row["uid"] for row in chosen]
    assert bob.get(f"/api/v1/submissions/{mine}/rows").status_code == 404

    visitor = browser()
    hidden = [row["inputs"]["message"] for row in SHIPPED.rows("test")]
    for path in ("/tasks/data-selection", "/tasks/data-selection/leaderboard",
                 f"/tasks/data-selection/leaderboard/rows/{mine}", "/tasks/data-selection/datasets/pool"):  # fmt: skip
        page = visitor.get(path)
        assert page.status_code == 200, path
        assert not [text for text in hidden if text in page.text], path
    assert ada.post(f"/api/v1/submissions/{mine}/withdraw").status_code == 200
    assert ada.get(f"/api/v1/submissions/{mine}/rows").status_code == 409
    assert board(ada, 3).keys() == names - {"careful"}


@pytest.mark.slow
def test_only_training_sets_are_taken_and_the_learner_stays(ada, owner, settings, database):
    demo.add_selection(database, settings, SHIPPED)
    hub = ada.post(f"{TASK}/submissions", json={"kind": "hub", "name": "mine", "hub": "owner/name"})
    assert (hub.status_code, list(hub.json()["fields"])) == (422, ["kind"])
    other = ada.post("/api/v1/tasks/nli/submissions", json={"kind": "training_set", "name": "mine"})
    assert (other.status_code, list(other.json()["fields"])) == (422, ["kind"])
    none = ada.post(f"{TASK}/submissions", json={"kind": "training_set", "name": "mine"})
    assert (none.status_code, list(none.json()["fields"])) == (422, ["file"])
    changed = owner.post("/api/v1/tasks", json={"config": SHIPPED.source.replace("c: 10.0", "c: 1.0")})
    assert (changed.status_code, list(changed.json()["fields"])) == (422, ["training.learner"])
    assert owner.patch(f"{TASK}/datasets/pool", json={"visibility": "hidden"}).status_code == 200
    assert ada.post(f"{TASK}/submissions", json={"kind": "training_set", "name": "mine"}).status_code == 409


def test_a_task_that_could_not_be_added_with_its_data_is_added_when_it_is_tried_again(ada, owner, settings, database):
    in_the_way = settings.folder / "datasets"
    in_the_way.touch()
    with pytest.raises(OSError, match="datasets"):
        demo.add_selection(database, settings, SHIPPED)
    assert ada.get(TASK).status_code == 404, "the demo is set up where the task is not there"
    in_the_way.unlink()
    demo.add_selection(database, settings, SHIPPED)
    assert {item["name"] for item in owner.get(f"{TASK}/datasets").json()["items"]} == {"dev", "test", "pool"}


def test_the_platform_enters_its_baselines_once_for_each_version_of_the_pool(database, settings, owner, ada):
    from dynabench.benchmark.registry import platform_submissions

    demo.add_selection(database, settings, SHIPPED)
    submission = Submission(task_id="nli", kind="hub", name="data-selection-whole-pool", person_id=ada.id)
    database.write(lambda session: session.add(submission))
    assert len(database.write(platform_submissions.submit_missing_baselines, "data-selection")) == 2
    assert database.write(platform_submissions.submit_missing_baselines, "data-selection") == []
    entered = database.read(lambda s: s.scalars(select(Submission.name).where(Submission.kind == "training_set")).all())
    assert sorted(entered) == ["data-selection-random-rows", "data-selection-whole-pool-2"]
    assert database.write(platform_submissions.submit_missing_baselines, "nli") == []
    database.write(rounds.save_task, None, SHIPPED.source.replace("rows: 120", "rows: 100"))
