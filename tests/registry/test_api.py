"""Models as JSON: lists, one, asking, explaining, and who may."""

import pytest

from dynabench.client import Client
from tests.registry.conftest import PAIR

MODELS = "/api/v1/models"


def names(answer):
    assert answer.status_code == 200, answer.text
    return [item["name"] for item in answer.json()["items"]]


def test_models_are_listed_by_name_and_task_page_by_page(client, owner):
    assert names(client.get(MODELS)) == ["nli-a", "nli-b", "sentiment-a"]
    assert names(client.get(MODELS, params={"task": "nli"})) == ["nli-a", "nli-b"]
    assert names(client.get(MODELS, params={"q": "-A"})) == ["nli-a", "sentiment-a"]
    first = client.get(MODELS, params={"limit": 2}).json()
    assert first["next"] == "nli-b"
    assert names(client.get(MODELS, params={"after": first["next"]})) == ["sentiment-a"]


def test_a_model_tells_its_facts_its_card_and_the_rounds_against_it(client, owner, rules):
    rules.rules["nli-a"].readme = "# nli-a\n\nSees negation."
    document = client.get(f"{MODELS}/nli-a").json()
    assert document["inputs"] == ["premise", "hypothesis"]
    assert document["labels"] == document["explains"] == ["entailment", "neutral", "contradiction"]
    assert document["methods"] == ["length", "halves"]
    assert document["readme"] == "# nli-a\n\nSees negation."
    [played] = document["rounds"]
    assert (played["task"], played["number"], played["state"], played["targets"]) == ("nli", 1, "open", ["nli-a"])
    assert played["mer"] == {"value": None, "low": None, "high": None, "n": 0}
    assert client.get(f"{MODELS}/nli-b").json()["rounds"] == []


def test_a_round_s_error_rates_stand_with_its_target(client, owner, person):
    ada = person("ada")
    document = ada.post("/api/v1/tasks/nli/contexts/next").json()
    body = {"context_id": document["id"], "input": {"hypothesis": "This is not so."}, "answer": document["goal"]}
    created = ada.post("/api/v1/tasks/nli/examples", json=body).json()
    [played] = client.get(f"{MODELS}/nli-a").json()["rounds"]
    assert played["mer"]["n"] == 1
    assert played["mer"]["value"] == float(created["fooled"])
    assert played["vmer"]["value"] == 0.0


def test_asking_gives_the_answer_and_health_counts_it(client, owner, rules):
    document = client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR}).json()
    assert document["answer"] == {"label": "contradiction"}
    assert document["probabilities"] == {"entailment": 0.1, "neutral": 0.1, "contradiction": 0.8}
    assert rules.rules["nli-a"].seen == [PAIR]
    rules.rules["nli-a"].status = 500
    assert client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR}).status_code == 503
    [copy] = client.get(f"{MODELS}/nli-a").json()["copies"]
    assert (copy["state"], copy["where"]) == ("READY", "this machine")
    assert (copy["health"]["answers"], copy["health"]["failures"]) == (1, 1)
    assert 0 < copy["health"]["p50_ms"] <= copy["health"]["p95_ms"]
    assert copy["health"]["last_failure"] == "", "what went wrong is for those who look after the model"
    [copy] = owner.get(f"{MODELS}/nli-a").json()["copies"]
    assert "broken" in copy["health"]["last_failure"]


@pytest.mark.slow
def test_nothing_of_an_answer_is_stored(client, owner, database):
    from tests.api.hostile import ledger

    before = ledger(database)
    client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR})
    client.post(f"{MODELS}/nli-a/attributions", json={"inputs": PAIR})
    assert ledger(database) == before


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({"premise": "It rains."}, "inputs.hypothesis"),
        ({**PAIR, "hypothesis": "x" * 501}, "inputs.hypothesis"),
        ({**PAIR, "hypothesis": 7}, "inputs.hypothesis"),
        ({**PAIR, "label": "neutral"}, "inputs.label"),
    ],
)
def test_inputs_are_checked_by_the_task_s_own_fields(client, owner, rules, inputs, field):
    answer = client.post(f"{MODELS}/nli-a/ask", json={"inputs": inputs})
    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == [field]
    assert rules.rules["nli-a"].seen == []


def test_explanations_are_by_the_methods_and_labels_that_the_model_has(client, owner):
    def explain(**more):
        return client.post(f"{MODELS}/nli-a/attributions", json={"inputs": PAIR, **more})

    document = explain(method="halves", label="neutral").json()
    assert (document["method"], document["label"], document["model"]) == ("halves", "neutral", "nli-a")
    assert [word["text"] for word in document["fields"]["premise"]] == ["It", "rains."]
    assert document["maps"] == {}
    assert explain().json()["method"] == "length"
    assert list(explain(method="magic").json()["fields"]) == ["method"]
    assert list(explain(label="perhaps").json()["fields"]) == ["label"]


def test_a_version_that_no_host_serves_is_not_found(client, owner):
    assert client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR, "version": "0" * 16}).status_code == 404
    version = client.get(f"{MODELS}/nli-a").json()["copies"][0]["version"]
    assert client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR, "version": version}).status_code == 200


def test_what_does_not_run_says_so_and_why_to_who_looks_after_it(client, owner, rules):
    rule = rules.rules["nli-a"]
    rule.state, rule.reason = "UNAVAILABLE", "/srv/models/nli-a: no weights"
    refused = client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR})
    assert refused.status_code == 503
    assert "/srv" not in refused.text
    assert "/srv" not in client.get(f"{MODELS}/nli-a").text
    assert owner.get(f"{MODELS}/nli-a").json()["copies"][0]["reason"] == rule.reason


def test_visitors_do_not_ask_what_is_served_elsewhere(client, owner, person, rules):
    rules.rules["nli-a"].card_changes = {"inside": False}
    assert client.post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR}).status_code == 401
    assert person("ada").post(f"{MODELS}/nli-a/ask", json={"inputs": PAIR}).status_code == 200
    assert rules.rules["nli-a"].seen == [PAIR]


def test_without_a_host_the_list_is_unavailable(client, owner, rules):
    rules.away = True
    assert client.get(MODELS).status_code == 503
    assert client.get(f"{MODELS}/nli-a").status_code == 503


def test_the_client_lists_asks_explains_and_hides(client, owner):
    program = Client(token=owner.token)
    program.http.close()
    program.http = client
    client.headers["Authorization"] = f"Bearer {owner.token}"
    assert [item["name"] for item in program.models("nli")] == ["nli-a", "nli-b"]
    assert program.model("nli-b")["task"] == "nli"
    assert program.ask("nli-b", PAIR)["answer"] == {"label": "neutral"}
    assert program.explain_model("nli-a", PAIR, method="length")["label"] == "contradiction"
    assert program.list_model("nli-b", "private", note="not yet")["note"] == "not yet"
    assert program.model("nli-b")["visibility"] == "private"
