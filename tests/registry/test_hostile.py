"""Bad input to the registry: refused with a message, nothing asked, nothing written."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.hostile import HOSTILE, TEXTS, ledger
from tests.registry.conftest import PAIR

ASK, LISTING = "/api/v1/models/nli-a/ask", "/api/v1/models/nli-b"
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.mark.parametrize("name", TEXTS)
def test_bad_texts_are_refused_beside_their_field(client, owner, rules, name):
    text, message = TEXTS[name]
    answer = client.post(ASK, json={"inputs": PAIR | {"hypothesis": text}})
    assert answer.status_code == 422
    assert message in answer.json()["fields"]["inputs.hypothesis"]
    assert rules.rules["nli-a"].seen == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"inputs": None},
        {"inputs": []},
        {"inputs": "It rains."},
        {"inputs": PAIR, "task": "nli"},
        {"inputs": PAIR, "version": 7},
        {"inputs": PAIR, "version": "v" * 101},
        {"inputs": {f"x{n}": "" for n in range(9)}},
        {"inputs": PAIR | {"<b>": HOSTILE}},
    ],
)
def test_bad_bodies_are_refused(client, owner, rules, body):
    answer = client.post(ASK, json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert rules.rules["nli-a"].seen == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"visibility": "all"},
        {"visibility": None},
        {"visibility": "private", "note": "n" * 501},
        {"visibility": "private", "note": "a\0b"},
        {"visibility": "private", "keeper": "k" * 41},
        {"visibility": "private", "keeper": HOSTILE[:40]},
        {"visibility": "private", "name": "nli-a"},
    ],
)
def test_bad_listings_are_refused(owner, database, body):
    before = ledger(database)
    assert owner.patch(LISTING, json=body).status_code == 422
    assert ledger(database) == before


@pytest.mark.parametrize("name", ["..%2F..%2Fetc", "%00", "a" * 101, "%F0%9F%A4%B9", "nli-a%0d%0aX: y", "<script>"])
def test_names_of_nothing_are_not_found_or_refused(client, owner, name):
    pages = [client.get(f"{start}/models/{name}") for start in ("", "/api/v1")]
    assert {page.status_code for page in pages} <= {400, 404, 422}
    assert "<script>" not in pages[0].text


@pytest.mark.slow
def test_markup_in_inputs_and_answers_is_shown_as_text(client, owner, visitor):
    fields = {"inputs.premise": "It rains.", "inputs.hypothesis": HOSTILE}
    page = visitor.submit("/models/nli-a", page="/models/nli-a", **fields)
    assert page.status_code == 200
    assert "<img src=x" not in page.text
    assert "<script>alert" not in page.text


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.text(max_size=20), st.text(max_size=200), max_size=4), st.text(max_size=60))
def test_no_address_breaks_the_pages(client, owner, params, version):
    named = {f"inputs.{name}": text for name, text in params.items()}
    for path in ("/models", "/models/nli-a", "/models/compare"):
        answer = client.get(path, params=named | {"version": version, "q": version, "a": "nli-a", "b": "nli-b"})
        assert answer.status_code < 500
