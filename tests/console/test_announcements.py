"""Announcements: on the task's pages until a day, put away by each, told by a job; safe markdown."""

from datetime import timedelta

import pytest

from dynabench.announcements import jobs
from dynabench.announcements.service import Announcement
from dynabench.kit.db import now
from dynabench.kit.jobs import Job

HERE = "/tasks/nli/manage/announcements"


def day(offset):
    return (now().date() + timedelta(days=offset)).isoformat()


def announce(owner, text="Round 2 opens **Friday**.", until=7, **more):
    return owner.post("/api/v1/tasks/nli/announcements", json={"text": text, "until": day(until), **more})


def test_it_is_shown_to_members_until_they_put_it_away_or_it_ends(owner, ada, bob, enter, client):
    document = announce(owner).json()
    page = enter(ada)
    for address in ("/tasks/nli", "/tasks/nli/create", "/tasks/nli/validate", "/tasks/nli/people"):
        assert "<strong>Friday</strong>" in page.get(address).text, address
    assert "Friday" not in client.get("/tasks/nli").text, "visitors take no part"
    assert page.submit(f"/tasks/nli/announcements/{document['id']}/seen", page="/settings").status_code == 303
    assert "Friday" not in page.get("/tasks/nli").text
    assert [item["id"] for item in bob.get("/api/v1/tasks/nli/announcements").json()["items"]] == [document["id"]]
    assert bob.post(f"/api/v1/tasks/nli/announcements/{document['id']}/seen").status_code == 204
    assert bob.post(f"/api/v1/tasks/nli/announcements/{document['id']}/seen").status_code == 204
    assert bob.get("/api/v1/tasks/nli/announcements").json()["items"] == []
    owner.delete(f"/api/v1/tasks/nli/announcements/{document['id']}")
    assert owner.get("/api/v1/tasks/nli/announcements").json()["items"] == []


def test_what_is_past_or_too_far_or_too_much_is_refused(owner, ada, database):
    assert announce(owner, until=-1).status_code == 422
    assert announce(owner, until=91).status_code == 422
    assert announce(owner, text=" ").status_code == 422
    assert announce(ada).status_code == 403
    for _ in range(5):
        assert announce(owner).status_code == 201
    assert announce(owner).status_code == 409
    database.write(lambda session: session.query(Announcement).update({"until": now() - timedelta(seconds=1)}))
    assert owner.get("/api/v1/tasks/nli/announcements").json()["items"] == []
    assert announce(owner).status_code == 201


def test_everybody_who_takes_part_is_told_once(owner, ada, bob, database, monkeypatch):
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "annotator"})
    announce(owner, tell=True)
    job = database.read(lambda session: session.query(Job).filter_by(kind="tell_announcement").one())
    monkeypatch.setattr(jobs, "SIZE", 1)
    while database.write(jobs._tell, job.id, job.payload["announcement"]):
        pass
    texts = [item["text"] for item in ada.get("/api/v1/me/notices").json()["items"]]
    assert texts == ["Natural language inference: Round 2 opens **Friday**."]
    assert bob.get("/api/v1/me/notices").json()["items"] == []


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_console_writes_and_ends_them_and_scripts_stay_out(owner, enter):
    page = enter(owner)
    sent = {"text": "<script>alert(1)</script> [x](javascript:alert(1)) *now*", "until": day(1)}
    assert page.submit(HERE, page="/settings", text="", until="soon").status_code == 422
    assert page.submit(HERE, page="/settings", **sent).status_code == 303
    view = page.get("/tasks/nli").text
    assert "<em>now</em>" in view
    assert "<script>alert" not in view
    assert 'href="javascript' not in view
    number = owner.get("/api/v1/tasks/nli/announcements").json()["items"][0]["id"]
    assert page.submit(f"{HERE}/{number}/end", page="/settings").status_code == 303
    assert "<em>now</em>" not in page.get("/tasks/nli").text
