"""Archives over HTTP: who may ask for one, send one, fetch one; the work itself is played in `tests/jobs`."""

import pytest

from dynabench.datasets.archives import service
from dynabench.kit import jobs
from tests.archives.packing import packed
from tests.console import conftest as console

host, rules, client, furnish, enter = console.host, console.rules, console.client, console.furnish, console.enter
admin, owner, ada, bob = console.admin, console.owner, console.ada, console.bob
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.fixture
def archive(client, owner, settings):
    return packed(client.app.state.db, settings, "nli")


def kinds(client):
    return client.app.state.db.read(lambda session: [row.kind for row in session.query(jobs.Job)])


def test_owners_ask_for_archives_and_see_how_they_go(owner, ada, client):
    response = owner.post("/api/v1/tasks/nli/archives", json={})
    assert (response.status_code, response.json()["state"], response.json()["kind"]) == (202, "queued", "export")
    assert ada.post("/api/v1/tasks/nli/archives", json={}).status_code == 403
    assert ada.get(f"/api/v1/archives/{response.json()['id']}").status_code == 404
    assert [item["id"] for item in owner.get("/api/v1/tasks/nli/archives").json()["items"]] == [response.json()["id"]]
    assert owner.get(f"/api/v1/archives/{response.json()['id']}/file").status_code == 409, "it is not written yet"
    service.archive_path(client.app.state.settings, response.json()["id"]).write_bytes(b"PK")
    assert owner.get(f"/api/v1/archives/{response.json()['id']}/file").content == b"PK"
    assert ada.get(f"/api/v1/archives/{response.json()['id']}/file").status_code == 404


def test_only_who_makes_tasks_sends_archives(admin, ada, archive, client):
    assert ada.post("/api/v1/archives", params={"id": "copy"}, content=archive).status_code == 403
    assert admin.post("/api/v1/archives", params={"id": "nli"}, content=archive).status_code == 422
    assert admin.post("/api/v1/archives", params={"id": "copy"}, content=b"PK nonsense").status_code == 422
    assert kinds(client) == []
    assert list((client.app.state.settings.folder / "uploads").glob("*.zip")) == []
    assert admin.post("/api/v1/archives", params={"id": "copy"}, content=archive).status_code == 202
    client.app.state.settings.new_tasks = "free"
    assert ada.post("/api/v1/archives", params={"id": "mine"}, content=archive).status_code == 202
    assert kinds(client) == ["import_task", "import_task"]


def test_a_clone_is_asked_for_by_owners_under_a_free_name(admin, ada, client):
    assert admin.post("/api/v1/tasks/nli/clone", json={"id": "sentiment"}).status_code == 422
    assert ada.post("/api/v1/tasks/nli/clone", json={"id": "nli-2"}).status_code == 403
    assert admin.post("/api/v1/tasks/nli/clone", json={"id": "nli-2"}).json()["task"] == "nli-2"


def test_an_owner_who_may_not_make_tasks_is_told_so_instead_of_asked_for_a_name(owner, ada, enter, client):
    assert owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "owner"}).status_code == 200
    page = enter(ada)
    lists = page.get("/tasks/nli/manage/archives").text
    assert "New tasks need an admin" in lists
    assert ">Clone</button>" not in lists
    client.app.state.settings.new_tasks = "free"
    assert ">Clone</button>" in page.get("/tasks/nli/manage/archives").text


@pytest.mark.slow
def test_the_pages_say_the_same(admin, owner, enter, archive):
    page = enter(owner)
    submission = page.submit("/tasks/nli/manage/archives", page="/settings", examples="yes")
    assert submission.status_code == 303
    assert "Waiting in the queue" in page.get(submission.headers["location"]).text
    lists = page.get("/tasks/nli/manage/archives").text
    assert "Create archive" in lists
    assert ">Clone</button>" in lists
    root = enter(admin)
    headers = {"X-CSRF-Token": root.token("/settings")}
    wrong = root.client.post("/archives", data={"id": "nli"}, files={"file": ("a.zip", archive)}, headers=headers)
    assert wrong.status_code == 422
    assert "A task nli already exists" in wrong.text
    sent = root.client.post("/archives", data={"id": "copy"}, files={"file": ("a.zip", archive)}, headers=headers)
    assert "Waiting in the queue" in root.get(sent.headers["location"]).text
    assert "copy" in root.get("/archives").text
