"""The board of harms: what counts as harmful, by category and severity, and who may look at the examples behind it."""

import re

import pytest
from pydantic import ValidationError

from dynabench.collection.tables import Prediction
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role
from dynabench.stats.rates import clustered_rate
from dynabench.tasks import TaskConfig, harm_sections
from tests.sheets import rows_of

from . import world as worlds
from .world import World

CONFIG = """
id: checks
name: Checks
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer:
  - name: harm
    type: tree_choice
    options: [none, {value: violent, label: Violence, children: [gore, threat]}, illegal]
  - {name: severity, type: choice, options: [low, medium, high], required: false}
output: {probabilities: false}
fooled: {fields: [harm]}
harms: {category: harm, severity: severity, votes: again}
validate:
  mode: %(mode)s
  votes: %(votes)d
  adjudicate_up_to: %(cap)d
  also_not_fooled: %(also)s
  ask: [{name: again, type: choice, options: [low, high]}]
"""
HARM = {"harm": "gore", "severity": "medium"}


@pytest.fixture
def world(database, monkeypatch):
    """Ada: gore that is found right and high, gore that is found right without more, gore that waits, threats that are
    found wrong, one that is harmless. Bob: a crime that is found right; one that he takes back. A program: gore."""
    monkeypatch.setattr(worlds, "CONFIG", CONFIG)
    created = World(database)
    ada, bob = created.person(), created.person()

    def decided(writer, answer, vote="correct", source="person", **values):
        example = created.example(writer, answer=answer, source=source)
        for _ in range(2):
            created.vote(created.person(), example, vote, **values)
        return example

    created.high = decided(ada, HARM, again="high")
    created.medium = decided(ada, HARM)
    created.example(ada, answer=HARM)
    decided(ada, {"harm": "threat"}, "incorrect")
    created.example(ada, fooled=False, answer={"harm": "none"})
    created.crime = decided(bob, {"harm": "illegal", "severity": "low"})
    created.retract(decided(bob, HARM))
    decided(created.person(), HARM, source="program")
    other = Prediction(
        example_id=created.high, position=1, model="n", version="2", answer={}, fooled=False, latency_ms=1
    )
    database.write(lambda session: session.add(other))
    return created


def by_value(lines):
    return {line["value"]: line["count"] for line in lines}


def test_harmful_is_what_people_claim_and_others_confirm(world, client):
    document = client.get("/api/v1/tasks/checks/harms").json()
    safe, model = document["models"]
    assert (safe["model"], safe["attempts"], safe["harmful"]["count"]) == ("n", 1, 0)
    counts = [model[name] for name in ("attempts", "writers", "claimed", "waiting")]
    assert (model["model"], counts, model["harmful"]["count"]) == ("m", [6, 2, 5, 1], 3)
    rate, expected = model["harmful"]["rate"], clustered_rate([2, 1], [5, 1])
    assert [rate[name] for name in ("value", "low", "high")] == pytest.approx([0.5, expected.low, expected.high])
    assert by_value(model["categories"]) == {"violent": 2, "gore": 2, "threat": 0, "illegal": 1}
    assert [line["depth"] for line in model["categories"]] == [0, 1, 1, 0]
    assert by_value(model["severities"]) == {"low": 1, "medium": 1, "high": 1}
    assert client.get("/api/v1/tasks/checks/harms?round=1").json() == document
    assert client.get("/api/v1/tasks/checks/harms?round=2").status_code == 404
    rows = rows_of(client.get("/tasks/checks/harms.csv").text)
    [gore] = [row for row in rows if (row["model"], row["value"]) == ("m", "gore")]
    assert (gore["by"], gore["count"], gore["attempts"]) == ("category", "2", "6")
    assert len(rows) == 2 * (1 + 4 + 3)


@pytest.mark.slow
def test_owners_and_moderators_see_the_examples_behind_a_number(world, client, browser):
    behind = "/tasks/checks/harms?model=m&version=1"
    visitor, eva = browser(), browser()
    eva.join("eva")
    page = visitor.get("/tasks/checks/harms").text
    assert "By severity" in page
    assert "model=m" not in page
    assert [item.get(behind).status_code for item in (visitor, eva)] == [403, 403]

    def promote(session):
        [person] = session.query(Person).filter_by(username="eva")
        session.add(Role(task_id="checks", person_id=person.id, role="moderator"))

    world.db.write(promote)
    result = {
        request: [int(id) for id in re.findall(r"manage/examples/(\d+)", eva.get(behind + request).text)]
        for request in ("", "&category=violent", "&category=threat", "&category=violent&severity=high")
    }
    assert result == {
        "": [world.crime, world.medium, world.high],
        "&category=violent": [world.medium, world.high],
        "&category=threat": [],
        "&category=violent&severity=high": [world.high],
    }
    assert "category=gore" in eva.get("/tasks/checks/harms").text
    assert eva.get(behind + "&category=nonsense").status_code == 404


def test_a_task_without_harms_has_no_board(database, client):
    World(database)
    assert client.get("/api/v1/tasks/checks/harms").status_code == 409
    assert "/tasks/checks/harms" not in client.get("/tasks/checks").text


def test_a_board_is_empty_before_the_first_attempt(database, client, monkeypatch):
    monkeypatch.setattr(worlds, "CONFIG", CONFIG)
    World(database)
    assert "No attempts yet" in client.get("/tasks/checks/harms").text


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"category": "hypothesis"}, "harms.category"),
        ({"category": "harm", "severity": "sevrity"}, "harms.severity"),
        ({"category": "harm", "harmless": ["nothing"]}, "harms.harmless.0"),
        ({"category": "harm", "severity": "severity", "votes": "agian"}, "harms.votes"),
        ({"category": "harm", "severity": "harm", "votes": "again"}, "harms.votes"),
    ],
)
def test_what_is_named_and_not_there_is_refused_with_the_place(changes, path):
    raw = TaskConfig.parse(CONFIG % {"mode": "judge", "votes": 2, "cap": 5, "also": "true"})
    described = raw.model_dump(by_alias=True, exclude_unset=True) | {"harms": changes}
    with pytest.raises(ValidationError) as refused:
        TaskConfig.model_validate(described)
    assert [".".join(map(str, error["loc"])) for error in refused.value.errors()] == [path]


def test_the_severity_is_the_median_of_votes_and_without_any_the_claim():
    scale = harm_sections.find_choice(
        TaskConfig.parse(CONFIG % {"mode": "judge", "votes": 2, "cap": 5, "also": "true"}), "severity"
    )
    assert harm_sections.agreed_severity(scale, {"severity": "low"}, ["high", "low", "medium"]) == "medium"
    assert harm_sections.agreed_severity(scale, {"severity": "low"}, ["high", "medium"]) == "medium"
    assert harm_sections.agreed_severity(scale, {"severity": "low"}, []) == "low"
    assert harm_sections.agreed_severity(scale, {}, []) is None
