"""Tasks, versions, roles and rounds through the JSON API."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from dynabench.people.accounts.tables import Act
from dynabench.tasks import shipped_tasks
from tests.collection.conftest import draw, send, written

NLI = next(shipped.source for shipped in shipped_tasks() if shipped.config.id == "nli")
BARE = """
id: bare
name: No context
input: [{name: text, type: text}]
answer: {name: label, type: choice, options: [yes_, no_]}
"""


def test_admins_create_tasks_and_own_them(admin, person):
    ada = person("ada")
    assert ada.post("/api/v1/tasks", json={"config": NLI}).status_code == 403
    response = admin.post("/api/v1/tasks", json={"config": NLI})
    assert (response.status_code, response.json()) == (
        201,
        {"id": "nli", "version": 1, "created": True, "changed": True},
    )
    again = admin.post("/api/v1/tasks", content=NLI, headers={"content-type": "application/yaml"})
    assert (again.status_code, again.json()["changed"]) == (200, False)


def test_owners_by_promotion_change_their_task_only(admin, person):
    ada = person("ada")
    admin.post("/api/v1/tasks", json={"config": NLI})
    body = {"username": "ada", "role": "owner"}
    assert ada.post("/api/v1/tasks/nli/roles", json=body).status_code == 403
    assert admin.post("/api/v1/tasks/nli/roles", json=body).status_code == 200
    newer = ada.post("/api/v1/tasks", json={"config": NLI.replace("max_length: 500", "max_length: 400", 1)})
    assert (newer.status_code, newer.json()["version"]) == (201, 2)
    assert ada.post("/api/v1/tasks", json={"config": BARE}).status_code == 403


def test_an_open_round_keeps_its_version(owner, ada):
    drawn = draw(ada)
    shorter = NLI.replace(
        "- name: hypothesis\n    type: text\n    max_length: 500",
        "- name: hypothesis\n    type: text\n    max_length: 10",
    )
    assert shorter != NLI
    assert owner.post("/api/v1/tasks", json={"config": shorter}).json()["version"] == 2
    assert owner.get("/api/v1/tasks/nli").json()["version"] == 1
    assert send(ada, written(drawn, "They sleep for a long time.")).status_code == 201
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).json()["version"] == 2
    assert send(ada, written(draw(ada), "They sleep for a long time.")).status_code == 422


def test_a_version_with_other_contexts_is_refused_once_there_are_some(owner):
    renamed = NLI.replace("name: premise", "name: passage")
    answer = owner.post("/api/v1/tasks", json={"config": renamed})
    assert answer.status_code == 409
    assert "premise" in answer.json()["detail"]


@pytest.mark.parametrize(
    "config", ["", "id: [", "- a", "id: nli", "x" * 200_001, "&a [*a]", "id: !!python/object:os.system x"]
)
def test_configs_that_are_none_are_refused(admin, config):
    answer = admin.post("/api/v1/tasks", json={"config": config})
    assert answer.status_code == 422
    assert answer.json()["fields"]


def test_the_task_shows_its_fields_and_the_open_round(owner, client):
    document = client.get("/api/v1/tasks/nli").json()
    assert [field["name"] for field in document["input"]] == ["hypothesis"]
    assert [option["value"] for option in document["answer"][0]["options"]] == [
        "entailment",
        "neutral",
        "contradiction",
    ]
    assert document["goal"] == "assigned"
    assert document["round"]["targets"][0]["model"] == "nli-a"
    assert document["round"] == client.get("/api/v1/tasks/nli/rounds/1").json()
    listed = client.get("/api/v1/tasks?limit=2").json()
    assert ([item["id"] for item in listed["items"]], listed["next"]) == (["boolq", "hate"], "hate")
    following = client.get("/api/v1/tasks?after=ner").json()["items"][0]
    assert (following["id"], following["open_round"]) == ("nli", 1)


def test_rounds_are_refused_without_fitting_targets(owner):
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    for targets in ([], ["nobody"], ["nli-a", "nli-a"], ["sentiment-a"], ["nli-a@0000"]):
        answer = owner.post("/api/v1/tasks/nli/rounds", json={"targets": targets})
        assert set(answer.json()["fields"]) == {"targets"}, targets
    assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"], "ensemble": "most"}).status_code == 422


@pytest.mark.slow
def test_one_round_of_a_task_is_open_at_a_time(owner, ada, database):
    body = {"targets": ["nli-a", "nli-b"], "ensemble": "majority"}
    assert ada.post("/api/v1/tasks/nli/rounds", json=body).status_code == 403
    assert owner.post("/api/v1/tasks/nli/rounds", json=body).status_code == 409
    assert ada.post("/api/v1/tasks/nli/rounds/1/close").status_code == 403
    closed = owner.post("/api/v1/tasks/nli/rounds/1/close").json()
    assert closed["state"] == "closed"
    assert owner.post("/api/v1/tasks/nli/rounds/1/close").json() == closed
    assert owner.post("/api/v1/tasks/nli/rounds/1/open").status_code == 409
    with ThreadPoolExecutor(4) as pool:
        codes = sorted(pool.map(lambda _: owner.post("/api/v1/tasks/nli/rounds", json=body).status_code, range(4)))
    assert codes == [201, 409, 409, 409]
    assert owner.get("/api/v1/tasks/nli/rounds/2").json()["ensemble"] == "majority"
    kinds = database.read(lambda session: list(session.scalars(select(Act.kind).order_by(Act.id))))
    assert {"task.saved", "round.opened", "round.closed"} <= set(kinds)


def test_drafts_are_for_owners_until_opened(owner, ada):
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    drafted = owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"], "draft": True}).json()
    assert drafted["state"] == "draft"
    assert ada.get("/api/v1/tasks/nli/rounds/2").status_code == 404
    assert owner.get("/api/v1/tasks/nli/rounds/2").status_code == 200
    assert owner.post("/api/v1/tasks/nli/rounds/2/close").status_code == 409
    assert owner.post("/api/v1/tasks/nli/rounds/2/open").json()["state"] == "open"
    assert ada.get("/api/v1/tasks/nli/rounds/2").status_code == 200


@pytest.mark.parametrize(("ensemble", "fooled"), [("any", True), ("majority", False), ("all", False)])
def test_an_ensemble_is_fooled_by_its_rule(owner, ada, ensemble, fooled):
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    body = {"targets": ["nli-a", "nli-b"], "ensemble": ensemble}
    assert owner.post("/api/v1/tasks/nli/rounds", json=body).status_code == 201
    drawn = draw(ada)
    while drawn["goal"]["label"] != "neutral":
        drawn = draw(ada)
    document = send(ada, written(drawn, "They sleep.")).json()
    assert [prediction["fooled"] for prediction in document["predictions"]] == [True, False]
    assert document["fooled"] is fooled


def test_a_task_without_context_needs_no_upload(admin, client, rules):
    assert admin.post("/api/v1/tasks", json={"config": BARE}).status_code == 201
    answer = admin.post("/api/v1/tasks/bare/rounds", json={"targets": ["sentiment-a"]})
    assert set(answer.json()["fields"]) == {"targets"}  # it needs a statement, which this task has not
