"""Each answer can be read and none is a 500, for any request."""

import contextlib
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event
from starlette.testclient import TestClient

from dynabench.site.app import BODY_LIMIT
from dynabench.site.problems import dotted

JSON = {"Content-Type": "application/json"}
sqlite_only = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"username": "\xff"}', 400),
        (b"[" * 100_000, 422),
        (b"[" * 9_000, 400),
        (b"[]", 422),
        (b"null", 422),
        (b'"text"', 422),
        (b"7", 422),
        (b"NaN", 422),
        (b"", 422),
        (b'{"username": "a\\u0000b", "email": "a@example.org", "password": "correct horse battery"}', 422),
        (b'{"username": "\\ud800", "email": "a@example.org", "password": "correct horse battery"}', 422),
        (b'{"\\u0000": 1}', 422),
        (b'{"\\ud800": 1}', 422),
        (b'{"username": ' + b"[" * 100 + b"]" * 100 + b"}", 422),
        (b'{"username": 1e999}', 422),
    ],
)
def test_bodies_that_cannot_be_meant_are_problems(client: TestClient, body: bytes, status: int):
    answer = client.post("/api/v1/accounts", content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.json()["detail"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "nonsense"])
def test_bodies_of_another_type_are_problems(client: TestClient, kind: str):
    answer = client.post("/api/v1/accounts", content=b'{"username": "ada"}', headers={"Content-Type": kind})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@sqlite_only
@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_no_json_makes_it_fail(client: TestClient, body: object):
    for path in ("/api/v1/accounts", "/api/v1/tokens", "/api/v1/attributions"):
        answer = client.post(path, json=body)
        assert 400 <= answer.status_code < 500
        assert isinstance(answer.json()["detail"], str)


def test_errors_carry_the_dotted_names_of_fields():
    assert dotted(("body", "input", "hypothesis")) == "input.hypothesis"
    assert dotted(("query", "limit")) == "limit"
    assert dotted(("body",)) == "body"
    assert dotted(("body", "contexts", 3, "values")) == "contexts.3.values"


@pytest.mark.parametrize(
    "path", ["/api/v1/tasks/%00", "/api/v1/tasks/a%00b", "/api/v1/tasks?after=%00", "/tasks/%00", "/api/v1/tasks/%ff"]
)
def test_addresses_that_no_database_takes_are_refused(client: TestClient, path: str):
    assert client.get(path).status_code in (400, 404)


@pytest.mark.parametrize("size", [BODY_LIMIT + 1, 1_000_000])
@pytest.mark.parametrize("announced", [True, False])
def test_a_body_over_the_limit_is_refused(client: TestClient, size: int, announced: bool):
    body = b'{"username": "' + b"a" * size + b'"}'
    content = body if announced else iter([body[:1000], body[1000:]])
    answer = client.post("/api/v1/accounts", content=content, headers=JSON)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert "256 KiB" in answer.json()["detail"]


def test_a_form_over_the_limit_is_refused_with_a_page(browser):
    answer = browser().submit("/login", username="a" * (BODY_LIMIT + 1), password="x")
    assert answer.status_code == 413
    assert "text/html" in answer.headers["content-type"]


def test_uploads_may_be_larger(client: TestClient, person):
    ada = person("ada")
    rows = [{"values": {"premise": "x" * 1000}}] * 500
    assert ada.post("/api/v1/tasks/none/contexts", json={"contexts": rows}).status_code == 404


def test_unknown_addresses_are_problems_for_programs_and_pages_for_people(client: TestClient):
    assert client.get("/api/v1/nothing").json() == {
        "type": "about:blank", "title": "Not found", "status": 404, "detail": "This page does not exist.",
    }  # fmt: skip
    page = client.get("/nothing")
    assert page.status_code == 404
    assert "<html" in page.text
    fragment = client.get("/nothing", headers={"HX-Request": "true"})
    assert fragment.status_code == 404
    assert "<html" not in fragment.text


def test_a_missing_page_still_shows_who_is_logged_in(browser):
    ada = browser()
    ada.join("ada")
    assert "Logged in as ada" in ada.get("/nothing").text


def test_another_method_is_refused_with_the_ones_that_work(client: TestClient):
    answer = client.put("/api/v1/accounts", json={})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


def test_an_error_of_ours_is_told_without_its_inside(app):
    @app.get("/api/v1/broken")
    async def broken() -> None:
        raise RuntimeError("the password is swordfish")

    @app.get("/broken")
    async def broken_page() -> None:
        raise RuntimeError("the password is swordfish")

    with TestClient(app, raise_server_exceptions=False) as client:
        for path in ("/api/v1/broken", "/broken"):
            answer = client.get(path)
            assert answer.status_code == 500
            assert "swordfish" not in answer.text
            assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert client.get("/api/v1/broken").headers["content-type"] == "application/problem+json"


def test_openapi_documents_problems_and_nothing_of_the_pages(client: TestClient):
    document = client.get("/api/openapi.json").json()
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert [name for name in document["components"]["schemas"] if "__" in name] == [], "two classes share a name"
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    answers = document["paths"]["/api/v1/accounts"]["post"]["responses"]
    assert list(answers["422"]["content"]) == ["application/problem+json"]
    assert client.get("/redoc").status_code == 404


def test_large_answers_are_compressed(client: TestClient):
    answer = client.get("/api/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_who_writes_while_another_process_holds_the_database_is_asked_to_try_again(client, person, settings):
    """As a process does that was stopped while it wrote."""
    ada, engine = person("ada"), client.app.state.db.engine
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout=50"))
    engine.dispose()  # the next connections wait for a moment, in place of ten seconds
    with contextlib.closing(sqlite3.connect(settings.url.removeprefix("sqlite:///"), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        answer = ada.post("/api/v1/tokens", json={"name": "second"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        writer.execute("ROLLBACK")
    assert ada.post("/api/v1/tokens", json={"name": "second"}).status_code == 201


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_full_disk_is_told_and_heals(client, person, browser):
    """SQLite refuses pages beyond the limit as it refuses those that the disk does not take."""
    ada, engine, page = person("ada"), client.app.state.db.engine, browser()
    page.log_in("ada")
    limit = ["PRAGMA max_page_count=1"]  # which the database's size exceeds: it cannot grow
    event.listen(engine, "connect", lambda connection, _: connection.execute(limit[0]))
    engine.dispose()
    description = {"name": "Otters", "about": "x" * 2000}
    answers = [ada.post("/api/v1/teams", json=description | {"name": f"Otters {n}"}) for n in range(20)]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert {answer.status_code for answer in refused} == {507}
    assert "tell the site's operator" in refused[0].json()["detail"]
    assert len(ada.get("/api/v1/teams").json()["items"]) == len(answers) - len(refused), "what was refused is not there"
    form = page.client.post(
        "/teams",
        data={"name": "Herons", "about": "x" * 2000, "csrf": page.token("/settings")},
        headers={"Referer": "http://testserver/teams?task=nli"},
    )
    assert form.status_code == 507
    assert 'href="/teams?task=nli"' in form.text, "the way back to the form"
    limit[0] = "PRAGMA max_page_count=1000000"
    engine.dispose()
    assert ada.post("/api/v1/teams", json={"name": "Newts"}).status_code == 201
