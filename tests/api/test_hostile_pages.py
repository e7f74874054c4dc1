"""Bad input through the forms of the pages: a clear message, nothing lost, markup shown as text."""

import html
import re

import pytest

from tests.api.hostile import GOOD, HOSTILE, TEXTS, form_of, ledger
from tests.collection import conftest as world

host, rules, furnish = world.host, world.rules, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob
sqlite_only = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # refused before any database


@pytest.fixture
def eve(owner, browser):
    """Somebody at a browser, logged in."""
    mine = browser()
    mine.join("eve")
    return mine


@sqlite_only
@pytest.mark.parametrize("htmx", [True, False])
def test_bad_texts_are_refused_beside_their_field_and_kept_by_the_page(eve, database, htmx):
    fields = form_of(eve.get("/tasks/nli/create").text)
    before = ledger(database)
    for name, (text, message) in TEXTS.items():
        answer = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": text})
        assert answer.status_code == 422, name
        error = re.search(r'id="input-hypothesis-error"[^>]*>([^<]*)<', answer.text)
        assert error, (name, answer.text)
        assert message in html.unescape(error[1])
        area = re.search(r'<textarea[^>]*name="input.hypothesis"[^>]*>\n(.*?)</textarea>', answer.text, re.DOTALL)
        assert html.unescape(area[1]) == text, name
        assert form_of(answer.text)["key"] == fields["key"], name
    assert ledger(database) == before


FORGED = [
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
]


@pytest.mark.slow
@sqlite_only
@pytest.mark.parametrize("sandbox", [True, False])
def test_forged_forms_are_refused(eve, database, sandbox):
    fields = form_of(eve.get("/tasks/nli/create").text) | ({"sandbox": "true"} if sandbox else {})
    before = ledger(database)
    for change, status in FORGED:
        answer = eve.submit("/tasks/nli/create", **(fields | {"input.hypothesis": "They sleep."} | change))
        assert answer.status_code == status, (change, answer.text)
        assert "<script>alert" not in answer.text, change
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
    submission = eve.submit("/tasks/nli/create", **fields, **{"input.hypothesis": text})
    assert submission.status_code == 200
    bob = browser()
    bob.join("bob")
    for page in (submission.text, eve.get("/tasks/nli/create").text, bob.get("/tasks/nli/validate").text):
        for dangerous in ("<script>alert", "<img src=x", "<strong>bold", "<b>bold", 'href="javascript', "49 &#39;"):
            assert dangerous not in page
    for path in ("/", "/tasks/nli", "/tasks/nli/rounds/1", "/tasks/nli/people"):
        assert "<script>alert" not in eve.get(path).text


@sqlite_only
@pytest.mark.parametrize("name", [HOSTILE[:40], "<b>bold</b>", "a&b<c", "\u202eevil", "a\x07b", "x" * 41, "ad", "  "])
def test_names_with_markup_are_refused_and_shown_as_text(eve, client, name, database):
    before = ledger(database)
    fields = {"username": name, "email": "a@example.org", "password": "correct horse battery", "agree": "yes"}
    response = client.post("/api/v1/accounts", json={key: value for key, value in fields.items() if key != "agree"})
    assert response.status_code == 422
    assert "username" in response.json()["fields"]
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


@pytest.mark.slow
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
