"""The whole life of an example through the JSON API, and everything that is refused on its way."""

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Prediction, Standing, Tally
from dynabench.rounds.tables import Context
from tests.collection.conftest import draw, send, written


def count(database, table):
    return database.read(lambda session: session.scalar(select(func.count()).select_from(table)))


def test_an_example_is_answered_recorded_and_counted(ada, database):
    drawn = draw(ada)
    assert {*"id handout values goal start arm initial made_from seed assistant".split()} == set(drawn)
    assert drawn["goal"]["label"] in ("entailment", "neutral", "contradiction")
    answer = send(ada, written(drawn, "They are not at home."), key="k1")
    assert answer.status_code == 201
    document = answer.json()
    [prediction] = document["predictions"]
    assert prediction["model"] == "nli-a"
    assert prediction["answer"] == {"label": "contradiction"}
    assert prediction["probabilities"] == {"entailment": 0.1, "neutral": 0.1, "contradiction": 0.8}
    assert document["fooled"] is prediction["fooled"] is (drawn["goal"]["label"] != "contradiction")
    assert document["attempt"] == 1
    assert document["seconds"] >= 0
    assert send(ada, written(drawn, "They are at home.")).json()["attempt"] == 2
    view = ada.get(f"/api/v1/examples/{document['id']}").json()
    assert view["input"] == {"hypothesis": "They are not at home."}
    assert view["verdict"] == "pending"
    assert {name: view[name] for name in document} == document

    def figures(session):
        tally = session.scalars(select(Tally)).one()
        return (
            tally.examples,
            session.get_one(Context, drawn["id"]).used,
            session.scalar(select(func.count(Standing.example_id))),
        )

    assert database.read(figures) == (2, 2, 2)


def test_the_goal_of_chosen_tasks_is_open_and_starts_are_drawn(ada):
    starts = set()
    for _ in range(24):
        drawn = draw(ada, "sentiment")
        assert drawn["goal"] is None
        starts.add(drawn["start"])
        assert bool(drawn["initial"]) == (drawn["start"] == "prompt")
    assert starts == {"blank", "prompt"}
    body = {
        "context_id": drawn["id"],
        "input": {"statement": "As good as no soup at all."},
        "answer": {"label": "negative"},
    }
    assert send(ada, body, task="sentiment").json()["fooled"] is True


@pytest.mark.parametrize("forged", [{"fooled": True}, {"predictions": []}, {"author_id": 1}, {"source": "owner"}])
def test_members_that_the_server_decides_are_refused(ada, forged, database):
    answer = send(ada, written(draw(ada), "They sleep.", **forged))
    assert answer.status_code == 422
    assert next(iter(forged)) in answer.json()["fields"]
    assert count(database, Example) == 0


def test_the_assigned_goal_must_be_the_answer(ada, database):
    drawn = draw(ada)
    other = next(label for label in ("entailment", "neutral") if label != drawn["goal"]["label"])
    answer = send(ada, written(drawn, "They sleep.") | {"answer": {"label": other}})
    assert answer.status_code == 422
    assert set(answer.json()["fields"]) == {"answer.label"}
    assert count(database, Example) == 0


def test_a_context_that_was_not_given_to_one_is_refused(ada, bob):
    answer = send(bob, written(draw(ada), "They sleep."))
    assert answer.status_code == 409
    assert "were not given" in answer.json()["detail"]
    assert send(ada, written({"id": 99999, "goal": {"label": "neutral"}}, "They sleep.")).status_code == 404


def test_the_same_request_twice_makes_one_example(ada, database):
    drawn = draw(ada)
    first = send(ada, written(drawn, "They sleep."), key="same")
    again = send(ada, written(drawn, "They sleep."), key="same")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert (count(database, Example), count(database, Prediction)) == (1, 1)
    other = send(ada, written(drawn, "They eat."), key="same")
    assert other.status_code == 409


def test_keys_belong_to_their_person(ada, bob):
    first, second = draw(ada), draw(bob)
    document = send(ada, written(first, "They sleep."), key="same").json()
    two = send(bob, written(second, "They sleep."), key="same").json()
    assert document["id"] != two["id"]


@pytest.mark.slow
def test_concurrent_identical_requests_make_one_example(ada, database, rules):
    drawn = draw(ada)
    rules.rules["nli-a"].gate.clear()
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(send, ada, written(drawn, "They sleep."), "same") for _ in range(8)]
        threading.Timer(0.3, rules.rules["nli-a"].gate.set).start()
        answers = [item.result() for item in sent]
    assert {answer.status_code for answer in answers} == {201}
    assert len({json.dumps(answer.json(), sort_keys=True) for answer in answers}) == 1
    assert (count(database, Example), count(database, Standing)) == (1, 1)
    assert database.read(lambda session: session.scalars(select(Tally.examples)).one()) == 1


def test_concurrent_tries_on_one_handout_are_numbered_apart(ada, database):
    drawn = draw(ada)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda n: send(ada, written(drawn, f"They sleep {n} hours.")), range(6)))
    assert sorted(answer.json()["attempt"] for answer in answers) == [1, 2, 3, 4, 5, 6]


def test_repeating_oneself_is_refused_until_the_first_is_taken_back(ada):
    drawn = draw(ada)
    first = send(ada, written(drawn, "They sleep.")).json()
    again = send(ada, written(drawn, "They sleep."))
    assert again.status_code == 409
    assert "exactly this" in again.json()["detail"]
    assert ada.post(f"/api/v1/examples/{first['id']}/retract").status_code == 200
    assert send(ada, written(drawn, "They sleep.")).status_code == 201


def test_a_round_that_closes_while_the_model_thinks_refuses_the_example(ada, owner, rules, database):
    drawn, target = draw(ada), rules.rules["nli-a"]
    target.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send, ada, written(drawn, "They sleep."))
        assert target.was_called.wait(5)
        assert owner.post("/api/v1/tasks/nli/rounds/1/close").status_code == 200
        target.gate.set()
        answer = sent.result()
    assert answer.status_code == 409
    assert "closed while" in answer.json()["detail"]
    assert count(database, Example) == count(database, Prediction) == count(database, Tally) == 0
    assert send(ada, written(drawn, "They sleep.")).status_code == 409
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 409


def test_a_target_that_fails_leaves_nothing_behind(ada, rules, database):
    drawn = draw(ada)
    rules.rules["nli-a"].status = 500
    answer = send(ada, written(drawn, "They sleep."), key="k")
    assert answer.status_code == 503
    assert count(database, Example) == 0
    rules.rules["nli-a"].status = 200
    assert send(ada, written(drawn, "They sleep."), key="k").status_code == 201


@pytest.mark.slow
def test_a_target_that_never_answers_is_given_up_within_the_limit(ada, rules):
    drawn = draw(ada)
    rules.rules["nli-a"].gate.clear()
    answer = send(ada, written(drawn, "They sleep."))
    assert answer.status_code == 503


@pytest.mark.slow
def test_nothing_of_the_database_is_held_while_a_model_thinks(ada, bob, rules, database):
    drawn, target = draw(ada), rules.rules["nli-a"]
    target.gate.clear()
    with ThreadPoolExecutor(12) as pool:
        sent = [pool.submit(send, ada, written(drawn, f"They sleep {n}.")) for n in range(12)]
        assert target.was_called.wait(5)
        assert database.engine.pool.checkedout() == 0
        assert bob.post("/api/v1/tasks/sentiment/contexts/next").status_code == 200
        target.gate.set()
        assert {item.result().status_code for item in sent} == {201}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", True),
        ("   ", True),
        (None, True),
        (7, True),
        (["They sleep."], True),
        ({"text": "x"}, True),
        ("x" * 501, True),
        ("null \x00 byte", True),
        ("bell \x07", True),
        ("\ud800 half a pair", True),
        ("🤹🏽‍♀️ juggles \u00e9clairs", False),
        ("הם ישנים בבית", False),
        ("<b>**They** sleep</b> &amp; <script>alert(1)</script>", False),
        ("{{ 7 * 7 }} ' OR 1=1 --", False),
    ],
)
def test_text_is_kept_as_written_or_refused_beside_its_field(ada, text, problem, database):
    drawn = draw(ada)
    body = written(drawn, text)
    answer = ada.post(
        "/api/v1/tasks/nli/examples", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    if problem:
        assert answer.status_code == 422
        assert any(name.startswith("input.hypothesis") for name in answer.json()["fields"])
        assert count(database, Example) == 0
    else:
        assert answer.status_code == 201
        assert ada.get(f"/api/v1/examples/{answer.json()['id']}").json()["input"] == {"hypothesis": text}


def test_a_megabyte_and_broken_bytes_are_refused(ada, database):
    drawn = draw(ada)
    assert send(ada, written(drawn, "x" * 1_000_000)).status_code in (413, 422)
    broken = json.dumps(written(drawn, "caf#")).encode().replace(b"#", b"\xe9")
    answer = ada.post("/api/v1/tasks/nli/examples", content=broken, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    for raw in (b"", b"[]", b"{", b'"x"', b"null"):
        answer = ada.post("/api/v1/tasks/nli/examples", content=raw, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422)
    assert count(database, Example) == 0


def test_unknown_options_and_fields_are_named(ada):
    drawn = draw(ada)
    answer = send(ada, written(drawn, "They sleep.") | {"answer": {"label": "maybe"}})
    assert set(answer.json()["fields"]) == {"answer.label"}
    both = send(ada, {"context_id": drawn["id"], "input": {"premise": "x"}, "answer": {}})
    assert both.status_code == 422
    assert {"input.hypothesis", "answer.label"} <= set(both.json()["fields"])


def test_two_accounts_cannot_influence_each_others_predictions(ada, bob, rules):
    first, second = draw(ada), draw(bob)
    with ThreadPoolExecutor(2) as pool:
        answers = [
            pool.submit(send, ada, written(first, "It is not raining.")),
            pool.submit(send, bob, written(second, "It rains.")),
        ]
        single, two = (answer.result().json() for answer in answers)
    assert single["predictions"][0]["answer"] == {"label": "contradiction"}
    assert two["predictions"][0]["answer"] == {"label": "entailment"}
    for reply, caller in ((single, bob), (two, ada)):
        assert caller.get(f"/api/v1/examples/{reply['id']}").status_code == 404
        assert caller.post(f"/api/v1/examples/{reply['id']}/retract").status_code == 404
        assert caller.post(f"/api/v1/examples/{reply['id']}/explanations", json={}).status_code == 404


def test_the_sandbox_is_open_to_visitors_and_stores_nothing(client, ada, rules, database):
    document = client.post("/api/v1/tasks/nli/contexts/next").json()
    body = {"context_id": document["id"], "input": {"hypothesis": "They sleep."}, "answer": {"label": "neutral"}}
    refused = client.post("/api/v1/tasks/nli/examples", json=body)
    assert refused.status_code == 401
    response = client.post("/api/v1/tasks/nli/examples", json=body | {"sandbox": True})
    assert response.status_code == 201
    assert response.json()["id"] is None
    assert response.json()["fooled"] is True
    assert send(ada, body | {"sandbox": True}).json()["id"] is None
    assert count(database, Example) == count(database, Handout) == 0


def test_keys_that_are_no_keys_are_refused(ada):
    drawn = draw(ada)
    assert send(ada, written(drawn, "They sleep."), key="x" * 101).status_code == 422
    assert send(ada, written(drawn, "They sleep."), key="a b").status_code == 422
    assert send(ada, written(drawn, "They sleep."), key=str(uuid.uuid4())).status_code == 201
