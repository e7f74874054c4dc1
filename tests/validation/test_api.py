"""Validation through the JSON API."""

import pytest
from sqlalchemy import select

from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role

from .world import World


@pytest.fixture
def world(database) -> World:
    return World(database)


def api(world: World, caller):
    """The caller as a person of the database."""
    return world.db.read(lambda session: session.scalars(select(Person).where(Person.id == caller.id)).one())


def test_an_item_is_handed_out_checked_and_moves_the_figures(world, person):
    example = world.example(world.person())
    for name in ("ada", "bob"):
        caller = person(name)
        item = caller.post("/api/v1/tasks/checks/validations/next")
        assert item.status_code == 200, item.text
        assert item.json()["example_id"] == example
        assert item.json()["answer"] == {"label": "contradiction"}
        assert not {"author", "author_id", "predictions", "fooled"} & set(item.json())
        sent = caller.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"})
        assert sent.status_code == 201, sent.text
    assert (sent.json()["verdict"], sent.json()["votes"]) == ("correct", 2)
    assert sent.json()["predictions"][0]["answer"] == {"label": "neutral"}
    document = person("eve").get("/api/v1/tasks/checks/rounds/1/statistics").json()
    assert (document["examples"], document["fooled"], document["validated_fooled"]) == (1, 1, 1)
    assert document["vmer"]["value"] == 1.0
    assert document["by"]["source"]["person"]["mer"]["n"] == 1


def test_nothing_to_check_is_204(world, person):
    assert person("ada").post("/api/v1/tasks/checks/validations/next").status_code == 204


def test_blind_items_do_not_contain_the_claim(database, person):
    world = World(database, mode="answer")
    example = world.example(world.person())
    ada = person("ada")
    item = ada.post("/api/v1/tasks/checks/validations/next").json()
    assert item["mode"] == "answer"
    assert "answer" not in item
    sent = ada.post(f"/api/v1/examples/{example}/validations", json={"answer": {"label": "contradiction"}})
    assert (sent.status_code, sent.json()["vote"]) == (201, "correct")
    figures = ada.get("/api/v1/tasks/checks/rounds/1/statistics").json()
    assert figures["human_accuracy"]["value"] == 1.0


def test_what_is_refused_and_how(world, person):
    author, ada, bob = person("author"), person("ada"), person("bob")
    example = world.example(api(world, author))
    address = f"/api/v1/examples/{example}/validations"
    assert author.post(address, json={"vote": "correct"}).status_code == 403
    assert ada.post(address, json={"vote": "correct", "as_owner": True}).status_code == 403
    assert ada.post(address, json={"vote": "maybe"}).status_code == 422
    assert ada.post(address, json={"vote": "correct", "fooled": True}).status_code == 422
    assert ada.post(address, json={}).status_code == 422
    assert ada.post(address, json={"vote": "correct"}).status_code == 201
    assert ada.post(address, json={"vote": "correct"}).status_code == 409
    assert bob.post(address, json={"vote": "correct"}).status_code == 201
    assert person("late").post(address, json={"vote": "correct"}).status_code == 409
    assert ada.post("/api/v1/examples/999999/validations", json={"vote": "correct"}).status_code == 404
    assert ada.post("/api/v1/tasks/none/validations/next").status_code == 404


def test_undo_and_skip(world, person):
    example, ada = world.example(world.person()), person("ada")
    ada.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"})
    undone = ada.post(f"/api/v1/examples/{example}/validations/undo")
    assert (undone.status_code, undone.json()["votes"]) == (200, 0)
    assert ada.post(f"/api/v1/examples/{example}/validations/undo").status_code == 409
    assert ada.post(f"/api/v1/examples/{example}/skip").status_code == 204
    assert ada.post("/api/v1/tasks/checks/validations/next").status_code == 204


def test_flags_are_for_owners(world, person):
    example, ada = world.example(world.person()), person("ada")
    ada.post(f"/api/v1/examples/{example}/validations", json={"vote": "flagged"})
    assert ada.get("/api/v1/tasks/checks/moderation").status_code == 403
    world.db.write(lambda session: session.add(Role(task_id="checks", person_id=ada.id, role="owner")))
    assert [case["example"]["id"] for case in ada.get("/api/v1/tasks/checks/moderation").json()["items"]] == [example]


def test_who_is_not_logged_in_may_read_figures_alone(world, client):
    example = world.example(world.person())
    assert client.get("/api/v1/tasks/checks/rounds/1/statistics").status_code == 200
    assert client.get("/api/v1/tasks/checks/rounds/9/statistics").status_code == 404
    assert client.get("/api/v1/tasks/checks/moderation").status_code == 401
    for path in (
        "tasks/checks/validations/next",
        f"examples/{example}/validations",
        f"examples/{example}/validations/undo",
        f"examples/{example}/skip",
    ):
        assert (
            client.post(f"/api/v1/{path}", json={"vote": "correct"} if path.endswith("ns") else None).status_code == 401
        )
