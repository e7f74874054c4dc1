"""Every field type in every place, by plain forms without scripts, from the context to the vote and the export."""

import csv
import io
import json
import re

import pytest

from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks import TaskConfig
from tests import every_field

TASK = "every-field"


@pytest.fixture
def task(owner, database):
    def prepare(session):
        text = every_field.config(TASK)
        service.save_task(session, None, text)
        config = TaskConfig.parse(text)
        cells = {
            name: item if isinstance(item, str) else json.dumps(item) for name, item in every_field.CONTEXT.items()
        }
        fresh = contexts.add_contexts(session, TASK, config, [ContextRow(1, cells)])
        assert (fresh.created, fresh.errors) == (1, [])

    database.write(prepare)
    opened = owner.post(f"/api/v1/tasks/{TASK}/rounds", json={"targets": ["sentiment-a"]})
    assert opened.status_code == 201, opened.text
    return owner


@pytest.fixture
def inside(browser):
    def let_in(name):
        mine = browser()
        mine.join(name)
        return mine

    return let_in


def hidden(page, name):
    return re.search(rf'name="{re.escape(name)}"[^>]*value="([^"]*)"', page)[1]


def write(eve, **more):
    page = eve.get(f"/tasks/{TASK}/create").text
    fields = {name: hidden(page, name) for name in ("context_id", "key")}
    fields |= {"input.statement": "A good lunch.", "answer.label": "negative"}
    fields |= every_field.posted("input") | every_field.posted("answer") | more
    return eve.submit(f"/tasks/{TASK}/create", htmx=True, **fields)


@pytest.mark.slow
def test_every_type_from_the_context_to_the_vote_and_the_export(task, inside):
    eve, bob = inside("eve"), inside("bob")
    page = eve.get(f"/tasks/{TASK}/create").text
    assert "Living things</span>" in page
    assert "added: </span>Three</ins>" in page
    answer = write(eve)
    assert answer.status_code == 200, answer.text
    assert "You fooled sentiment-a." in answer.text
    number = re.search(r'action="/examples/(\d+)/explanation"', answer.text)[1]
    submission = eve.submit(f"/examples/{number}/explanation", htmx=True, **every_field.posted("ask"))
    assert "Saved. Thank you." in submission.text
    document = task.get(f"/api/v1/examples/{number}").json()
    assert document["input"] == {"statement": "A good lunch.", **every_field.stored("input")}
    assert document["answer"] == {"label": "negative", **every_field.stored("answer")}

    item = bob.get(f"/tasks/{TASK}/validate").text
    assert "added: </span> in the rain</ins>" in item
    assert "Living things › Animals › Dog" in re.sub(r"<[^>]+>", "", item).replace("  ", " ")
    wrong = every_field.posted("check", "validation") | {"vote": "incorrect", "validation.check_ranking.a": "1"}
    refused = bob.submit(f"/tasks/{TASK}/validate/{number}", htmx=True, **wrong)
    assert refused.status_code == 422
    assert "Give each a different position" in refused.text
    for ticked in ("check_multi_choice-1", "check_multi_choice-2", "check_consent"):
        assert re.search(rf'id="validation-{ticked}"[^>]* checked', refused.text), ticked
    assert ">They stand.</textarea>" in refused.text.replace("\n", "")
    right = every_field.posted("check", "validation") | {"vote": "incorrect"}
    assert bob.submit(f"/tasks/{TASK}/validate/{number}", htmx=True, **right).status_code == 200

    [line] = task.get(f"/api/v1/tasks/{TASK}/export?format=jsonl").text.splitlines()
    row = json.loads(line)
    assert row["context"]["values"] == every_field.CONTEXT
    assert row["explanation"]["values"] == every_field.stored("ask")
    assert row["validations"][0]["values"] == every_field.stored("check")
    sheet = task.get(f"/api/v1/tasks/{TASK}/export?format=csv").text.removeprefix("\ufeff")
    [cells] = csv.DictReader(io.StringIO(sheet))
    assert json.loads(cells["input.input_ranking.json"]) == ["b", "a", "c", "d"]
    assert cells["answer.answer_tree_choice"] == "Dog"


def test_what_was_refused_stands_beside_its_field_and_the_rest_is_kept(task, inside):
    refused = write(
        inside("eve"), **{"input.input_sliders.joy": "", "answer.answer_consent": "", "input.input_rating": "9"}
    )
    assert refused.status_code == 422
    for message in ("Also move these sliders: Joy.", "Tick this box to continue.", "Enter a number from 1 to 5."):
        assert refused.text.count(message) == 1, message
    assert re.search(r'name="input.input_sliders.fear"[^>]*value="2"', refused.text)
    assert re.search(r'name="input.input_ranking.b" value="1"', refused.text)
    assert re.search(r'value="Dog" checked', refused.text)
