"""People assigned to arms: once and for all, in balance, with models of their own or none."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from dynabench.collection import handouts
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Assignment
from tests.collection.conftest import draw, nli, send, sentiment
from tests.collection.oip import Rule, RuleHost
from tests.collection.test_starts import body, feel  # noqa: F401

ARMS = [
    {"name": "model"},
    {"name": "other", "targets": ["sentiment-b"], "assistant": True},
    {"name": "nobody", "targets": "none"},
]


@pytest.fixture
def rules():
    never = Rule("sentiment-b", "sentiment", lambda _: "neutral")
    host = RuleHost(Rule("nli-a", "nli", nli), Rule("sentiment-a", "sentiment", sentiment), never)
    yield host
    host.stop()


@pytest.fixture
def trial(feel):  # noqa: F811
    """A second round with three arms, one for each person."""
    feel.post("/api/v1/tasks/feel/rounds/1/close")
    values = {"targets": ["sentiment-a"], "arms": ARMS, "assign": "person"}
    opened = feel.post("/api/v1/tasks/feel/rounds", json=values)
    assert opened.status_code == 201, opened.text
    return opened.json()


@pytest.mark.slow
def test_a_person_stays_in_their_arm_and_its_models_answer(trial, owner, person, database):
    assert trial["assign"] == "person"
    targets = [arm["targets"] for arm in trial["arms"]]
    assert [item if isinstance(item, str) else item[0]["model"] for item in targets] == [
        "round", "sentiment-b", "none",
    ]  # fmt: skip
    people = [person(f"writer{number}") for number in range(6)]
    arms = {}
    for this_item in people:
        first, again = draw(this_item, "feel"), draw(this_item, "feel")
        assert first["arm"] == again["arm"]
        arms[this_item.name] = first["arm"]
        document = send(this_item, body(again, f"A good day, {this_item.name}."), task="feel").json()
        models = [prediction["model"] for prediction in document["predictions"]]
        assert models == {"model": ["sentiment-a"], "other": ["sentiment-b"], "nobody": []}[first["arm"]]
        assert (document["fooled"] is None) == (first["arm"] == "nobody")
    assert set(Counter(arms.values()).values()) == {2}
    result = owner.get("/api/v1/tasks/feel/rounds/2/arms").json()["items"]
    assert [(item["arm"]["name"], item["people"], item["examples"], item["unknown"]) for item in result] == [
        ("model", 2, 2, 0), ("other", 2, 2, 0), ("nobody", 2, 2, 2),
    ]  # fmt: skip
    assert [(item["handouts"], item["skipped"]) for item in result] == [(4, 2)] * 3
    draw(people[0], "feel")  # a person who is still at work on it has not skipped it
    items = owner.get("/api/v1/tasks/feel/rounds/2/arms").json()["items"]
    line = {item["arm"]["name"]: item for item in items}[arms["writer0"]]
    assert (line["handouts"], line["skipped"]) == (5, 2)
    assert [element["mer"]["value"] for element in result] == [1.0, 1.0, None]
    assert result[1]["arm"]["assistant"] is True
    assert result[1]["from_first"]["mer"]["value"] == 0
    assert result[2]["from_first"]["mer"]["value"] is None
    assert result[2]["seconds"]["value"] >= 0
    assert person("mallory").get("/api/v1/tasks/feel/rounds/2/arms").status_code == 403


def test_whoever_comes_at_once_gets_a_place_of_their_own(trial, person, database):
    people = [person(f"writer{number}") for number in range(9)]

    def come(writer):
        def hand_out(session):
            return handouts.hand_out(session, session.get_one(Person, writer.id), "feel", random.Random())

        return database.write(hand_out).handout.arm

    with ThreadPoolExecutor(6) as pool:
        twice = list(pool.map(come, [*people, *people]))
    assert twice[:9] == twice[9:]
    rows = database.read(lambda session: session.scalars(select(Assignment).order_by(Assignment.place)).all())
    assert [row.place for row in rows] == list(range(9))
    assert set(Counter(row.arm for row in rows[:6]).values()) == {2}, "a block of six"
