"""Tasks that people propose: waiting for an admin, accepted, refused, withdrawn; and sites where nobody has to."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dynabench.tasks import TaskConfig
from tests.collection import conftest as world

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob

CONFIG = """
id: {id}
name: Irony
input: [{{name: text, type: text}}]
answer: {{name: label, type: choice, options: [ironic, plain], goal: chosen}}
"""


def proposed(person, id="irony", **more):
    answer = person.post("/api/v1/proposals", json={"config": CONFIG.format(id=id)} | more)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def decide(admin, id, accept, reason=""):
    return admin.post(f"/api/v1/proposals/{id}/decision", json={"accept": accept, "reason": reason})


def notices_of(person):
    return [item["text"] for item in person.get("/api/v1/me/notices").json()["items"]]


def test_an_accepted_proposal_is_a_task_of_who_wrote_it(admin, ada, bob):
    id = proposed(ada, note="Nobody measures this.")
    assert "ada proposes a task: Irony." in notices_of(admin)
    assert bob.get(f"/api/v1/proposals/{id}").status_code == 404
    assert decide(bob, id, True).status_code == 403
    assert decide(admin, id, True).json()["state"] == "accepted"
    assert any("was accepted" in item for item in notices_of(ada))
    assert ada.post("/api/v1/tasks", json={"config": CONFIG.format(id="irony") + "# more\n"}).json()["version"] == 2
    assert bob.post("/api/v1/tasks", json={"config": CONFIG.format(id="irony") + "# mine\n"}).status_code == 403
    assert decide(admin, id, False, "Late.").status_code == 409


def test_a_refusal_says_why_and_leaves_no_task(admin, ada, client):
    id = proposed(ada)
    assert decide(admin, id, False).status_code == 422
    assert decide(admin, id, False, "Too like nli.").json()["reason"] == "Too like nli."
    assert any("Too like nli." in item for item in notices_of(ada))
    assert client.get("/api/v1/tasks/irony").status_code == 404
    assert [element["state"] for element in ada.get("/api/v1/proposals").json()["items"]] == ["refused"]


def test_only_five_wait_and_withdrawn_ones_make_room(ada, admin):
    ids = [proposed(ada, f"task-{number}") for number in range(5)]
    body = {"config": CONFIG.format(id="one-more")}
    assert ada.post("/api/v1/proposals", json=body).status_code == 409
    assert ada.post(f"/api/v1/proposals/{ids[0]}/withdraw").json()["state"] == "withdrawn"
    assert admin.post(f"/api/v1/proposals/{ids[1]}/withdraw").status_code == 403
    assert ada.post("/api/v1/proposals", json=body).status_code == 201
    document = admin.get("/api/v1/proposals", params={"state": "waiting", "limit": 3}).json()
    assert [item["task"] for item in document["items"]] == ["one-more", "task-4", "task-3"]
    rest = admin.get("/api/v1/proposals", params={"state": "waiting", "after": document["next"]}).json()
    assert [element["task"] for element in rest["items"]] == ["task-2", "task-1"]


def test_of_two_proposals_for_one_name_the_second_is_told_so(ada, bob, admin):
    first, second = proposed(ada), proposed(bob)
    decide(admin, first, True)
    late = decide(admin, second, True)
    assert late.status_code == 422
    assert "A task irony already exists" in late.json()["fields"]["id"]
    assert decide(admin, second, False, "The name is taken.").status_code == 200


@pytest.mark.parametrize("config", ["id: [", CONFIG.format(id="nli"), CONFIG.format(id="new")])
def test_what_cannot_be_a_task_is_refused_at_once(ada, config):
    assert ada.post("/api/v1/proposals", json={"config": config}).status_code == 422


class TestOtherSites:
    def test_where_everybody_makes_tasks_nothing_waits(self, ada, client):
        client.app.state.settings.new_tasks = "free"
        assert ada.post("/api/v1/proposals", json={"config": CONFIG.format(id="irony")}).status_code == 409
        assert ada.post("/api/v1/tasks", json={"config": CONFIG.format(id="irony")}).status_code == 201
        assert ada.get("/api/v1/tasks/irony/versions").status_code == 200

    def test_where_admins_alone_do_nobody_proposes(self, ada, client):
        client.app.state.settings.new_tasks = "admins"
        assert ada.post("/api/v1/proposals", json={"config": CONFIG.format(id="irony")}).status_code == 403
        assert ada.post("/api/v1/tasks", json={"config": CONFIG.format(id="irony")}).status_code == 403


WAYS = {
    "saved": ("admin", "/api/v1/tasks", {}),
    "proposed": ("ada", "/api/v1/proposals", {"note": ""}),
}


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # where one writes at a time
@pytest.mark.parametrize("way", WAYS)
def test_others_write_while_a_long_config_is_parsed(way, request, bob, monkeypatch):
    """The parser goes on only after bob has written something."""
    person, path, more = WAYS[way]
    sender = request.getfixturevalue(person)
    began, written, parse = threading.Event(), threading.Event(), TaskConfig.parse
    waited = []

    def patient(text, **how):
        if "# long" in text and not waited:
            began.set()
            waited.append(written.wait(10))
        return parse(text, **how)

    monkeypatch.setattr(TaskConfig, "parse", patient)

    def write():
        assert began.wait(30)
        assert bob.post("/api/v1/tokens", json={"name": "second"}).status_code == 201
        written.set()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        answer = sender.post(path, json={"config": CONFIG.format(id=f"long-{way}") + "# long\n"} | more)
        writing.result()
    assert answer.status_code == 201, answer.text
    assert waited == [True]


def test_a_config_is_not_parsed_for_who_may_save_none(bob, monkeypatch):
    def parse(text):
        raise AssertionError("it was parsed")

    monkeypatch.setattr(TaskConfig, "parse", parse)
    assert bob.post("/api/v1/tasks", json={"config": CONFIG.format(id="none") + "# none\n"}).status_code == 403
