"""Answers that people or a judge model call wrong: by the author, by validators, by a model."""

import json

import pytest
from sqlalchemy import func, select

from dynabench.collection.tables import Judgement, Standing
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.rounds.tables import Context
from dynabench.tasks import TaskConfig
from dynabench.validation.rebuild import rebuild_all
from tests.collection.conftest import nli, sentiment
from tests.collection.oip import Rule, RuleHost
from tests.collection.test_starts import body, draw, send

TASK = """
id: judged
name: Judged
input: [{name: statement, type: text}]
answer: {name: label, type: choice, options: [positive, negative, neutral]}
fooled: %s
ask: [{name: why_fooled, type: text, when: fooled}]
validate: {mode: judge, votes: 2, adjudicate_up_to: 3, also_not_fooled: true}
"""
JUDGE = """
  rule: judged_by_model
  judge: nli-a
  ask: {premise: "{input.statement}", hypothesis: "It is {answer.label}, {claim.label}."}
  says_wrong: [entailment]
"""


@pytest.fixture
def rules():
    host = RuleHost(
        Rule("nli-a", "nli", nli),
        Rule("sentiment-a", "sentiment", sentiment),
        Rule("sentiment-b", "sentiment", sentiment),
    )
    yield host
    host.stop()


@pytest.fixture
def cleo(person):
    return person("cleo")


@pytest.fixture
def start(owner, database):
    """Opens a round of a task under a rule, against models."""

    def begin(rule, *targets, **more):
        source = TASK % rule

        def prepare(session):
            service.save_task(session, None, source)
            contexts.add_contexts(session, "judged", TaskConfig.parse(source), [ContextRow(1, {})])

        database.write(prepare)
        opened = owner.post("/api/v1/tasks/judged/rounds", json={"targets": targets or ["sentiment-a"]} | more)
        assert opened.status_code == 201, opened.text
        return opened.json()

    return begin


def write(caller, text, label="negative"):
    response = send(caller, body(draw(caller, "judged"), text) | {"answer": {"label": label}}, task="judged")
    assert response.status_code == 201, response.text
    return response.json()


def vote(database, caller, example, label):
    answer = caller.post(f"/api/v1/examples/{example}/validations", json={"vote": label})
    assert answer.status_code == 201, answer.text
    return answer.json()


def standing(database, example):
    return database.read(lambda session: session.get_one(Standing, example))


def recount_changes_nothing(database, example):
    names = ("fooled", "verdict", "open", "targets_right", "targets", "votes")

    def counted():
        contexts = database.read(lambda session: session.execute(select(Context.id, Context.fooled)).all())
        return [getattr(standing(database, example), name) for name in names], sorted(map(tuple, contexts))

    before = counted()
    rebuild_all(database)
    assert counted() == before


def figures(caller):
    document = caller.get("/api/v1/tasks/judged/rounds/1/statistics").json()
    return (
        document["examples"],
        document["unknown"],
        document["fooled"],
        document["validated_fooled"],
        document["mer"]["n"],
    )


def test_nobody_knows_until_the_author_has_judged(start, ada, bob, cleo, database):
    start("{rule: judged_by_annotator}")
    created = write(ada, "A good day.")
    assert (created["fooled"], created["predictions"][0]["fooled"]) == (None, None)
    assert not standing(database, created["id"]).open
    assert figures(ada) == (1, 1, 0, 0, 0)
    assert bob.post("/api/v1/tasks/judged/validations/next").status_code == 204
    where = f"/api/v1/examples/{created['id']}/judgement"
    assert ada.post(where, json={"wrong": [True, False]}).status_code == 422
    assert bob.post(where, json={"wrong": [True]}).status_code == 404
    for _ in range(2):  # sent again, it changes nothing
        document = ada.post(where, json={"wrong": [True]}).json()
        assert (document["fooled"], document["predictions"][0]["fooled"]) == (True, True)
    assert figures(ada) == (1, 0, 1, 0, 1)
    assert len(database.read(lambda session: session.scalars(select(Judgement)).all())) == 1
    assert ada.post(where, json={"wrong": [False]}).json()["fooled"] is False
    assert ada.post(where, json={"wrong": [True]}).json()["fooled"] is True
    of_task = select(func.sum(Context.fooled)).where(Context.task_id == "judged")
    assert database.read(lambda session: session.scalar(of_task)) == 1
    recount_changes_nothing(database, created["id"])
    item = bob.post("/api/v1/tasks/judged/validations/next").json()
    assert item["said"] == [{"label": "positive"}]
    vote(database, bob, created["id"], "correct")
    assert ada.post(where, json={"wrong": [False]}).status_code == 409
    vote(database, cleo, created["id"], "correct")
    assert figures(ada) == (1, 0, 1, 1, 1)
    recount_changes_nothing(database, created["id"])


def test_an_answer_that_its_author_claims_is_no_error_and_may_still_be_called_one(start, ada, database):
    start("{rule: judged_by_annotator}")
    created = write(ada, "A dull day.")  # negative, as the model says
    assert (created["fooled"], created["predictions"][0]["fooled"]) == (False, False)
    assert standing(database, created["id"]).targets_right == 1
    assert figures(ada) == (1, 0, 0, 0, 1)
    recount_changes_nothing(database, created["id"])
    where = f"/api/v1/examples/{created['id']}/judgement"
    assert ada.post(where, json={"wrong": [True]}).json()["fooled"] is True
    assert figures(ada) == (1, 0, 1, 0, 1)
    recount_changes_nothing(database, created["id"])


def test_the_verdict_says_whether_the_model_was_wrong(start, ada, bob, cleo, database):
    start("{rule: judged_by_validators}")
    first, second = write(ada, "A good day."), write(ada, "A good night.")
    assert (first["fooled"], standing(database, first["id"]).open) == (None, True)
    for voter in (bob, cleo):
        vote(database, voter, first["id"], "correct")
        vote(database, voter, second["id"], "incorrect")
    assert [standing(database, element["id"]).fooled for element in (first, second)] == [True, False]
    assert [standing(database, element["id"]).targets_right for element in (first, second)] == [0, 1]
    assert figures(ada) == (2, 0, 1, 1, 2)
    document = ada.get(f"/api/v1/examples/{second['id']}").json()
    assert (document["fooled"], document["predictions"][0]["fooled"]) == (False, False)
    for item in (first, second):
        recount_changes_nothing(database, item["id"])
    undone = cleo.post(f"/api/v1/examples/{second['id']}/validations/undo")
    assert undone.status_code in (200, 201), undone.text
    assert standing(database, second["id"]).fooled is None
    recount_changes_nothing(database, second["id"])
    assert figures(ada) == (2, 1, 1, 1, 1)


def test_a_judge_model_says_it_at_once_and_is_recorded(start, ada, database):
    opened = start(JUDGE)
    assert opened["judge"]["model"] == "nli-a"
    created = write(ada, "A good day.")
    assert (created["fooled"], created["predictions"][0]["fooled"]) == (True, True)
    [answer] = database.read(lambda session: session.scalars(select(Judgement)).all())
    assert (answer.by, answer.model, answer.fooled, answer.said) == ("model", "nli-a", True, {"label": "entailment"})
    assert answer.version == opened["judge"]["version"]
    recount_changes_nothing(database, created["id"])


def test_with_several_targets_the_ensemble_is_known_as_soon_as_it_can_be(start, ada, database):
    start("{rule: judged_by_annotator}", "sentiment-a", "sentiment-b", ensemble="all")
    created = write(ada, "A good day.")
    document = ada.post(f"/api/v1/examples/{created['id']}/judgement", json={"wrong": [True, False]}).json()
    assert (document["fooled"], [prediction["fooled"] for prediction in document["predictions"]]) == (
        False,
        [True, False],
    )
    recount_changes_nothing(database, created["id"])


def test_a_task_without_any_model_is_collected_and_checked(start, ada, bob, cleo, database, owner):
    assert owner.post("/api/v1/tasks/judged/rounds", json={"targets": []}).status_code in (404, 422)
    opened = start("{rule: differs}", "none")
    assert opened["targets"] == []
    created = write(ada, "A good day.")
    assert (created["fooled"], created["predictions"], standing(database, created["id"]).open) == (None, [], True)
    for voter in (bob, cleo):
        vote(database, voter, created["id"], "correct")
    assert figures(ada) == (1, 1, 0, 0, 0)
    assert standing(database, created["id"]).verdict == "correct"
    [row] = [json.loads(line) for line in owner.get("/api/v1/tasks/judged/export").text.splitlines()]
    assert (row["fooled"], row["predictions"], row["condition"]["targets"]) == (None, [], [])


def test_a_judge_is_compared_with_people(start, ada, bob, cleo, owner):
    start(JUDGE)
    for text, verdict in (("A good day.", "correct"), ("A good night.", "incorrect"), ("A bad day.", "correct")):
        example = write(ada, text)["id"]
        for voter in (bob, cleo):
            voter.post(f"/api/v1/examples/{example}/validations", json={"vote": verdict})
    document = owner.get("/api/v1/tasks/judged/rounds/1/calibration").json()
    assert (document["judge"], document["model"]) == ("model", "nli-a")
    assert (document["both"], document["judged_only"], document["found_only"], document["neither"]) == (2, 1, 0, 0)
    assert document["precision"]["value"] == pytest.approx(2 / 3)
    assert (document["recall"]["value"], document["agreement"]["value"]) == (1.0, pytest.approx(2 / 3))
    assert owner.get("/api/v1/tasks/sentiment/rounds/1/calibration").status_code == 409
    assert bob.get("/api/v1/tasks/judged/rounds/1/calibration").status_code == 403
