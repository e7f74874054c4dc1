"""Bad input, through the API and the forms of the pages: a clear message, nothing lost, nothing half-written."""

import html
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from dynabench.migrations import metadata
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written

host, rules, furnish = world.host, world.rules, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob
JSON = {"content-type": "application/json"}
sqlite_only = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # refused before any database
EXAMPLES = "/api/v1/tasks/nli/examples"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> **bold** [a](javascript:b) {{ 7 * 7 }} ' OR 1=1"
NOT_COUNTED = {"sessions", "tokens", "handouts"}  # what reading a page or logging in writes


def ledger(database):
    """How many rows each table has."""
    tables = [table for table in metadata().sorted_tables if table.name not in NOT_COUNTED]
    return database.read(lambda s: {table.name: s.scalar(select(func.count()).select_from(table)) for table in tables})


TEXTS = {
    "empty": ("", "Fill this in"),
    "blank": (" \t \u200b ", "Fill this in"),
    "too long": ("x" * 501, "shorten it to 500"),
    "very long": ("x" * 100_000, "shorten it to 500"),
    "bell": ("a bell \x07", "U+0007"),
    "escape": ("\x1b[31m red", "U+001B"),
    "override": ("left \u202e right", "U+202E"),
    "stacked accents": ("e" + "\u0301" * 40, "accents"),
    "replacement character": ("caf\ufffd", "broken character"),
    "lines": ("two\nlines", "one line"),
}
GOOD = {
    "emoji": "🤹🏽‍♀️ juggles \u00e9clairs 👩‍👩‍👧‍👦",
    "right to left": "הם ישנים בבית، والمطر ينزل",
    "markup": HOSTILE,
}


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
    given = client.post("/api/v1/tasks/nli/contexts/next").json()
    body = written(given, text, sandbox=True) | {"answer": {"label": label}}
    answer = client.post(EXAMPLES, content=json.dumps(body), headers=JSON)
    assert answer.status_code in (201, 422), answer.text
    if answer.status_code == 422:
        assert all(name.startswith(("input.hypothesis", "answer.label")) for name in answer.json()["fields"])


# Pages


@pytest.fixture
def eve(owner, browser):
    """Somebody at a browser, logged in."""
    mine = browser()
    mine.join("eve")
    return mine


def form_of(page):
    """The hidden fields of the create form."""
    found = re.findall(r'<input type="hidden" name="(context_id|key|answer\.label)"[^>]*value="([^"]*)"', page)
    return dict(found)


@sqlite_only
@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("name", TEXTS)
def test_bad_texts_are_refused_beside_their_field_and_kept_by_the_page(eve, database, name, htmx):
    text, message = TEXTS[name]
    fields = form_of(eve.get("/tasks/nli/create").text)
    before = ledger(database)
    answer = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": text})
    assert answer.status_code == 422
    error = re.search(r'id="input-hypothesis-error"[^>]*>([^<]*)<', answer.text)
    assert error, answer.text
    assert message in html.unescape(error[1])
    kept = re.search(r'<textarea[^>]*name="input.hypothesis"[^>]*>\n(.*?)</textarea>', answer.text, re.DOTALL)
    assert html.unescape(kept[1]) == text
    assert form_of(answer.text)["key"] == fields["key"]
    assert ledger(database) == before


@sqlite_only
@pytest.mark.parametrize("sandbox", [True, False])
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"answer.label": "maybe"}, 422),
        ({"answer.label": ""}, 422),
        ({"answer.label": HOSTILE}, 422),
        ({"context_id": "x"}, 422),
        ({"context_id": "-1"}, 422),
        ({"context_id": "9" * 40}, 422),
        ({"context_id": "\u0661"}, 422),
        ({"context_id": "999999"}, 404),
        ({"key": "x" * 101}, 422),
        ({"key": "caf\u00e9"}, 422),
    ],
)
def test_forged_forms_are_refused(eve, database, change, status, sandbox):
    fields = form_of(eve.get("/tasks/nli/create").text) | ({"sandbox": "true"} if sandbox else {})
    before = ledger(database)
    answer = eve.submit("/tasks/nli/create", **(fields | {"input.hypothesis": "They sleep."} | change))
    assert answer.status_code == status, answer.text
    assert "<script>alert" not in answer.text
    assert ledger(database) == before


def test_a_megabyte_and_broken_bytes_in_a_form_are_told_on_a_page(eve, database):
    fields = form_of(eve.get("/tasks/nli/create").text)
    before = ledger(database)
    answer = eve.submit("/tasks/nli/create", htmx=True, **fields, **{"input.hypothesis": "x" * 1_000_000})
    assert answer.status_code == 413
    assert "256 KiB" in answer.text
    assert "<html" not in answer.text, "a fragment beside the form, which stays as it is"
    headers = {"X-CSRF-Token": eve.token(), "content-type": "application/x-www-form-urlencoded"}
    for raw in (b"input.hypothesis=caf%E9", b"input.hypothesis=a%00b", b"%00=1"):
        body = b"&".join([raw, *(f"{name}={value}".encode() for name, value in fields.items())])
        answer = eve.client.post("/tasks/nli/create", content=body, headers=headers)
        assert answer.status_code in (400, 422), (raw, answer.text)
        assert answer.headers["content-type"].startswith("text/html")
    assert ledger(database) == before


@pytest.mark.parametrize("name", GOOD)
def test_every_script_is_kept_as_written_and_shown_as_text(eve, database, name, browser):
    text = GOOD[name]
    fields = form_of(eve.get("/tasks/nli/create").text)
    told = eve.submit("/tasks/nli/create", **fields, **{"input.hypothesis": text})
    assert told.status_code == 200
    bob = browser()
    bob.join("bob")
    for page in (told.text, eve.get("/tasks/nli/create").text, bob.get("/tasks/nli/validate").text):
        for dangerous in ("<script>alert", "<img src=x", "<strong>bold", "<b>bold", 'href="javascript', "49 &#39;"):
            assert dangerous not in page
    for path in ("/", "/tasks/nli", "/tasks/nli/rounds/1", "/tasks/nli/people"):
        assert "<script>alert" not in eve.get(path).text


@sqlite_only
@pytest.mark.parametrize("name", [HOSTILE[:40], "<b>bold</b>", "a&b<c", "\u202eevil", "a\x07b", "x" * 41, "ad", "  "])
def test_names_with_markup_are_refused_and_shown_as_text(eve, client, name, database):
    before = ledger(database)
    fields = {"username": name, "email": "a@example.org", "password": "correct horse battery", "agree": "yes"}
    told = client.post("/api/v1/accounts", json={key: value for key, value in fields.items() if key != "agree"})
    assert told.status_code == 422
    assert "username" in told.json()["fields"]
    other = type(eve)(client)
    page = other.submit("/register", page="/register", **fields)
    assert page.status_code == 422
    assert "<b>bold" not in page.text
    assert "<script>alert" not in page.text
    assert html.escape(name.strip(), quote=False).split("\x07")[0][:5] in page.text
    if name.strip() not in ("ad", "") and len(name) <= 40:
        changed = eve.submit("/settings/profile", page="/settings", pseudonym=name)
        assert changed.status_code == 422
        assert "<b>bold" not in changed.text
    other.client.close()
    assert ledger(database) == before


def test_contexts_tasks_and_explanations_with_markup_are_shown_as_text(owner, eve, client):
    config = (
        "id: evil\nname: '<b>Evil</b> **task**'\ndescription: '<script>alert(1)</script>'\n"
        "instructions: {create: '<script>alert(1)</script> *do it* <img src=x onerror=alert(1)>', validate: x}\n"
        "context: [{name: premise, type: text, label: '<i>P</i>'}]\ninput: [{name: hypothesis, type: text}]\n"
        "answer: {name: label, type: choice, options: [entailment, neutral, contradiction]}\n"
        "ask: [{name: why, type: text}]\n"
    )
    assert owner.post("/api/v1/tasks", json={"config": config}).status_code == 201
    rows = {"contexts": [{"values": {"premise": HOSTILE}}]}
    assert owner.post("/api/v1/tasks/evil/contexts", json=rows).json()["created"] == 1
    assert owner.post("/api/v1/tasks/evil/rounds", json={"targets": ["nli-a"]}).status_code == 201
    paths = (
        "/",
        "/tasks/evil",
        "/tasks/evil/create",
        "/tasks/evil/rounds/1",
        "/tasks/evil/people",
        "/tasks/evil/validate",
    )
    for path in paths:
        page = eve.get(path).text
        for dangerous in ("<script>alert", "<img src=x", "<b>Evil", "<i>P</i>", "<strong>bold"):
            assert dangerous not in page, (path, dangerous)
    assert html.escape("<b>Evil</b> **task**") in eve.get("/tasks/evil").text


# What belongs to others, or is over


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
        given = draw(caller)
        text = "It is so." if given["goal"]["label"] != "entailment" else "It is not so."
        answer = send(caller, written(given, text))
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
    given = draw(ada)
    eve = browser()
    eve.join("eve")
    fields = form_of(eve.get("/tasks/nli/create").text)
    assert owner.post("/api/v1/tasks/nli/rounds/1/close").status_code == 200
    before = ledger(database)
    assert send(ada, written(given, "They sleep.")).status_code == 409
    assert send(ada, written(given, "They sleep.", sandbox=True)).status_code == 409
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 409
    for htmx in (True, False):
        told = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": "They sleep."})
        assert told.status_code == 409
    assert ledger(database) == before
