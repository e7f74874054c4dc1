"""A task is packed, brought in under another name and cloned by a real worker that is killed on the way."""

import pytest

from tests.archives.packing import alike
from tests.jobs.conftest import ended, until, upload

pytestmark = [pytest.mark.release, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]


def done(caller, job):
    def check():
        document = caller.get(f"/api/v1/archives/{job}").json()
        assert document["state"] != "failed", document
        return document if document["state"] == "done" else None

    return until(check)


def test_a_task_is_packed_brought_in_and_cloned_though_the_worker_dies(worker, owner, client, tmp_path):
    client.app.state.settings.new_tasks = "free"
    rows = b"".join(b'{"premise": "Number %d."}\n' % number for number in range(2000))
    brought = upload(owner, "rows.jsonl", rows)
    worker.start()
    ended(owner, brought)
    packed = owner.post("/api/v1/tasks/nli/archives", json={}).json()["id"]
    assert done(owner, packed)["result"]["rows"]["contexts"] == 2000
    archive = owner.get(f"/api/v1/archives/{packed}/file").content
    job = owner.post("/api/v1/archives", params={"id": "copy"}, content=archive).json()["id"]
    until(lambda: owner.get("/api/v1/tasks/copy/contexts").json().get("items"), pause=0.02)
    worker.end()
    worker.start()
    assert done(owner, job)["result"]["rows"]["contexts"] == 2000
    again = owner.post("/api/v1/tasks/copy/archives", json={}).json()["id"]
    assert done(owner, again)["result"]["rows"]["contexts"] == 2000
    second = owner.get(f"/api/v1/archives/{again}/file").content
    assert alike(second, "nli") == alike(archive, "nli")
    cloned = owner.post("/api/v1/tasks/copy/clone", json={"id": "clone"}).json()["id"]
    assert done(owner, cloned)["task"] == "clone"
    assert len(owner.get("/api/v1/tasks/clone/contexts", params={"limit": 100}).json()["items"]) == 100
    assert any(
        "was created from its archive" in item["text"] for item in owner.get("/api/v1/me/notices").json()["items"]
    )
