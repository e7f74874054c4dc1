"""Seed starts, perturbations and the arms of a round, through the JSON API."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from dynabench.collection.handout_tables import Handout, Seed, SeedPrediction
from dynabench.collection.tables import Example, Standing, Tally
from tests.collection.conftest import draw, send

FEEL = """
id: feel
name: Feel
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [positive, neutral, negative]}
start: {kinds: [seed]}
perturb: {flip: label}
validate: {votes: 1}
"""
SEEDS = [
    {"input": {"statement": "The soup was good."}, "answer": {"label": "positive"}, "tag": "food"},
    {"input": {"statement": "The bus came late."}},
]


@pytest.fixture
def feel(owner, ada):
    """A task that starts from seeds, with an open round; its annotator is ada."""
    assert owner.post("/api/v1/tasks", json={"config": FEEL}).status_code == 201
    assert owner.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    response = owner.post("/api/v1/tasks/feel/seeds", json={"seeds": SEEDS})
    assert response.json() == {"created": 2, "duplicates": 0, "errors": []}
    return owner


def body(drawn, text, label="negative", **more):
    return {"context_id": drawn["id"], "input": {"statement": text}, "answer": {"label": label}, **more}


def test_a_seed_comes_with_what_the_models_say_and_they_are_asked_once(feel, ada, bob, rules, database):
    drawn = draw(ada, "feel")
    assert (drawn["start"], drawn["goal"], drawn["made_from"]) == ("seed", None, None)
    assert drawn["initial"] == drawn["seed"]["input"]
    answer = {"The soup was good.": "positive", "The bus came late.": "negative"}[drawn["initial"]["statement"]]
    [prediction] = drawn["seed"]["predictions"]
    assert (prediction["model"], prediction["answer"]) == ("sentiment-a", {"label": answer})
    assert prediction["probabilities"][answer] == 0.8
    assert draw(ada, "feel")["initial"] != drawn["initial"], "another one"
    for caller in (ada, bob, bob, bob):
        draw(caller, "feel")
    assert len(rules.rules["sentiment-a"].seen) == 2
    assert database.read(lambda s: s.scalar(select(func.count()).select_from(SeedPrediction))) == 2


def test_an_example_from_a_seed_says_how_far_it_went_and_counts_the_seed_used(feel, ada, database):
    drawn = draw(ada, "feel")
    text = drawn["initial"]["statement"]
    same = send(ada, body(drawn, f" {text} "), task="feel")
    assert set(same.json()["fields"]) == {"input.statement"}
    document = send(ada, body(drawn, text[:-1] + "!!"), task="feel").json()
    assert document["edit_distance"] == 2
    view = ada.get(f"/api/v1/examples/{document['id']}").json()
    assert (view["start"], view["edit_distance"], view["hidden"]) == ("seed", 2, False)
    assert len(view["uid"]) == 32
    assert sorted(database.read(lambda s: s.scalars(select(Seed.used)).all())) == [0, 1]


def test_visitors_start_from_seeds_too_and_nothing_of_theirs_is_stored(feel, client, database):
    document = client.post("/api/v1/tasks/feel/contexts/next").json()
    assert document["handout"] is None
    assert document["seed"]["predictions"]
    response = client.post("/api/v1/tasks/feel/examples", json=body(document, "Such a good grief.", sandbox=True))
    assert response.json()["fooled"] is True
    for table in (Handout, Example):
        assert database.read(lambda s, t=table: s.scalar(select(func.count()).select_from(t))) == 0


def test_a_seed_is_shown_again_when_a_model_that_was_silent_answers(feel, ada, rules, database):
    rules.rules["sentiment-a"].status = 500
    assert ada.post("/api/v1/tasks/feel/contexts/next").status_code == 503
    rules.rules["sentiment-a"].status = 200
    assert draw(ada, "feel")["seed"]["predictions"]


def test_bad_seeds_are_named_and_known_ones_counted(feel):
    rows = [*SEEDS[:1], {"input": {"statment": "x"}}, {"input": {"statement": "New."}, "answer": {"label": "maybe"}}]
    document = feel.post("/api/v1/tasks/feel/seeds", json={"seeds": rows}).json()
    assert (document["created"], document["duplicates"]) == (0, 1)
    assert [error["row"] for error in document["errors"]] == [2, 3]


def test_a_seed_for_a_task_whose_context_is_only_a_prompt_needs_no_context(owner, database):
    rows = [{"input": {"statement": "The bread was stale."}}]
    assert owner.post("/api/v1/tasks/sentiment/seeds", json={"seeds": rows}).json()["created"] == 1
    document = owner.post("/api/v1/tasks/nli/seeds", json={"seeds": [{"input": {"hypothesis": "They sleep."}}]}).json()
    assert "premise" in document["errors"][0]["message"]


def test_verified_examples_become_seeds_until_they_are_withdrawn(feel, ada, bob, owner, database):
    document = send(ada, body(draw(ada, "feel"), "All good for nothing."), task="feel").json()
    assert document["fooled"] is True
    path = "/api/v1/tasks/feel/seeds/examples"
    assert owner.post(path, json={"round": 1}).json() == {"created": 0}
    assert bob.post(f"/api/v1/examples/{document['id']}/validations", json={"vote": "correct"}).status_code == 201
    assert owner.post(path, json={"round": 1}).json() == {"created": 1}
    assert owner.post(path, json={"round": 1}).json() == {"created": 0}
    assert bob.post(path, json={"round": 1}).status_code == 403
    assert owner.request("PUT", "/api/v1/tasks/feel/rounds/1/plan", json={"seeds": "all"}).status_code == 200
    origins = {draw(bob, "feel")["made_from"] for _ in range(12)}
    assert origins == {None, document["id"]}
    inputs = next(values for values in iter(lambda: draw(bob, "feel"), None) if values["made_from"])
    created = send(bob, body(inputs, "All good for nothing!"), task="feel").json()
    assert bob.get(f"/api/v1/examples/{created['id']}").json()["made_from"] == document["id"]
    assert ada.post(f"/api/v1/examples/{document['id']}/retract").status_code == 200
    assert {draw(bob, "feel")["made_from"] for _ in range(12)} == {None}


def test_a_task_without_seeds_says_so_or_starts_otherwise(owner, ada):
    config = FEEL.replace("kinds: [seed]", "kinds: [blank, seed]").replace("feel", "mixed")
    assert owner.post("/api/v1/tasks", json={"config": config}).status_code == 201
    assert owner.post("/api/v1/tasks/mixed/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    assert {draw(ada, "mixed")["start"] for _ in range(8)} == {"blank"}
    only = FEEL.replace("feel", "only")
    assert owner.post("/api/v1/tasks", json={"config": only}).status_code == 201
    assert owner.post("/api/v1/tasks/only/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    refused = ada.post("/api/v1/tasks/only/contexts/next")
    assert (refused.status_code, "seeds" in refused.json()["detail"]) == (409, True)


def test_a_perturbation_must_change_the_text_and_the_answer(feel, ada, bob):
    first = send(ada, body(draw(ada, "feel"), "A good day.", "positive"), task="feel").json()
    path = "/api/v1/tasks/feel/contexts/next"
    document = ada.post(path, json={"perturb": first["id"]}).json()
    assert (document["start"], document["made_from"]) == ("perturb", first["id"])
    assert document["initial"] == {"statement": "A good day."}
    assert document["goal"]["label"] in ("neutral", "negative")
    assert document["seed"]["answer"] == {"label": "positive"}
    assert [prediction["answer"] for prediction in document["seed"]["predictions"]] == [{"label": "positive"}]
    goal = document["goal"]["label"]
    named = {"handout": document["handout"]}
    assert set(send(ada, body(document, "A bad day.", "positive", **named), task="feel").json()["fields"]) == {
        "answer.label"
    }
    assert set(send(ada, body(document, "A good day.", goal, **named), task="feel").json()["fields"]) == {
        "input.statement"
    }
    answer = send(ada, body(document, "A bad day.", goal, **named), task="feel").json()
    assert answer["edit_distance"] == 3
    assert ada.get(f"/api/v1/examples/{answer['id']}").json()["made_from"] == first["id"]
    assert bob.post(path, json={"perturb": first["id"]}).status_code == 404
    assert ada.post("/api/v1/tasks/nli/contexts/next", json={"perturb": first["id"]}).status_code == 404
    assert ada.client.post(path, json={"perturb": first["id"]}).status_code == 401


def test_handouts_of_one_context_are_told_apart_by_their_ids(feel, ada, bob):
    first = send(ada, body(draw(ada, "feel"), "A good day.", "positive"), task="feel").json()
    early = draw(ada, "feel")
    late = ada.post("/api/v1/tasks/feel/contexts/next", json={"perturb": first["id"]}).json()
    assert early["id"] == late["id"], "the task has one empty context"
    document = send(ada, body(early, "It rains.", handout=early["handout"]), task="feel").json()
    assert ada.get(f"/api/v1/examples/{document['id']}").json()["start"] == "seed"
    document = send(ada, body(late, "It pours.", late["goal"]["label"]), task="feel").json()
    assert ada.get(f"/api/v1/examples/{document['id']}").json()["start"] == "perturb"
    assert send(bob, body(early, "It snows.", handout=early["handout"]), task="feel").status_code == 409


def test_what_was_taken_back_or_has_no_perturbations_is_not_perturbed(feel, ada):
    first = send(ada, body(draw(ada, "feel"), "A good day.", "positive"), task="feel").json()
    ada.post(f"/api/v1/examples/{first['id']}/retract")
    assert ada.post("/api/v1/tasks/feel/contexts/next", json={"perturb": first["id"]}).status_code == 409
    drawn = draw(ada, "sentiment")
    other = send(ada, body(drawn, "A good day."), task="sentiment").json()
    assert ada.post("/api/v1/tasks/sentiment/contexts/next", json={"perturb": other["id"]}).status_code == 409


ARMS = [{"name": "live", "share": 1, "start": "blank"}, {"name": "control", "share": 1, "targets": "none"}]


@pytest.fixture
def trial(feel):
    """A second round, with a control arm in which no model is asked."""
    assert feel.post("/api/v1/tasks/feel/rounds/1/close").status_code == 200
    opened = feel.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-a"], "arms": ARMS})
    assert opened.status_code == 201
    assert [arm["targets"] for arm in opened.json()["arms"]] == ["round", "none"]
    return feel


def in_arm(caller, name):
    return next(values for values in iter(lambda: draw(caller, "feel"), None) if values["arm"] == name)


@pytest.mark.slow
def test_arms_are_drawn_and_recorded_and_the_control_asks_no_model(trial, ada, rules, database):
    live = in_arm(ada, "live")
    assert (live["start"], live["seed"]) == ("blank", None)
    document = send(ada, body(live, "A good day."), task="feel").json()
    assert (document["arm"], document["fooled"], len(document["predictions"]), document["edit_distance"]) == (
        "live",
        True,
        1,
        None,
    )
    values = in_arm(ada, "control")
    assert (values["start"], values["seed"]["predictions"]) == ("seed", [])
    seen = len(rules.rules["sentiment-a"].seen)  # the seed was screened before it was handed out
    document = send(ada, body(values, "A good night."), task="feel").json()
    assert (document["arm"], document["fooled"], document["predictions"]) == ("control", None, [])
    assert len(rules.rules["sentiment-a"].seen) == seen
    standing = database.read(lambda s: s.get_one(Standing, document["id"]))
    assert (standing.open, standing.targets) == (True, 0), "validators see it, though it fooled no model"
    assert set(database.read(lambda s: s.scalars(select(Tally.arm)).all())) == {"live", "control"}


def test_rates_of_models_leave_the_control_out_and_the_breakdown_shows_it(trial, ada, bob):
    send(ada, body(in_arm(ada, "live"), "A good day."), task="feel")
    for text in ("One.", "Two."):
        send(ada, body(in_arm(ada, "control"), text), task="feel")
    figures = ada.get("/api/v1/tasks/feel/rounds/2/statistics").json()
    assert (figures["examples"], figures["mer"]["value"], figures["mer"]["n"]) == (1, 1.0, 1)
    assert {arm: figures["by"]["arm"][arm]["examples"] for arm in ("live", "control")} == {"live": 1, "control": 2}
    assert figures["by"]["source"]["person"]["examples"] == 1
    [row] = bob.get("/api/v1/tasks/feel/rounds/2/board").json()["items"]
    assert (row["examples"], row["fooled"]) == (1, 1)
    item = bob.post("/api/v1/tasks/feel/validations/next").json()
    assert bob.post(f"/api/v1/examples/{item['example_id']}/validations", json={"vote": "correct"}).status_code == 201


@pytest.mark.parametrize(
    ("arms", "field"),
    [
        ([{"name": "A b", "share": 1}], "arms.0.name"),
        ([{"name": "a"}, {"name": "a"}], "arms.1.name"),
        ([{"name": "a", "share": 0}], "arms.0.share"),
        ([{"name": "a", "start": "prompt"}], "arms.0.start"),
        ([{"name": "a", "targets": "some"}], "arms.0.targets"),
        ([{"name": "a", "colour": "red"}], "arms.0.colour"),
    ],
)
def test_bad_arms_are_refused_by_their_name(feel, arms, field):
    answer = feel.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-a"], "draft": True, "arms": arms})
    assert answer.status_code == 422
    assert field in answer.json()["fields"]


def test_a_request_sent_again_on_a_later_handout_of_its_context_gets_the_same_answer(feel, ada, rules, database):
    target = rules.rules["sentiment-a"]
    draw(ada, "feel")
    drawn = draw(ada, "feel")  # by now the models have said what they say of both seeds
    sent = body(drawn, "Sent twice.")
    target.was_called.clear()
    target.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(send, ada, sent, "same", "feel")
        assert target.was_called.wait(5)
        assert draw(ada, "feel")["handout"] != drawn["handout"]
        target.was_called.clear()
        second = pool.submit(send, ada, sent, "same", "feel")
        assert target.was_called.wait(5)
        target.gate.set()
        single, two = first.result(), second.result()
    assert (single.status_code, two.status_code) == (201, 201)
    assert single.json() == two.json()
    assert database.read(lambda s: s.scalar(select(func.count()).select_from(Example))) == 1
