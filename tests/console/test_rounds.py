"""Rounds on the owner's pages: all that `dynabench round` does."""

import pytest

from dynabench.models.client import Host

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
HERE = "/tasks/nli/manage/rounds"


def key(page, model="nli-a"):
    """The value of a model's checkbox."""
    view = page.get(HERE).text
    return next(part.split('"')[0] for part in view.split('name="targets" value="') if part.startswith(f"{model}@"))


def test_models_that_do_not_fit_the_task_cannot_be_chosen_and_say_why(owner, enter):
    view = enter(owner).get(HERE).text
    assert "sentiment-a needs the fields statement, which the task lacks; it has premise, hypothesis." in view.replace(
        "&#39;", "'"
    )
    assert 'value="sentiment-a@' not in view
    assert 'value="nli-b@' in view


def test_a_round_is_drafted_opened_and_closed_twice(owner, enter):
    page = enter(owner)
    here = page.submit(HERE, page="/settings", targets=[key(page), key(page, "nli-b")], ensemble="all", then="draft")
    assert here.status_code == 303, here.text
    location = here.headers["location"]
    view = page.get(location).text
    assert "draft" in view
    assert "Fooled if all models are." in view
    assert "Round 1 is open. Close it before you open this one." in view
    assert page.submit(f"{location}/open", page="/settings").status_code == 409
    for _ in range(2):
        assert page.submit(f"{HERE}/1/close", page="/settings").status_code == 303
    assert page.submit(f"{location}/open", page="/settings").status_code == 303
    items = owner.get("/api/v1/tasks/nli/rounds").json()["items"]
    assert [(item["number"], item["state"]) for item in items] == [(2, "open"), (1, "closed")]
    closed = owner.get("/api/v1/tasks/nli/acts", params={"kind": "round.closed"}).json()["items"]
    assert len(closed) == 1


def test_what_is_refused_stands_beside_its_field_and_is_kept(owner, enter):
    page = enter(owner)
    fields = {"arms.0.name": "Bad Name", "arms.0.share": "none", "arms.1.name": "ok", "arms.1.share": "2"}
    answer = page.submit(HERE, page="/settings", targets=[key(page)], then="draft", **fields)
    assert answer.status_code == 422
    assert 'value="Bad Name"' in answer.text
    assert "Give a number above 0." in answer.text
    assert f'value="{key(page)}" checked' in answer.text
    nothing = page.submit(HERE, page="/settings", then="open")
    assert "Name at least one model" in nothing.text
    open_one = page.submit(HERE, page="/settings", targets=[key(page)], then="open")
    assert open_one.status_code == 409
    assert "Round 1 is open. Close it first." in open_one.text
    assert [item["number"] for item in owner.get("/api/v1/tasks/nli/rounds").json()["items"]] == [1]


def test_arms_are_stored_and_shown_with_their_shares(owner, enter):
    page = enter(owner)
    fields = {"arms.0.name": "control", "arms.0.targets": "none", "arms.1.name": "live", "arms.1.share": "3"}
    here = page.submit(HERE, page="/settings", targets=[key(page)], then="draft", **fields)
    assert here.status_code == 303, here.text
    arms = owner.get("/api/v1/tasks/nli/rounds/2").json()["arms"]
    assert [(arm["name"], arm["share"], arm["targets"]) for arm in arms] == [
        ("control", 1, "none"),
        ("live", 3, "round"),
    ]
    view = page.get(here.headers["location"]).text
    assert "75%" in view
    assert "none: control" in view


def test_without_a_model_host_the_page_still_stands(owner, enter, client, tmp_path):
    page, host = enter(owner), client.app.state.host
    client.app.state.host = Host(f"unix:{tmp_path / 'nobody.sock'}", 0.5)
    response = page.get(HERE)
    assert response.status_code == 200
    refused = page.submit(HERE, page="/settings", targets=["nli-a"], then="open")
    assert refused.status_code == 422
    first = page.get(f"{HERE}/1").text
    assert "unknown: the host does not answer" in first
    client.app.state.host = host


def test_drafts_are_listed_for_owners_alone(owner, ada, enter):
    page = enter(owner)
    page.submit(HERE, page="/settings", targets=[key(page)], then="draft")
    numbers = [item["number"] for item in ada.get("/api/v1/tasks/nli/rounds").json()["items"]]
    assert numbers == [1]
    first = owner.get("/api/v1/tasks/nli/rounds", params={"limit": 1}).json()
    assert first["next"] == "2"
    assert owner.get("/api/v1/tasks/nli/rounds", params={"after": first["next"]}).json()["items"][0]["number"] == 1
