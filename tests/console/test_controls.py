"""The owner's page of control items, and what validators, others and exports see of them."""

import json

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.rounds.tables import Task, TaskVersion
from dynabench.validation.controls.tables import ControlAnswer, ControlDecision, ControlPlace
from dynabench.validation.tables import Validation
from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/manage/controls"
FILE = (
    b"premise,hypothesis,label,vote\nIt snows.,It is certainly warm.,entailment,incorrect\nIt snows.,X.,odd,correct\n"
)


def configure(session: Session, controls: str) -> None:
    """Add controls to the newest config of the task."""
    task = session.get_one(Task, "nli")
    source = session.get_one(TaskVersion, task.version_id).source
    version = TaskVersion(
        task_id="nli", number=99, source=source.replace("\nvalidate:\n", f"\nvalidate:\n  controls: {controls}\n")
    )
    session.add(version)
    session.flush()
    task.version_id = version.id


def upload(page, content: bytes = FILE):
    """Send a file of items on the page."""
    headers = {"X-CSRF-Token": page.token("/settings")}
    return page.client.post(f"{HERE}/files", files={"file": ("gold.csv", content)}, headers=headers)


def write_examples(author, count: int) -> set[int]:
    """Examples of a person, which fool the model or wait for votes all the same."""
    numbers = set()
    for number in range(count):
        handout = draw(author)
        text = f"It is so {number}." if handout["goal"]["label"] == "contradiction" else f"It is not so {number}."
        numbers.add(send(author, written(handout, text)).json()["id"])
    return numbers


def vote_until_refused(validator, desk, examples):
    """Vote on all that a validator is given; the sorted names of every answer's fields, and the last answer."""
    shapes = set()
    while True:
        response = validator.post("/api/v1/tasks/nli/validations/next")
        if response.status_code != 200:
            break
        item = response.json()
        shapes.add(tuple(sorted(item)))
        assert item["example_id"] in examples
        page_text = desk.get("/tasks/nli/validate").text
        assert f"/validate/{item['example_id']}" in page_text
        assert item["input"]["hypothesis"] in page_text
        vote = validator.post(f"/api/v1/examples/{item['example_id']}/validations", json={"vote": "correct"})
        assert vote.status_code == 201
        shapes.add(tuple(sorted(vote.json())))
        again = validator.post(f"/api/v1/examples/{item['example_id']}/validations", json={"vote": "correct"})
        assert again.status_code in (403, 409)
    return shapes, response


@pytest.mark.slow
def test_an_owner_adds_items_and_lifts_a_pause_that_the_validator_sees(owner, moderator, ada, bob, enter, database):
    page = enter(owner)
    assert "Controls are off" in page.get(HERE).text
    assert enter(moderator).get(HERE).status_code == 403
    database.write(configure, "{gold: 0.5, least: 1, threshold: 1.0, below: pause}")
    response = upload(page)
    assert response.status_code == 422
    assert "1 item was added" in response.text
    assert "Row 3: " in response.text
    assert page.submit(f"{HERE}/decided", page="/settings", count="0").status_code == 422
    assert page.submit(f"{HERE}/decided", page="/settings", example="999999").status_code == 404
    assert page.submit(f"{HERE}/decided", page="/settings", count="5").status_code == 303
    examples = write_examples(ada, 12)
    desk = enter(bob)
    shapes, response = vote_until_refused(bob, desk, examples)
    assert len(shapes) == 2
    answered = database.read(lambda session: session.scalars(select(ControlAnswer)).all())
    if not answered:  # 12 draws at one half: once in 4,096
        return
    assert response.status_code == 403
    assert "paused" in desk.get("/tasks/nli/validate").text
    assert "0 of 1 answers" in desk.get("/me/decisions").text
    sent = {"task": "nli", "kind": "paused_checking", "text": "The item is wrong."}
    decision = database.read(lambda session: session.scalars(select(ControlDecision)).one().id)
    assert bob.post("/api/v1/me/appeals", json=sent | {"subject": decision}).status_code == 201
    html = page.get(HERE).text
    assert "Lift pause" in html
    assert page.get(f"{HERE}/validators.csv").text.splitlines()[1].split(",")[1:3] == ["bob", "0.0"]
    assert page.get(f"{HERE}/items.csv").text.count("It is certainly warm.") == 1
    appeal = owner.get("/api/v1/tasks/nli/appeals").json()[0]["id"]
    granted = {"granted": True, "answer": "You are right."}
    assert owner.post(f"/api/v1/tasks/nli/appeals/{appeal}", json=granted).status_code == 200
    assert "Checking is paused" not in desk.get("/tasks/nli/validate").text
    assert owner.get("/api/v1/tasks/nli/controls/decisions").json()[0]["ended_at"]
    shown_in = owner.get("/api/v1/tasks/nli/export").text + bob.get("/api/v1/tasks/nli").text
    assert "certainly warm" not in shown_in
    assert "threshold" not in bob.get("/api/v1/tasks/nli").text
    exported = owner.get("/api/v1/tasks/nli/export").text.splitlines()
    votes = database.read(lambda session: len(session.scalars(select(Validation)).all()))
    assert sum(len(json.loads(line)["validations"]) for line in exported) == votes - len(answered)
    item = owner.get("/api/v1/tasks/nli/controls").json()[0]
    assert (item["right"]["n"], item["votes"]["correct"]) == (1, 1)
    assert page.submit(f"{HERE}/items/{item['id']}", page="/settings", then="retire").status_code == 303
    assert "retired" in page.get(HERE).text


def test_no_control_shows_once_items_are_retired_or_the_config_has_none(owner, ada, bob, database):
    database.write(configure, "{gold: 0.5}")
    body = {"items": [{"context": {"premise": "A."}, "input": {"hypothesis": "B."}, "answer": {"label": "neutral"},
                       "vote": "incorrect"}]}  # fmt: skip
    added = owner.post("/api/v1/tasks/nli/controls", json=body)
    assert (added.status_code, added.json()["created"]) == (201, 1)
    assert owner.post("/api/v1/tasks/nli/controls", json=body).json()["duplicates"] == 1
    assert owner.post("/api/v1/tasks/nli/controls", json={}).status_code == 422
    number = owner.get("/api/v1/tasks/nli/controls").json()[0]["id"]
    assert owner.patch(f"/api/v1/tasks/nli/controls/{number}", json={"retired": True}).status_code == 204
    write_examples(ada, 8)
    for _number in range(8):
        item = bob.post("/api/v1/tasks/nli/validations/next").json()
        bob.post(f"/api/v1/examples/{item['example_id']}/validations", json={"vote": "correct"})
    assert database.read(lambda session: session.scalars(select(ControlPlace)).all()) == []
