"""Moderators hide examples and show them again."""

import pytest

from tests.collection.conftest import draw, send, written


@pytest.fixture
def example(ada):
    """An example of ada's that fooled its model."""
    inputs = next(values for values in iter(lambda: draw(ada), None) if values["goal"]["label"] != "contradiction")
    return send(ada, written(inputs, "They do not sleep.")).json()["id"]


def figures(caller):
    document = caller.get("/api/v1/tasks/nli/rounds/1/statistics").json()
    return document["examples"], document["fooled"], document["hidden"]


def test_a_hidden_example_counts_nowhere_and_comes_back_as_it_was(example, ada, bob, owner):
    assert figures(bob) == (1, 1, 0)
    for _ in range(2):
        assert owner.post(f"/api/v1/examples/{example}/hide", json={"reason": "spam"}).json()["hidden"] is True
    assert figures(bob) == (0, 0, 1)
    assert bob.get("/api/v1/tasks/nli/rounds/1/board").json()["items"] == []
    assert bob.post("/api/v1/tasks/nli/validations/next").status_code == 204
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 409
    assert owner.get("/api/v1/tasks/nli/examples").json()["items"] == []
    [mine] = ada.get("/api/v1/tasks/nli/examples?mine=1").json()["items"]
    assert (mine["id"], mine["hidden"]) == (example, True)
    for _ in range(2):
        assert owner.post(f"/api/v1/examples/{example}/restore").json()["hidden"] is False
    assert figures(bob) == (1, 1, 0)
    assert bob.post("/api/v1/tasks/nli/validations/next").json()["example_id"] == example
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 201


def test_moderators_hide_and_others_do_not(example, ada, bob, owner):
    path = f"/api/v1/examples/{example}/hide"
    assert bob.post(path).status_code == 404
    assert ada.post(path).status_code == 404
    owner.post("/api/v1/tasks/nli/roles", json={"username": "bob", "role": "expert"})
    assert bob.post(path).status_code == 403
    owner.post("/api/v1/tasks/nli/roles", json={"username": "bob", "role": "moderator"})
    assert bob.post(path, json={"reason": "x" * 501}).status_code == 422
    assert bob.post(path).status_code == 200
    assert bob.post("/api/v1/examples/999999/hide").status_code == 404


def test_a_place_on_an_example_is_worth_nothing_once_it_is_hidden(example, bob, owner):
    item = bob.post("/api/v1/tasks/nli/validations/next").json()
    assert item["example_id"] == example
    owner.post(f"/api/v1/examples/{example}/hide")
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 409
    assert bob.post("/api/v1/tasks/nli/validations/next").status_code == 204


def test_an_example_that_is_hidden_and_taken_back_counts_as_taken_back(example, ada, owner):
    owner.post(f"/api/v1/examples/{example}/hide")
    ada.post(f"/api/v1/examples/{example}/retract")
    document = owner.get("/api/v1/tasks/nli/rounds/1/statistics").json()
    assert (document["examples"], document["hidden"], document["retracted"]) == (0, 0, 1)
    owner.post(f"/api/v1/examples/{example}/restore")
    document = owner.get("/api/v1/tasks/nli/rounds/1/statistics").json()
    assert (document["examples"], document["hidden"], document["retracted"]) == (0, 0, 1)
