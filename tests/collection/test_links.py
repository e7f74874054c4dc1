"""Parameters of the link by which a person arrives: stored with their examples, read by the task's owners alone."""

import json
import re

import pytest

from tests.collection.conftest import draw

FEEL = """
id: feel
name: Feel
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [positive, neutral, negative]}
link:
  - {name: worker, parameter: PROLIFIC_PID, pattern: "[a-f0-9]{4,8}", required: true}
  - {name: batch, max_length: 5}
"""
CONTEXT = [{"values": {}}]


@pytest.fixture
def feel(owner):
    """A task with hidden fields and an open round."""
    assert owner.post("/api/v1/tasks", json={"config": FEEL}).status_code == 201
    assert owner.post("/api/v1/tasks/feel/contexts", json={"contexts": CONTEXT}).status_code == 201
    assert owner.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    return owner


def arrive(caller, **link):
    return caller.post("/api/v1/tasks/feel/contexts/next", json={"link": link})


def write(caller, handout, text):
    body = {"context_id": handout["id"], "handout": handout["handout"]}
    response = caller.post(
        "/api/v1/tasks/feel/examples", json=body | {"input": {"statement": text}, "answer": {"label": "negative"}}
    )
    assert response.status_code == 201, response.text
    return response.json()


def links(caller, **params):
    return caller.get("/api/v1/tasks/feel/rounds/1/links", params=params)


def test_the_link_stays_with_all_that_is_written_after_it_and_another_one_comes_anew(feel, ada):
    first = arrive(ada, PROLIFIC_PID="beef", batch="b1", stranger="x").json()
    written = [write(ada, first, "It was good.")["id"], write(ada, draw(ada, "feel"), "Good enough.")["id"]]
    second = arrive(ada, PROLIFIC_PID="cafe").json()
    assert second["handout"] != first["handout"]
    written.append(write(ada, second, "As good as it gets.")["id"])
    document = links(feel).json()
    assert [item["id"] for item in document["items"]] == written
    came = {"worker": "beef", "batch": "b1"}
    assert [element["link"] for element in document["items"]] == [came, came, {"worker": "cafe"}]
    page = links(feel, limit=2).json()
    assert [links(feel, after=page["next"]).json()["items"]] == [document["items"][2:]]


@pytest.mark.parametrize(
    ("link", "field"), [({}, "worker"), ({"PROLIFIC_PID": "beefy"}, "worker"), ({"batch": "123456"}, "batch")]
)
def test_a_link_that_does_not_fit_is_refused_with_the_reason(feel, ada, link, field):
    answer = arrive(ada, **link)
    assert answer.status_code == 422
    assert f"link.{field}" in answer.json()["fields"]


@pytest.mark.slow
def test_the_page_keeps_what_its_address_told(feel, browser):
    eve = browser()
    eve.join("eve")
    page = eve.get("/tasks/feel/create?PROLIFIC_PID=beef").text
    assert eve.get("/tasks/feel/create").status_code == 200, "by the same link still"
    fields = {
        name: re.search(rf'name="{name}"[^>]*value="([^"]*)"', page)[1] for name in ("context_id", "handout", "key")
    }
    fields |= {"input.statement": "It was good.", "answer.label": "negative"}
    assert eve.submit("/tasks/feel/create", page="/tasks/feel/create", htmx=True, **fields).status_code == 200
    [result] = links(feel).json()["items"]
    assert result["link"] == {"worker": "beef"}
    assert "beef" not in page
    stranger = browser()
    assert stranger.get("/tasks/feel/create?PROLIFIC_PID=nonsense").status_code == 200, "the sandbox keeps nothing"


def test_nobody_else_ever_sees_it(feel, ada, bob, rules):
    document = arrive(ada, PROLIFIC_PID="beef").json()
    example = write(ada, document, "It was good.")["id"]
    assert links(ada).status_code == 403
    assert ada.get("/tasks/feel/manage/rounds/1/links.csv").status_code in (303, 403)
    seen = [
        json.dumps(document),
        ada.get(f"/api/v1/examples/{example}").text,
        feel.get(f"/api/v1/examples/{example}").text,
        bob.get("/api/v1/tasks/feel/validations/next").text,
        bob.post("/api/v1/tasks/feel/validations/next").text,
        feel.get("/api/v1/tasks/feel/export").text,
        bob.get("/api/v1/tasks/feel").text,
        feel.get("/api/v1/tasks/feel/examples", params={"q": "beef"}).text,
    ]
    assert not [text for text in seen if "beef" in text]
    assert "PROLIFIC_PID" not in bob.get("/api/v1/tasks/feel").text
