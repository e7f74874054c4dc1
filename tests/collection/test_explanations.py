"""Explanations are saved as they are written: one that lacks required answers is a draft, and counts for nobody."""

import json
import re
from itertools import combinations

import pytest
import yaml

from dynabench.collection.tables import Explanation
from dynabench.rounds import service
from dynabench.tasks import shipped_tasks
from dynabench.tasks.fields import build_field
from dynabench.tasks.fields.base import FieldError
from tests.collection.conftest import draw, send
from tests.conftest import Browser

ASK = [
    {"name": "tricks", "type": "multi_choice", "options": ["irony", "negation"], "required": True, "when": "fooled"},
    {"name": "why", "type": "text", "max_length": 20, "required": True},
    {"name": "more", "type": "text", "when": "tricks == irony", "required": True},
    {"name": "saved_by", "type": "text", "when": "not_fooled"},
]
FULL = {"tricks": ["irony"], "why": "It jokes.", "more": "So good."}


@pytest.fixture
def asking(owner, database):
    """The owner of a round of sentiment whose author has to answer three questions."""
    [shipped] = [task for task in shipped_tasks() if task.config.id == "sentiment"]
    source = yaml.safe_dump(yaml.safe_load(shipped.source) | {"ask": ASK})
    owner.post("/api/v1/tasks/sentiment/rounds/1/close")
    database.write(service.save_task, None, source)
    opened = owner.post("/api/v1/tasks/sentiment/rounds", json={"targets": ["sentiment-a"]})
    assert opened.status_code == 201, opened.text
    return owner


def write(caller, label="negative"):
    body = {
        "context_id": draw(caller, "sentiment")["id"],
        "input": {"statement": "So good."},
        "answer": {"label": label},
    }
    return send(caller, body, task="sentiment").json()["id"]


def explain(caller, example, values, draft=True):
    return caller.post(f"/api/v1/examples/{example}/explanations", json=values, params={"draft": draft})


def explanation_of(caller, example):
    return caller.get(f"/api/v1/examples/{example}").json()["explanation"]


@pytest.mark.parametrize("names", [names for size in range(4) for names in combinations(FULL, size)])
def test_every_part_is_kept_and_only_the_whole_counts(asking, person, database, names):
    ada = person("ada")
    example = write(ada)
    values = {name: FULL[name] for name in names}
    answer = explain(ada, example, values)
    assert answer.status_code == 201, answer.text
    saved = answer.json()
    expected = {name: value for name, value in values.items() if name != "more" or "tricks" in names}
    required = 3 if "tricks" in names else 2
    assert (saved["values"], saved["answered"], saved["required"]) == (expected, len(expected), required)
    assert saved["complete"] == (len(expected) == required)
    assert explanation_of(ada, example) == (expected if saved["complete"] else None)
    if not saved["complete"]:
        assert explain(ada, example, values, draft=False).status_code == 422


def test_a_draft_after_a_whole_explanation_takes_nothing_away(asking, person, database):
    ada = person("ada")
    example = write(ada)
    assert explain(ada, example, FULL, draft=False).json()["complete"]
    assert not explain(ada, example, {"why": "Zyzzyva"}).json()["complete"]
    assert explanation_of(ada, example) == FULL
    lines = asking.get("/api/v1/tasks/sentiment/export", params={"rounds": 2}).text.splitlines()
    assert [json.loads(line)["explanation"]["values"] for line in lines if "explanation" in line] == [FULL]
    matches = asking.get("/api/v1/tasks/sentiment/examples", params={"q": "zyzzyva"}).json()
    assert matches["items"] == []
    before = database.read(lambda session: session.query(Explanation).count())
    explain(ada, example, {"why": "Zyzzyva"})
    assert database.read(lambda session: session.query(Explanation).count()) == before


@pytest.mark.parametrize(
    "values", [{"why": "x" * 21}, {"why": 7}, {"tricks": ["gone"]}, {"gone": "x"}, {"tricks": "irony", "why": {}}]
)
def test_a_draft_is_checked_like_the_whole(asking, person, values):
    ada = person("ada")
    assert explain(ada, write(ada), values).status_code == 422


def test_the_page_saves_each_change_and_tells_how_many_are_answered(asking, client, person):
    ada = person("ada")
    example = write(ada)
    eve = Browser(client)
    eve.log_in("ada")
    fields = {"ask.why": "It jokes."}
    address = f"/examples/{example}/explanation"
    part = eve.submit(address, htmx=True, **fields)
    assert part.status_code == 200
    assert "1 of 2 answered" in part.text
    whole = eve.submit(address, htmx=True, **fields, **{"ask.tricks": "negation"})
    assert "Saved. Thank you." in whole.text
    assert explanation_of(ada, example) == {"tricks": ["negation"], "why": "It jokes."}
    assert eve.submit(address, **fields).status_code == 303


def test_the_model_that_was_not_fooled_is_asked_about_where_the_task_says_so(owner, person, client):
    person("ada")
    eve = Browser(client)
    eve.log_in("ada")
    for label, question in (("positive", "Why was the model not fooled?"), ("negative", "What tricked the model?")):
        page = eve.get("/tasks/sentiment/create").text
        fields = {name: re.search(rf'name="{name}"[^>]*value="([^"]*)"', page)[1] for name in ("context_id", "key")}
        answer = eve.submit(
            "/tasks/sentiment/create", htmx=True, **fields, **{"input.statement": "So good.", "answer.label": label}
        )
        assert question in answer.text
        assert ("Why was the model not fooled?" in answer.text) is (label == "positive")


STEPS = {
    "name": "steps",
    "type": "group",
    "repeat": 3,
    "at_least": 2,
    "fields": [
        {"name": "part", "type": "text", "max_length": 20},
        {"name": "kind", "type": "choice", "options": ["irony", "negation"]},
        {"name": "note", "type": "text", "required": False},
    ],
}
WHOLE = [{"part": "So", "kind": "irony"}, {"part": "good", "kind": "negation", "note": "Perhaps."}]


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    "steps",
    [
        [{"part": "So"}],
        [{"part": "So", "kind": "irony"}],
        [{"kind": "irony"}, {"part": "good", "kind": "irony"}],
        [{"note": "Later."}],
    ],
)
def test_what_is_written_of_a_group_is_kept_and_does_not_count_until_it_is_whole(
    asking, person, database, required, steps
):
    [shipped] = [task for task in shipped_tasks() if task.config.id == "sentiment"]
    asking.post("/api/v1/tasks/sentiment/rounds/2/close")
    config = yaml.safe_load(shipped.source) | {"ask": [{**STEPS, "required": required}]}
    database.write(service.save_task, None, yaml.safe_dump(config))
    assert asking.post("/api/v1/tasks/sentiment/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    ada = person("ada")
    example = write(ada)
    saved = explain(ada, example, {"steps": steps})
    assert saved.status_code == 201, saved.text
    expected = {"values": {"steps": steps}, "complete": False, "answered": 0, "required": 1}
    assert {key: saved.json()[key] for key in expected} == expected
    assert explanation_of(ada, example) is None
    assert explain(ada, example, {"steps": steps}, draft=False).status_code == 422
    for wrong in ([{"kind": "wit"}], [{"part": "x" * 21}], [{"other": 1}], [{"part": "a"}] * 4, {"part": "a"}):
        assert explain(ada, example, {"steps": wrong}).status_code == 422
    assert explain(ada, example, {"steps": WHOLE}).json()["complete"]
    assert explanation_of(ada, example) == {"steps": WHOLE}


def test_an_object_keeps_what_is_written_so_far():
    field = build_field({**STEPS, "repeat": 0, "at_least": 1})
    assert field.clean_draft({"part": "So", "kind": ""}) == {"part": "So"}
    assert field.clean_draft({"part": " ", "kind": ""}) is None
    assert not field.is_finished({"part": "So"})
    assert field.is_finished({"part": "So", "kind": "irony"})
    with pytest.raises(FieldError):
        field.clean_draft({"kind": "wit"})
