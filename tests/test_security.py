"""Headers, cookies, the forms' tokens, limits on how often, digests."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from dynabench.kit import security
from dynabench.kit.security import Limiter, digest, pseudonym
from dynabench.kit.storable import DEEPEST, unstorable
from dynabench.site.app import create_app
from dynabench.site.request_bodies import MemberCount
from tests.conftest import PASSWORD, Browser

BAD = {"username": "ada", "password": "something wrong"}


@pytest.mark.parametrize("path", ["/login", "/healthz", "/api/v1/me", "/nothing", "/api/v1/nothing"])
def test_every_answer_carries_the_security_headers(client: TestClient, path: str):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_what_belongs_to_people_is_kept_by_no_cache(client: TestClient):
    assert client.get("/api/v1/me").headers["cache-control"] == "no-store"
    assert client.get("/login").headers["cache-control"] == "private, no-cache"


def test_behind_tls_cookies_are_secure_and_bound_to_the_host(settings, host):
    settings.secure_cookies = True
    with TestClient(create_app(settings, host), base_url="https://testserver", follow_redirects=False) as client:
        answer = client.get("/login")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-dynabench_visitor=")
        assert "Secure" in cookie
        assert "strict-transport-security" in answer.headers


def test_a_form_without_a_token_is_refused(client: TestClient):
    client.get("/login")
    answer = client.post("/login", data=BAD)
    assert answer.status_code == 403
    assert "has expired" in answer.text


@pytest.mark.parametrize("token", ["", ".", "x.y", "0" * 81])
def test_a_made_up_token_is_refused(client: TestClient, token: str):
    client.get("/login")
    assert client.post("/login", data=BAD | {"csrf": token}).status_code == 403


def test_the_token_of_another_browser_is_refused(browser):
    mine, other = browser(), browser()
    token = other.token("/login")
    mine.get("/login")
    assert mine.client.post("/login", data=BAD | {"csrf": token}).status_code == 403
    assert other.client.post("/login", data=BAD | {"csrf": token}).status_code == 401


def test_a_token_from_before_the_login_is_refused_after_it(browser):
    ada = browser()
    before = ada.token("/login")
    ada.join("ada")
    assert ada.client.post("/settings/tokens", data={"name": "x", "csrf": before}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 401),
        ({"Sec-Fetch-Site": "none"}, 401),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://testserver"}, 401),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_the_browser_says_where_a_form_comes_from(browser, headers, status):
    mine = browser()
    token = mine.token("/login")
    assert mine.client.post("/login", data=BAD | {"csrf": token}, headers=headers).status_code == status


def test_the_api_takes_a_cookie_only_with_the_token(browser):
    ada = browser()
    ada.join("ada")
    assert ada.client.patch("/api/v1/me", json={}).status_code == 403
    headers = {"X-CSRF-Token": ada.token("/settings")}
    assert ada.client.patch("/api/v1/me", json={}, headers=headers).status_code == 200


def test_a_wrong_token_is_not_made_up_for_by_a_cookie(browser):
    ada = browser()
    ada.join("ada")
    assert ada.get("/api/v1/me", headers={"Authorization": "Bearer dyna_wrong"}).status_code == 401
    assert ada.get("/api/v1/me", headers={"Authorization": "Basic eDp5"}).status_code == 200


@pytest.fixture
def limited(settings, host):
    settings.rate_limit = True
    with TestClient(create_app(settings, host), follow_redirects=False) as client:
        yield client


def test_guessing_a_password_is_slowed_down_even_for_the_right_one(limited):
    for _ in range(10):
        assert limited.post("/api/v1/tokens", json=BAD).status_code == 401
    answer = limited.post("/api/v1/tokens", json=BAD | {"password": PASSWORD, "username": "ADA "})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 7
    assert limited.post("/api/v1/tokens", json=BAD | {"username": "eve"}).status_code == 401


def test_pages_are_limited_like_the_api(limited):
    browser = Browser(limited)
    for _ in range(10):
        assert browser.log_in("ada", "something wrong").status_code == 401
    assert browser.log_in("ada", "something wrong").status_code == 429
    browser.client.close()


def test_limits_can_be_switched_off(client):
    assert {client.post("/api/v1/tokens", json=BAD).status_code for _ in range(15)} == {401}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_fills_again_evenly():
    clock = Clock()
    limiter = Limiter(clock)
    assert [limiter.wait("login", "ada", 3, 30) for _ in range(4)] == [0, 0, 0, 10]
    assert limiter.wait("login", "eve", 3, 30) == 0
    clock.now += 10
    assert [limiter.wait("login", "ada", 3, 30) for _ in range(2)] == [0, 10]


@given(st.lists(st.floats(0, 20), min_size=1, max_size=80))
def test_no_more_than_allowed_in_any_window(pauses):
    clock = Clock()
    limiter, claimed = Limiter(clock), []
    for pause in pauses:
        clock.now += pause
        if limiter.wait("x", "y", 5, 10) == 0:
            claimed.append(clock.now)
    # A bucket of 5 that refills in 10 s lets at most 5 + 5 through in any 10 s.
    assert all(sum(1 for other in claimed if moment <= other < moment + 10) <= 10 for moment in claimed)


def test_buckets_that_are_full_again_are_forgotten():
    clock = Clock()
    limiter = Limiter(clock, most=10)
    for number in range(10):
        limiter.wait("x", str(number), 1, 1)
    clock.now += 2
    limiter.wait("x", "last", 1, 1)
    assert len(limiter._full_at) == 1


def test_a_pseudonym_is_stable_keyed_and_separate_for_each_kind():
    assert pseudonym(b"key", "person", 7) == pseudonym(b"key", "person", 7)
    others = {pseudonym(b"key", "person", 8), pseudonym(b"other", "person", 7), pseudonym(b"key", "worker", 7)}
    assert len(others) == 3
    assert pseudonym(b"key", "person", 7) not in others
    assert len(pseudonym(b"key", "person", 7)) == len("person-") + 16


def test_digests_are_sha256():
    assert digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("fine 🙂 \u202e", []),
        ("a\0", ["body"]),
        ({"a": {"b": ["x", "\0"]}}, ["a.b.1"]),
        ({"a": "\udc00"}, ["a"]),
        ({"\0": 1}, ["body"]),
        ([1, None, True, 2.5], []),
    ],
)
def test_text_that_cannot_be_stored_is_named(value, names):
    assert list(unstorable(value)) == names


JSON_VALUES = st.recursive(
    st.none() | st.integers() | st.text('ab",:[]{}\\/\n\u00e9', max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('a",:[{\\', max_size=4), inner, max_size=4),
    max_leaves=20,
)


ANY_TEXT = st.text(st.sampled_from('a",:[]{}\\/\n\0\u00e9\ud7ff\ud800\udfff\U0001f642'), max_size=8)
ANY_JSON = st.recursive(
    st.none() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(ANY_JSON, st.integers(0, DEEPEST + 2), st.booleans())
def test_json_that_looks_plain_can_be_stored(value, levels, ascii_only):
    for _ in range(levels):
        value = [value]
    raw = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if security.is_plain_json(raw):
        assert list(unstorable(json.loads(raw))) == []


def test_ordinary_json_looks_plain_and_what_cannot_be_stored_does_not():
    assert security.is_plain_json('{"input": {"text": "Zoë 🙂 said \\"no\\"\\n"}, "seen": [1, 2.5, null]}'.encode())
    for wrong in (b'"\\u0000"', b'"\\ud800"', b'"\xed\xa0\x80"', b'"a\0"', b"[" * 33 + b"]" * 33):
        assert not security.is_plain_json(wrong)


def _names(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (len(value) if isinstance(value, dict) else 0) + sum(map(_names, inner))


def _members(value):
    """Commas, and brackets that open, as they are counted."""
    inner = list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    own = max(1, len(inner)) if isinstance(value, dict | list) else 0
    return own + sum(map(_members, inner))


@given(JSON_VALUES, st.integers(1, 7), st.booleans(), st.sampled_from([None, 1]))
def test_members_are_counted_without_a_parser_however_the_text_is_cut(value, size, plain, indent):
    text, count = json.dumps(value, ensure_ascii=plain, indent=indent).encode(), MemberCount()
    for start in range(0, len(text), size):
        count.add(text[start : start + size])
    assert (count.members, count.names) == (_members(value), _names(value))


def test_nesting_is_named_from_the_level_that_is_too_deep():
    value = {"end": 1}
    for _ in range(DEEPEST - 1):
        value = [value]
    assert list(unstorable(value)) == []
    assert list(unstorable([value])) == ["0." * DEEPEST + "end"]


def test_addresses_of_one_ipv6_network_are_one_visitor():
    def request(host: str):
        return security.Request({"type": "http", "client": (host, 1), "headers": []})

    assert security.address(request("2001:db8::1")) == security.address(request("2001:db8::ffff:1"))
    assert security.address(request("2001:db8:0:1::1")) != security.address(request("2001:db8::1"))
    assert security.address(request("192.0.2.1")) == "192.0.2.1"
