"""Programs propose through the door that people use; figures keep the two apart."""

import pytest

from dynabench.collection import programs
from tests.collection.conftest import draw, send, written

PROGRAM = {
    "name": "swap",
    "version": "1",
    "queries": 12,
    "cost": 0.5,
    "facts": {"similarity": 0.9, "words": ["a", "b"]},
}


def propose(caller, text, **more):
    """An example by a program that this person runs."""
    response = send(caller, written(draw(caller), text, program=PROGRAM | more))
    assert response.status_code == 201, response.text
    return response.json()


def test_what_a_program_proposes_is_marked_and_checked_by_others(ada, bob, owner):
    created = propose(ada, "They are not here.")
    document = ada.get(f"/api/v1/examples/{created['id']}").json()
    assert (document["source"], document["program"]) == ("program", PROGRAM)
    assert document["verdict"] == "pending"
    vote = {"vote": "correct"}
    assert ada.post(f"/api/v1/examples/{created['id']}/validations", json=vote).status_code == 403
    by_owner = propose(owner, "Nobody is not here.")
    assert owner.get(f"/api/v1/examples/{by_owner['id']}").json()["source"] == "program"


def test_the_same_search_that_took_longer_is_the_same_request(ada):
    drawn = draw(ada)
    first = send(ada, written(drawn, "Not so.", program=PROGRAM), key="k")
    again = send(ada, written(drawn, "Not so.", program=PROGRAM | {"queries": 99}), key="k")
    other = send(ada, written(drawn, "Not so.", program=PROGRAM | {"name": "another"}), key="k")
    assert first.json()["id"] == again.json()["id"]
    assert other.status_code == 409


def test_owners_may_keep_a_round_for_people(ada, owner):
    assert owner.request("PUT", "/api/v1/tasks/nli/rounds/1/plan", json={"programs": False}).status_code == 200
    refused = send(ada, written(draw(ada), "Not so.", program=PROGRAM))
    assert (refused.status_code, "people only" in refused.json()["detail"]) == (403, True)
    assert send(ada, written(draw(ada), "It is not so.")).status_code == 201


def test_limits_of_a_person_hold_for_their_programs_too(ada, owner):
    assert owner.request("PUT", "/api/v1/tasks/nli/rounds/1/plan", json={"limits": {"per_day": 2}}).status_code == 200
    propose(ada, "Not so.")
    send(ada, written(draw(ada), "It is not so."))
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 429


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "program.name"),
        ({"name": "x" * 61}, "program.name"),
        ({"queries": -1}, "program.queries"),
        ({"cost": -0.1}, "program.cost"),
        ({"facts": {"deep": {"a": 1}}}, "program.facts"),
        ({"facts": {str(n): n for n in range(21)}}, "program.facts"),
        ({"facts": {"long": "x" * 501}}, "program.facts"),
    ],
)
def test_what_a_program_tells_has_limits(ada, wrong, field):
    response = send(ada, written(draw(ada), "Not so.", program=PROGRAM | wrong))
    assert response.status_code == 422
    assert any(name.startswith(field) for name in response.json()["fields"])


def test_people_and_programs_stand_apart_and_are_compared(ada, bob, owner):
    for number in range(3):
        send(ada, written(draw(ada), f"It is so, {number}."))
    fooling = [propose(bob, f"It is so {number}.") for number in range(2)]
    fooled = sum(created["fooled"] for created in fooling)
    assert bob.post(f"/api/v1/examples/{fooling[0]['id']}/retract").status_code == 200
    round_ = owner.get("/api/v1/tasks/nli/rounds/1/statistics").json()
    assert (round_["examples"], round_["by"]["source"]["program"]["examples"]) == (3, 1)
    assert [row["name"] for row in owner.get("/api/v1/tasks/nli/rounds/1/board").json()["items"]] == ["ada"]
    document = owner.get("/api/v1/tasks/nli/rounds/1/programs").json()
    (row,) = document["items"]
    remaining = fooled - fooling[0]["fooled"]
    assert (row["name"], row["version"], row["examples"], row["fooled"], row["queries"]) == (
        "swap",
        "1",
        1,
        remaining,
        12,
    )
    assert row["queries_per_fooled"] == (12 if remaining else None)
    assert row["cost_per_validated"] is None
    assert document["mer"]["programs"]["value"] == remaining
    people, theirs, difference = (document["mer"][name]["value"] for name in ("people", "programs", "difference"))
    assert difference == pytest.approx(people - theirs)


def test_a_large_board_is_counted_anew_only_when_its_figures_are_old(ada, monkeypatch):
    monkeypatch.setattr(programs, "LARGE", 2)
    monkeypatch.setattr(programs, "FRESH", float("inf"))

    def examples():
        return [row["examples"] for row in ada.get("/api/v1/tasks/nli/rounds/1/programs").json()["items"]]

    counted = []
    for number in range(3):
        propose(ada, f"They are not here {number}.")
        counted.append(examples())
    assert counted == [[1], [2], [2]]
    monkeypatch.setattr(programs, "FRESH", 0.0)
    assert examples() == [3]


def test_verified_examples_of_programs_qualify_nobody(ada, bob, owner):
    created = propose(ada, "They are here.")
    owner.post(f"/api/v1/examples/{created['id']}/validations", json={"vote": "correct"})
    plan = {"audience": {"kind": "qualified", "verified": 1}}
    assert owner.request("PUT", "/api/v1/tasks/nli/rounds/1/plan", json=plan).status_code == 200
    assert send(ada, written(draw(owner), "Not so.")).status_code in (403, 409)
