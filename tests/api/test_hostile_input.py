"""Bad input through the API: a clear message, nothing lost, nothing half-written."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.hostile import EXAMPLES, JSON, TEXTS, form_of, ledger
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written

host, rules, furnish = world.host, world.rules, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob
sqlite_only = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # refused before any database


@pytest.mark.parametrize("name", TEXTS)
def test_bad_texts_are_refused_beside_their_field_by_the_api(ada, database, name):
    text, message = TEXTS[name]
    body = written(draw(ada), text)
    before = ledger(database)
    answer = send(ada, body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()["fields"]) == {"input.hypothesis"}
    assert message in answer.json()["fields"]["input.hypothesis"]
    assert ledger(database) == before


@sqlite_only
@pytest.mark.parametrize(
    "change",
    [
        {"context_id": "one"},
        {"context_id": None},
        {"context_id": 0},
        {"context_id": -1},
        {"context_id": 1.5},
        {"context_id": 2**53 + 1},
        {"context_id": 2**70},
        {"input": None},
        {"input": []},
        {"input": "They sleep."},
        {"input": {}},
        {"input": {"hypothesis": 7}},
        {"input": {"hypothesis": None}},
        {"input": {"hypothesis": ["They sleep."]}},
        {"input": {"hypothesis": {"text": "They sleep."}}},
        {"input": {"hypothesis": "They sleep.", "premise": "Mine."}},
        {"input": {"hypothesis": "They sleep.", "<b>": 1}},
        {"answer": "neutral"},
        {"answer": {}},
        {"answer": {"label": "maybe"}},
        {"answer": {"label": ["neutral"]}},
        {"answer": {"label": True}},
        {"answer": {"label": 2**80}},
        {"sandbox": "perhaps"},
        {"sandbox": 7},
        {"made_from": "x"},
        {"made_from": 2**70},
        {"fooled": True},
        {"predictions": [{"model": "nli-a", "answer": {"label": "neutral"}, "fooled": True}]},
        {"author_id": 1},
        {"source": "owner"},
        {"verdict": "correct"},
    ],
    ids=lambda change: json.dumps(change)[:50],
)
def test_wrong_types_and_forged_members_are_refused_by_name(ada, database, change):
    body = written(draw(ada), "They sleep.") | change
    before = ledger(database)
    answer = send(ada, body)
    assert answer.status_code == 422, answer.text
    [name] = change
    assert all(field.startswith(name) for field in answer.json()["fields"]), answer.text
    assert answer.json()["fields"]
    assert ledger(database) == before


@pytest.mark.parametrize("missing", ["context_id", "input", "answer"])
def test_missing_members_are_named(ada, database, missing):
    body = written(draw(ada), "They sleep.")
    del body[missing]
    before = ledger(database)
    answer = send(ada, body)
    assert (answer.status_code, answer.json()["fields"]) == (422, {missing: "This is required."})
    assert ledger(database) == before


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", {422}),
        (b"{", {400}),
        (b'{"context_id": 1,}', {400}),
        (b"\xff\xfe{}", {400}),
        (b'{"input": {"hypothesis": "caf\xe9"}}', {400}),
        (b'{"input": {"hypothesis": "\\ud800"}}', {422}),
        (b'{"input": {"hypothesis": "a\\u0000b"}}', {422}),
        (b'{"input": ' + b'{"a":' * 50 + b"1" + b"}" * 50 + b"}", {422}),
        (b"[" * 50_000 + b"]" * 50_000, {400, 422}),
        (b'{"context_id": ' + b"9" * 5_000 + b"}", {400, 422}),
        (b'{"context_id": NaN, "input": {}, "answer": {}}', {400, 422}),
        (b'{"context_id": 1, "input": {"hypothesis": Infinity}, "answer": {"label": -Infinity}}', {400, 404, 422}),
        (b'{"context_id": 1e400, "input": {}, "answer": {}}', {422}),
        (b'{"input": {"hypothesis": "' + b"x" * 1_000_000 + b'"}}', {413}),
    ],
    ids=lambda value: value[:30].decode("latin-1") if isinstance(value, bytes) else "",
)
def test_bodies_that_cannot_be_read_are_problems(ada, database, raw, status):
    before = ledger(database)
    answer = ada.post(EXAMPLES, content=raw, headers=JSON)
    assert answer.status_code in status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"]
    assert ledger(database) == before


def test_of_a_member_that_is_sent_twice_the_last_counts(ada, database):
    body = json.dumps(written(draw(ada), "They sleep."))
    raw = body.replace('"input"', '"input": {"hypothesis": 7}, "input"')
    assert ada.post(EXAMPLES, content=raw, headers=JSON).status_code == 201


@sqlite_only
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/xml"])
def test_other_content_types_are_refused(ada, database, kind):
    body = json.dumps(written(draw(ada), "They sleep.")).encode()
    before = ledger(database)
    answer = ada.post(EXAMPLES, content=body, headers={"content-type": kind})
    assert answer.status_code in (400, 415, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert ledger(database) == before


@sqlite_only
@pytest.mark.parametrize("key", ["", " ", "two words", "x" * 101, "caf\u00e9".encode(), b"\x80"])
def test_bad_idempotency_keys_are_refused(ada, database, key):
    body = written(draw(ada), "They sleep.")
    before = ledger(database)
    answer = ada.post(EXAMPLES, json=body, headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert ledger(database) == before


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, "x", "1.5", "\u0661"])
def test_numbers_in_addresses_that_no_row_has_are_not_found_or_refused(ada, number):
    for path in (
        f"/api/v1/examples/{number}",
        f"/api/v1/examples/{number}/attributions",
        f"/api/v1/tasks/nli/rounds/{number}",
        f"/api/v1/tasks/nli/rounds/{number}/statistics",
        f"/api/v1/tasks/nli/rounds/{number}/board",
        f"/api/v1/tasks/nli/examples?mine=1&after={number}",
        f"/api/v1/tasks/nli/rounds/1/board?after={number}",
        f"/tasks/nli/rounds/{number}",
        f"/tasks/nli/validate?voted={number}",
    ):
        assert ada.get(path).status_code in (200, 303, 401, 404, 422), path
    for path in (f"/api/v1/examples/{number}/validations", f"/api/v1/examples/{number}/retract"):
        assert ada.post(path, json={"vote": "correct"}).status_code in (404, 422), path


@given(
    text=st.text(max_size=60) | st.text("\0\x07\ud800\u202e\u200d🤹e\u0301 <b>{\n", max_size=40),
    label=st.sampled_from(["entailment", "neutral", "contradiction", "", "maybe"]) | st.text(max_size=5),
)
@settings(max_examples=40, derandomize=True, database=None, deadline=None, suppress_health_check=[*HealthCheck])
def test_any_text_is_answered_as_written_or_refused_beside_its_field(client, owner, text, label):
    document = client.post("/api/v1/tasks/nli/contexts/next").json()
    body = written(document, text, sandbox=True) | {"answer": {"label": label}}
    answer = client.post(EXAMPLES, content=json.dumps(body), headers=JSON)
    assert answer.status_code in (201, 422), answer.text
    if answer.status_code == 422:
        assert all(name.startswith(("input.hypothesis", "answer.label")) for name in answer.json()["fields"])


# What belongs to others, or is over


@pytest.mark.slow
def test_what_belongs_to_others_is_refused(ada, bob, owner, database):
    theirs = send(ada, written(draw(ada), "They sleep.")).json()["id"]
    before = ledger(database)
    path = f"/api/v1/examples/{theirs}"
    assert bob.get(path).status_code == 404
    assert bob.get(f"{path}/attributions").status_code == 404
    assert bob.post(f"{path}/explanations", json={"why_correct": "mine"}).status_code == 404
    assert bob.post(f"{path}/retract").status_code == 404
    assert owner.post(f"{path}/retract").status_code == 403
    assert owner.post(f"{path}/explanations", json={}).status_code == 403
    assert ada.post(f"{path}/validations", json={"vote": "correct"}).status_code == 403
    assert bob.post(f"{path}/validations", json={"vote": "correct", "as_owner": True}).status_code == 403
    assert ledger(database) == before


def fooling(caller):
    """An example of the caller's that fools nli-a."""
    while True:
        drawn = draw(caller)
        text = "It is so." if drawn["goal"]["label"] != "entailment" else "It is not so."
        answer = send(caller, written(drawn, text))
        if answer.status_code == 201:
            return answer.json()["id"]


def test_votes_are_counted_once_and_end_with_the_decision(ada, bob, person, owner, database):
    example = fooling(ada)
    path = f"/api/v1/examples/{example}/validations"
    others = [bob, person("carl"), person("dora")]
    for vote in ({"vote": "perhaps"}, {}, {"vote": None}, {"vote": 1}, {"vote": "correct", "fooled": True}):
        assert bob.post(path, json=vote).status_code == 422, vote
    assert bob.post(path, json={"vote": "correct"}).status_code == 201
    assert bob.post(path, json={"vote": "correct"}).status_code == 409
    assert others[1].post(path, json={"vote": "correct"}).json()["verdict"] == "correct"
    before = ledger(database)
    assert others[2].post(path, json={"vote": "incorrect"}).status_code == 409
    assert bob.post(path, json={"vote": "incorrect"}).status_code == 409
    assert ledger(database) == before


def test_a_closed_round_takes_nothing_more(ada, owner, browser, database):
    drawn = draw(ada)
    eve = browser()
    eve.join("eve")
    fields = form_of(eve.get("/tasks/nli/create").text)
    assert owner.post("/api/v1/tasks/nli/rounds/1/close").status_code == 200
    before = ledger(database)
    assert send(ada, written(drawn, "They sleep.")).status_code == 409
    assert send(ada, written(drawn, "They sleep.", sandbox=True)).status_code == 409
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 409
    for htmx in (True, False):
        submission = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": "They sleep."})
        assert submission.status_code == 409
    assert ledger(database) == before
