"""Limits of what a person sends in a day, and the reserve of the disk."""

import shutil
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from dynabench.kit.db import now
from dynabench.site import request_bodies
from dynabench.site.app import create_app
from tests.api.sending import JSON, MIB, CountedBody


def test_one_person_sends_so_many_bytes_a_day_and_may_go_on_later(client, person, monkeypatch):
    ada, bob = person("ada"), person("bob")
    settings, late = client.app.state.settings, [timedelta()]
    monkeypatch.setattr(request_bodies, "now", lambda: now() + late[0])
    monkeypatch.setattr(settings, "upload_mb_per_day", 3)
    body = {"rows": 1, "text": "x" * (2 * MIB)}
    path = "/api/v1/models/nli-a/ask"
    assert ada.post(path, json=body).status_code != 429
    refused = ada.post(path, json=body)
    assert refused.status_code == 429
    after = int(refused.headers["retry-after"])
    assert 6 * 3600 < after < 10 * 3600, "a third of a day's bytes are too many"
    assert bob.post(path, json=body).status_code != 429, "others are not held to it"
    late[0] += timedelta(seconds=after)
    assert ada.post(path, json=body).status_code != 429


def test_bytes_of_a_day_count_in_every_web_process_and_after_a_restart(client, person, monkeypatch):
    ada, settings = person("ada"), client.app.state.settings
    monkeypatch.setattr(settings, "upload_mb_per_day", 3)
    body = {"rows": 1, "text": "x" * (2 * MIB)}
    path = "/api/v1/models/nli-a/ask"
    assert ada.post(path, json=body).status_code != 429
    with TestClient(create_app(settings, host=client.app.state.host)) as other:
        assert other.post(path, json=body, headers=ada.headers).status_code == 429


@pytest.mark.parametrize(("setting", "status"), [("upload_mb_per_day", 429), ("disk_reserve_mb", 507)])
def test_a_body_of_unknown_length_is_refused_as_soon_as_it_is_too_much(
    client, person, ask, monkeypatch, setting, status
):
    ada, settings = person("ada"), client.app.state.settings
    body = CountedBody(5 * MIB, head=b'{"text": "')
    value = 3 if setting == "upload_mb_per_day" else shutil.disk_usage(settings.folder).free // MIB + 1000
    monkeypatch.setattr(settings, setting, value)
    answer = ask("POST", "/api/v1/models/nli-a/ask", content=body, headers=JSON | ada.headers)
    assert answer.status_code == status, answer.text
    assert ("retry-after" in answer.headers) == (status == 429)
    assert body.read < 5 * MIB, "the rest was not waited for"


def test_all_that_came_of_a_body_counts_though_it_was_refused(client, person, ask, monkeypatch):
    ada, path = person("ada"), "/api/v1/models/nli-a/ask"
    monkeypatch.setattr(client.app.state.settings, "upload_mb_per_day", 7)
    too_large = CountedBody(9 * MIB, head=b'{"text": "')
    assert ask("POST", path, content=too_large, headers=JSON | ada.headers).status_code == 413
    assert ada.post(path, json={"text": "x" * (2 * MIB)}).status_code == 429


def test_uploads_leave_a_reserve_of_the_disk_and_are_taken_again_once_there_is_room(client, person, monkeypatch):
    ada, settings = person("ada"), client.app.state.settings
    body, path = {"rows": 1, "text": "x" * MIB}, "/api/v1/models/nli-a/ask"
    free = shutil.disk_usage(settings.folder).free // MIB
    monkeypatch.setattr(settings, "disk_reserve_mb", free + 1000)
    refused = ada.post(path, json=body)
    assert refused.status_code == 507
    assert "nearly full" in refused.json()["detail"]
    assert ada.get("/api/v1/tasks").status_code == 200, "reading goes on"
    monkeypatch.setattr(settings, "disk_reserve_mb", 0)
    assert ada.post(path, json=body).status_code in (404, 422)
