"""Codes of an app beside the password: the vectors of the RFC, the pages, and guessing."""

import re
import time
from base64 import b32decode

import pytest
from sqlalchemy import select

from dynabench.people.accounts import second_factor
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import PendingLogin, SecondFactor
from tests.conftest import PASSWORD

VECTORS = {59: "287082", 1111111109: "081804", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"}
"""Of RFC 6238, appendix B: the last six digits."""


@pytest.mark.parametrize(("moment", "code"), VECTORS.items())
def test_codes_are_those_of_the_standard(moment, code):
    assert second_factor.code_at(b"12345678901234567890", moment // 30) == code


@pytest.fixture
def clock(monkeypatch):
    """A clock that codes are made by; add seconds to it."""
    state = {"now": float(int(time.time()))}
    monkeypatch.setattr(second_factor.time, "time", lambda: state["now"])

    def wait(seconds):
        state["now"] += seconds

    return wait


class App:
    """Somebody's app."""

    def __init__(self, secret):
        self.secret = b32decode(secret)

    def code(self, steps=0):
        return second_factor.code_at(self.secret, int(second_factor.time.time()) // 30 + steps)


@pytest.fixture
def ada(browser, person, clock):
    """Ada's browser, the app on her phone, and her recovery codes."""
    person("ada")
    here = browser()
    here.log_in("ada")
    assert (
        here.submit("/settings/second-factor", page="/settings", act="on", factor_password="wrong").status_code == 422
    )
    answer = here.submit("/settings/second-factor", page="/settings", act="on", factor_password=PASSWORD)
    assert answer.headers["location"] == "/settings/second-factor"
    page = here.get("/settings/second-factor").text
    app = App(re.search(r"<code class=\"user-text\">([A-Z2-7]+)<", page)[1])
    assert 'class="segno"' in page
    assert here.submit("/settings/second-factor/confirm", page="/settings", code="000000").status_code == 422
    confirmed = here.submit("/settings/second-factor/confirm", page="/settings", code=app.code())
    codes = re.findall(r"<code>([a-z2-7-]{19})</code>", confirmed.text)
    assert len(codes) == second_factor.RECOVERY_CODES
    clock(30)
    return here, app, codes


def test_log_in_asks_for_a_code_that_works_once(browser, ada, clock):
    _here, app, _codes = ada
    other_browser = browser()
    answer = other_browser.submit("/login", username="ada", password=PASSWORD, next="/models")
    assert answer.headers["location"] == "/login/code"
    assert "dynabench_session" not in other_browser.client.cookies
    assert other_browser.get("/settings").status_code == 303
    code = app.code()
    assert other_browser.submit("/login/code", code="123").status_code == 422
    answer = other_browser.submit("/login/code", code=f" {code[:3]} {code[3:]} ")
    assert (answer.status_code, answer.headers["location"]) == (303, "/models")
    other = browser()
    other.log_in("ada")
    assert other.submit("/login/code", code=code).status_code == 422, "it was used"
    clock(120)
    assert other.submit("/login/code", code=app.code(-3)).status_code == 422, "it is too old"
    assert other.submit("/login/code", code=app.code(-1)).status_code == 303, "the clock of the phone is behind"


def test_a_recovery_code_works_once(browser, ada):
    _here, _app, codes = ada
    answers = []
    for code in (codes[0], codes[0], codes[1].replace("-", "").upper()):
        other_browser = browser()
        other_browser.log_in("ada")
        answers.append(other_browser.submit("/login/code", code=code).status_code)
    assert answers == [303, 422, 303]


def test_five_wrong_codes_end_the_log_in(browser, ada, database):
    eve = browser()
    eve.log_in("ada")
    assert [eve.submit("/login/code", code="000000").status_code for _ in range(6)] == [422] * 4 + [409] * 2
    assert database.read(lambda session: session.scalars(select(PendingLogin)).all()) == []


def test_guessing_is_limited_over_many_log_ins(browser, ada, client, monkeypatch):
    monkeypatch.setattr(client.app.state.settings, "rate_limit", True)
    statuses = []
    for _ in range(3):
        eve = browser()
        eve.log_in("ada")
        statuses += [eve.submit("/login/code", code="000000").status_code for _ in range(4)]
    assert statuses == [422] * 10 + [429] * 2


def test_a_code_alone_opens_nothing(browser, ada):
    _here, app, _codes = ada
    assert browser().submit("/login/code", code=app.code()).status_code == 409


def test_a_password_alone_makes_no_token(client, ada):
    _here, app, _codes = ada
    proof = {"username": "ada", "password": PASSWORD, "name": "laptop"}
    assert list(client.post("/api/v1/tokens", json=proof).json()["fields"]) == ["code"]
    assert client.post("/api/v1/tokens", json=proof | {"code": "000000"}).status_code == 422
    assert client.post("/api/v1/tokens", json=proof | {"code": app.code()}).status_code == 201


def test_a_reset_of_the_password_leaves_the_codes_on(browser, ada, database):
    database.write(accounts.change_password, 1, "x")
    assert database.read(second_factor.has_second_factor, 1)


def test_neither_the_secret_nor_recovery_codes_are_stored_as_they_are(ada, database):
    _here, app, codes = ada
    row = database.read(lambda session: session.scalars(select(SecondFactor)).one())
    stored = repr((row.secret, row.recovery_codes))
    assert not any(code.replace("-", "") in stored for code in codes)
    assert app.secret.hex() not in stored


def test_codes_are_turned_off_with_the_password_and_by_an_operator(browser, ada, database):
    here, _app, _codes = ada
    assert here.submit("/settings/second-factor", page="/settings", act="off").status_code == 422
    assert database.read(second_factor.has_second_factor, 1)
    assert (
        here.submit("/settings/second-factor", page="/settings", act="off", factor_password=PASSWORD).status_code == 303
    )
    assert not database.read(second_factor.has_second_factor, 1)
    assert browser().log_in("ada").headers["location"] == "/"


def test_turning_codes_on_logs_out_other_browsers(browser, person, clock):
    person("bob")
    here, other_browser = browser(), browser()
    here.log_in("bob")
    other_browser.log_in("bob")
    here.submit("/settings/second-factor", page="/settings", act="on", factor_password=PASSWORD)
    app = App(re.search(r"user-text\">([A-Z2-7]+)<", here.get("/settings/second-factor").text)[1])
    assert here.submit("/settings/second-factor/confirm", page="/settings", code=app.code()).status_code == 200
    assert (here.get("/settings").status_code, other_browser.get("/settings").status_code) == (200, 303)


def test_admins_may_have_to_have_codes(browser, ada, database, client, monkeypatch):
    here, _app, _codes = ada
    database.write(accounts.make_administrator, 1)
    monkeypatch.setattr(client.app.state.settings, "admin_second_factor", True)
    assert here.get("/admin").status_code == 200
    database.write(second_factor.drop_second_factor, None, 1)
    refused = here.get("/admin")
    assert refused.status_code == 403
    assert "two-factor" in refused.text
