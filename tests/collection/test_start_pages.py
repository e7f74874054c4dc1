"""Warnings, seeds, perturbations and conditions without models as pages; what voters learn of models."""

import html
import re

import pytest

from tests.collection.conftest import draw, send

WARNED = """
id: feel
name: Feel
content_warning: "Some of this **hurts**."
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [positive, neutral, negative]}
start: {kinds: [seed]}
perturb: {flip: label}
ask:
  - {name: target, type: choice, options: [people, things, other], when: label == negative}
  - {name: which, type: text, when: target == other}
  - {name: why, type: text, when: fooled}
validate: {votes: 2, also_not_fooled: true}
"""
SEED = "The soup was good."
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # pages, the same on both


@pytest.fixture
def feel(owner):
    """A task with a warning and one seed; its round has no arms."""
    assert owner.post("/api/v1/tasks", json={"config": WARNED}).status_code == 201
    assert owner.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    seed = {"input": {"statement": SEED}, "answer": {"label": "positive"}}
    assert owner.post("/api/v1/tasks/feel/seeds", json={"seeds": [seed]}).json()["created"] == 1
    return owner


@pytest.fixture
def eve(feel, browser):
    """Somebody at a browser, logged in, who has not seen the warning."""
    mine = browser()
    mine.join("eve")
    return mine


def accept(someone, path="/tasks/feel/create"):
    return someone.submit("/tasks/feel/warning", page=path, next=path)


def hidden(page, name):
    return html.unescape(re.search(rf'name="{re.escape(name)}"[^>]*value="([^"]*)"', page)[1])


def try_it(someone, text, label, **more):
    page = someone.get("/tasks/feel/create").text
    fields = {name: hidden(page, name) for name in ("context_id", "handout", "key")}
    return someone.submit("/tasks/feel/create", **fields, **more, **{"input.statement": text, "answer.label": label})


@pytest.mark.parametrize("path", ["/tasks/feel/create", "/tasks/feel/create?sandbox=1", "/tasks/feel/validate"])
def test_the_warning_stands_in_the_place_of_each_page_until_it_is_accepted(eve, path):
    page = eve.get(path)
    assert page.status_code == 200
    assert "Some of this <strong>hurts</strong>." in page.text
    assert SEED not in page.text
    assert hidden(page.text, "next") == path
    answer = accept(eve, path)
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert "Max-Age=2592000" in answer.headers["set-cookie"]
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "hurts" not in eve.get(path).text


def test_an_acceptance_leads_nowhere_else_and_holds_for_one_task_and_wording(eve, feel):
    away = eve.submit("/tasks/feel/warning", page="/tasks/feel/create", next="//elsewhere.example/")
    assert away.headers["location"] == "/"
    assert "hurts" not in eve.get("/tasks/feel/create").text
    again = {"config": WARNED.replace("hurts", "stings").replace("id: feel", "id: feel2")}
    assert feel.post("/api/v1/tasks", json=again).status_code == 201
    assert "stings" in eve.get("/tasks/feel2/create").text
    feel.post("/api/v1/tasks", json={"config": WARNED.replace("hurts", "stings")})
    assert "stings" not in eve.get("/tasks/feel/create").text, "the open round keeps its wording"
    feel.post("/api/v1/tasks/feel/rounds/1/close")
    assert "stings" in eve.get("/tasks/feel/create").text, "the next wording is another warning"


def test_visitors_are_warned_and_programs_are_not(feel, browser, ada):
    assert "hurts" in browser().get("/tasks/feel/create").text
    assert draw(ada, "feel")["seed"]["input"] == {"statement": SEED}


def test_public_pages_show_nothing_of_a_task_with_a_warning(feel, ada, bob, browser):
    drawn = draw(ada, "feel")
    draft = {"context_id": drawn["id"], "input": {"statement": "Most private words."}, "answer": {"label": "positive"}}
    document = send(ada, draft, task="feel").json()
    assert document["fooled"]
    feel.post(f"/api/v1/examples/{document['id']}/validations", json={"vote": "correct", "as_owner": True})
    visitor = browser()
    for path in ("/", "/tasks/feel", "/tasks/feel/people", "/tasks/feel/rounds/1"):
        page = visitor.get(path)
        assert page.status_code == 200
        assert "Most private words." not in page.text, path
    assert "Content warning" in visitor.get("/").text
    assert visitor.submit("/try", page="/", task="feel", context_id=str(drawn["id"])).status_code == 404


def test_a_seed_shows_what_the_model_says_and_then_what_was_changed(eve):
    accept(eve)
    page = eve.get("/tasks/feel/create").text
    assert "predicts" in page
    assert "80%" in page
    assert page.count(SEED) >= 2, "in the field as well"
    same = try_it(eve, SEED, "positive")
    assert same.status_code == 422
    assert "Change the text" in same.text
    answer = try_it(eve, "The soup was bad.", "positive").text
    assert re.search(r"<del>.*good</del><ins>.*bad</ins>", answer)
    assert "3 characters" in answer


def test_a_perturbation_begins_with_the_own_example_and_links_to_it(eve, feel):
    accept(eve)
    answer = try_it(eve, "The soup was so good.", "positive").text
    origin = re.search(r'/examples/(\d+)/perturbation"', answer)[1]
    begun = eve.submit(f"/examples/{origin}/perturbation", htmx=True).text
    assert "<!doctype" not in begun.lower()
    assert "Your answer" in begun
    goal = hidden(begun, "answer.label")
    assert goal in ("neutral", "negative")
    plain = eve.submit(f"/examples/{origin}/perturbation")
    assert (plain.status_code, plain.headers["location"]) == (303, "/tasks/feel/create")
    goal = hidden(eve.get("/tasks/feel/create").text, "answer.label")
    flipped = try_it(eve, "The soup was so cold.", goal).text
    assert f"from your example {origin}" in flipped
    assert f'href="#try-{origin}"' in flipped
    assert re.search(r"<del>.*good</del><ins>.*cold</ins>", flipped)


def test_only_fields_that_may_apply_are_asked_for_and_kept(eve, feel):
    accept(eve)
    answer = try_it(eve, "The soup was so good.", "positive").text
    assert "ask.target" not in answer
    answer = try_it(eve, "The soup was not so good.", "negative").text
    assert all(f"ask.{name}" in answer for name in ("target", "which", "why"))
    example = re.search(r"/examples/(\d+)/explanation", answer)[1]
    answers = {"ask.target": "people", "ask.which": "dropped, since it was not asked for", "ask.why": "One word."}
    eve.submit(f"/examples/{example}/explanation", htmx=True, **answers)
    explanation = feel.get(f"/api/v1/examples/{example}").json()["explanation"]
    assert explanation == {"target": "people", "why": "One word."}


def test_where_no_model_is_asked_the_page_says_so(feel, eve):
    feel.post("/api/v1/tasks/feel/rounds/1/close")
    arms = [{"name": "control", "targets": "none"}]
    opened = feel.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-a"], "arms": arms})
    assert opened.status_code == 201
    accept(eve)
    page = eve.get("/tasks/feel/create").text
    assert "no model is asked" in page
    assert "prediction" not in page
    answer = try_it(eve, "The soup was warm.", "neutral").text
    assert "Recorded. No model was asked here." in answer
    assert "token-strip" not in answer


def test_the_sandbox_shows_changes_too(eve):
    accept(eve)
    page = eve.get("/tasks/feel/create?sandbox=1").text
    fields = {name: hidden(page, name) for name in ("context_id", "sandbox", "begun.statement")}
    submission = eve.submit(
        "/tasks/feel/create", **fields, **{"input.statement": "The soup was bad.", "answer.label": "neutral"}
    )
    assert re.search(r"<del>.*good</del><ins>.*bad</ins>", submission.text)


def test_voters_learn_what_the_model_looked_at_once_they_have_voted(feel, ada, bob):
    drawn = draw(ada, "feel")
    draft = {"context_id": drawn["id"], "input": {"statement": "The soup is good."}, "answer": {"label": "negative"}}
    document = send(ada, draft, task="feel").json()
    address = f"/api/v1/examples/{document['id']}/validations/attributions"
    assert bob.get(address).status_code == 409
    assert bob.get("/api/v1/examples/999/validations/attributions").status_code == 404
    bob.post("/api/v1/tasks/feel/validations/next")
    assert bob.post(f"/api/v1/examples/{document['id']}/validations", json={"vote": "correct"}).status_code == 201
    response = bob.get(address, params={"model": "sentiment-a"})
    assert response.status_code == 200
    assert response.json()["label"] == "positive"
    assert [word["text"] for word in response.json()["fields"]["statement"]] == ["The", "soup", "is", "good."]
    assert bob.get(address, params={"label": "elated"}).status_code == 422


def test_a_silent_model_leaves_the_page_of_a_seed_standing(feel, eve, rules):
    accept(eve)
    rules.rules["sentiment-a"].status = 500
    response = eve.get("/tasks/feel/create", follow_redirects=True)
    assert response.status_code == 200
    assert "sentiment-a gave no answer" in response.text
    rules.rules["sentiment-a"].status = 200
    assert 'id="create-form"' in eve.get("/tasks/feel/create").text
