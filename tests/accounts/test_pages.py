"""Accounts as people see them in a browser."""

import pytest
from sqlalchemy import select, update

from dynabench.kit.db import now
from dynabench.kit.forms import safe_next
from dynabench.people.accounts import service
from dynabench.people.accounts.tables import Act, Person, Session, Token
from tests.conftest import PASSWORD


def test_joining_logs_in_and_leads_on(browser):
    ada = browser()
    fields = {"username": "ada", "email": "ada@example.org", "password": PASSWORD, "agree": "yes"}
    answer = ada.submit("/register", page="/register", next="/tasks/nli/create", **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks/nli/create")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    assert "ada@example.org" in ada.get("/settings").text


def test_a_form_with_errors_keeps_what_was_typed_but_never_the_password(browser):
    answer = browser().submit("/register", page="/register", username="a", email="ada@example.org", password="horses")
    assert answer.status_code == 422
    assert 'value="ada@example.org"' in answer.text
    assert "3 to 40 letters" in answer.text
    assert "Accept the terms" in answer.text
    assert "horses" not in answer.text


def test_a_taken_name_is_said_beside_the_field(browser):
    browser().join("ada")
    answer = browser().join("Ada")
    assert answer.status_code == 409
    assert "This name is taken." in answer.text


def test_what_people_type_is_shown_as_text(browser):
    answer = browser().log_in("<script>alert(1)</script>", "nonsense")
    assert answer.status_code == 401
    assert "&lt;script&gt;" in answer.text
    assert "<script>alert" not in answer.text


def test_logging_in_gives_a_new_cookie_and_ends_the_old_one(browser, database):
    ada = browser()
    ada.join("ada")
    first = ada.client.cookies["dynabench_session"]
    assert ada.log_in("ada").status_code == 303
    assert ada.client.cookies["dynabench_session"] != first
    assert len(database.read(lambda session: session.scalars(select(Session)).all())) == 1


def test_logging_out_ends_the_session_on_the_server(browser):
    ada = browser()
    ada.join("ada")
    cookie = ada.client.cookies["dynabench_session"]
    assert ada.submit("/logout", page="/settings").status_code == 303
    ada.client.cookies.set("dynabench_session", cookie)
    assert ada.get("/settings").status_code == 303


def test_a_page_for_members_leads_through_the_login_and_back(browser):
    answer = browser().get("/settings?tab=tokens")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/settings%3Ftab%3Dtokens")


def test_a_fragment_for_members_makes_the_browser_go_to_the_login(browser):
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/tasks/nli/create?x=1"}
    answer = browser().get("/settings", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["hx-redirect"] == "/login?next=/tasks/nli/create%3Fx%3D1"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "",
        "/\t/evil.example", "/a\r\nSet-Cookie: x=1", "evil.example", "///evil.example", "/ä",
    ],
)  # fmt: skip
def test_the_login_leads_to_no_other_site(address):
    assert safe_next(address) == "/"


@pytest.mark.parametrize("address", ["/", "/tasks/nli/create", "/tasks/nli?x=1&y=//z#part"])
def test_the_login_leads_back_to_any_page_of_this_site(address):
    assert safe_next(address) == address


def test_a_session_ends_after_its_time(browser, database):
    ada = browser()
    ada.join("ada")
    database.write(lambda session: session.execute(update(Session).values(expires_at=now())))
    assert ada.get("/settings").status_code == 303


def test_a_new_password_logs_out_every_other_browser(browser):
    here, present = browser(), browser()
    here.join("ada")
    present.log_in("ada")
    answer = here.submit("/settings/password", page="/settings", current=PASSWORD, password="four random words here")
    assert answer.status_code == 303
    assert here.get("/settings").status_code == 200
    assert present.get("/settings").status_code == 303
    assert browser().log_in("ada").status_code == 401
    assert browser().log_in("ada", "four random words here").status_code == 303


@pytest.mark.parametrize(
    ("current", "password", "says"),
    [("wrong password", "four random words here", "Wrong password."), (PASSWORD, "short", "10 to 200")],
)
def test_a_password_is_not_changed_without_the_old_one_and_a_good_new_one(browser, current, password, says):
    ada = browser()
    ada.join("ada")
    answer = ada.submit("/settings/password", page="/settings", current=current, password=password)
    assert answer.status_code == 422
    assert says in answer.text
    assert browser().log_in("ada").status_code == 303


def test_a_token_is_shown_once_and_works(browser, client):
    ada = browser()
    ada.join("ada")
    answer = ada.submit("/settings/tokens", page="/settings", name="laptop", scopes=["read"])
    secret = next(
        word
        for word in answer.text.replace("<", " ").replace(">", " ").split()
        if len(word) > 40 and word.startswith("dyna_")
    )
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).json()["username"] == "ada"
    again = ada.get("/settings/tokens").text
    assert "laptop" in again
    assert secret not in again


def test_a_token_is_revoked_on_the_page(browser, database):
    ada = browser()
    ada.join("ada")
    ada.submit("/settings/tokens", page="/settings", name="laptop", scopes=["read"])
    token = database.read(lambda session: session.scalars(select(Token)).one())
    assert ada.submit(f"/settings/tokens/{token.id}/revoke", page="/settings").status_code == 303
    assert "laptop" not in ada.get("/settings/tokens").text


def test_a_pseudonym_is_saved_or_its_error_shown(browser):
    ada = browser()
    ada.join("ada")
    assert ada.submit("/settings/profile", page="/settings", pseudonym="the countess").status_code == 303
    assert 'value="the countess"' in ada.get("/settings").text
    wrong = ada.submit("/settings/profile", page="/settings", pseudonym="<b>")
    assert wrong.status_code == 422
    assert "&lt;b&gt;" in wrong.text


def test_a_deleted_account_leaves_no_name_address_or_password(browser, database, client):
    ada = browser()
    ada.join("ada")
    ada.submit("/settings/tokens", page="/settings", name="laptop", scopes=["read"])
    refused = ada.submit("/settings/delete", page="/settings", name="eve", password=PASSWORD)
    assert refused.status_code == 422
    answer = ada.submit("/settings/delete", page="/settings", name="ada", password=PASSWORD)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert ada.get("/settings").status_code == 303
    assert browser().log_in("ada").status_code == 401
    row = database.read(lambda session: session.scalars(select(Person)).one())
    assert "ada" not in f"{row.username} {row.email} {row.pseudonym} {row.password_hash}"
    assert row.deleted_at is not None
    assert database.read(lambda session: session.scalars(select(Token)).all()) == []
    assert database.read(lambda session: session.scalars(select(Act.kind)).all()) == ["account.delete"]
    assert browser().join("ada").status_code == 303  # the name is free again


def test_a_deleted_account_needs_the_password_too(browser):
    ada = browser()
    ada.join("ada")
    assert ada.submit("/settings/delete", page="/settings", name="ada", password="guess guess").status_code == 422
    assert ada.get("/settings").status_code == 200


def test_a_hash_of_old_is_replaced_when_its_owner_logs_in(browser, database, settings):
    browser().join("ada")
    before = database.read(service.find_account, "ada").password_hash
    settings.password_cost = 2
    assert browser().log_in("ada").status_code == 303
    after = database.read(service.find_account, "ada").password_hash
    assert before != after
    assert "t=2" in after
    assert browser().log_in("ada").status_code == 303
