"""Rights of tokens, and the people who make them."""

import pytest

from dynabench.people.accounts.tables import SCOPES
from tests.conftest import PASSWORD


def make(client, **body):
    return client.post("/api/v1/tokens", json={"username": "ada", "password": PASSWORD} | body)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_a_token_may_do_all_but_change_the_account_where_nothing_else_is_said(client, person):
    person("ada")
    document = make(client).json()
    assert document["scopes"] == ["read", "annotate", "manage"]
    assert client.get("/api/v1/me", headers=bearer(document["token"])).status_code == 200
    refused = client.patch("/api/v1/me", json={"pseudonym": "x y z"}, headers=bearer(document["token"]))
    assert refused.status_code == 403
    assert refused.json()["scope"] == "account"
    assert "“account”" in refused.json()["detail"]


@pytest.mark.parametrize("scopes", [[], ["read", "everything"], "read"])
def test_scopes_that_do_not_exist_are_refused(client, person, scopes):
    person("ada")
    answer = make(client, scopes=scopes)
    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == ["scopes"]


def test_a_token_makes_tokens_with_the_scope_account_and_never_beyond_itself(client, person):
    person("ada")
    both = make(client, scopes=["account", "read"]).json()["token"]
    response = client.post("/api/v1/tokens", json={"scopes": ["read"]}, headers=bearer(both))
    assert response.status_code == 201
    beyond = client.post("/api/v1/tokens", json={"scopes": ["read", "manage"]}, headers=bearer(both))
    assert beyond.status_code == 422
    assert "manage" in beyond.json()["fields"]["scopes"]
    narrow = client.post("/api/v1/tokens", json={"scopes": ["read"]}, headers=bearer(response.json()["token"]))
    assert (narrow.status_code, narrow.json()["scope"]) == (403, "account")


def test_without_a_token_name_and_password_are_asked_for(client):
    answer = client.post("/api/v1/tokens", json={"name": "x"})
    assert answer.status_code == 422
    assert set(answer.json()["fields"]) == {"username", "password"}


def test_lists_show_what_tokens_may_do(client, person, browser):
    ada = person("ada")
    make(client, name="reader", scopes=["read"])
    items = ada.get("/api/v1/tokens").json()["items"]
    assert [(item["name"], item["scopes"]) for item in items] == [("reader", ["read"]), ("API", list(SCOPES))]
    page = browser()
    page.log_in("ada")
    assert "read, annotate, manage, account" in page.get("/settings/tokens").text


def test_a_form_without_any_scope_is_refused_and_keeps_the_name(browser):
    ada = browser()
    ada.join("ada")
    answer = ada.submit("/settings/tokens", page="/settings", name="laptop")
    assert answer.status_code == 422
    assert "Choose from" in answer.text
    assert 'value="laptop"' in answer.text


def test_a_password_is_changed_by_a_program_that_may(client, person, browser):
    ada = person("ada")
    page = browser()
    page.log_in("ada")
    wrong = ada.post("/api/v1/me/password", json={"current": "nonsense", "password": "four random words here"})
    assert list(wrong.json()["fields"]) == ["current"]
    weak = ada.post("/api/v1/me/password", json={"current": PASSWORD, "password": "ada"})
    assert list(weak.json()["fields"]) == ["password"]
    done = ada.post("/api/v1/me/password", json={"current": PASSWORD, "password": "four random words here"})
    assert done.status_code == 204
    assert page.get("/settings").status_code == 303, "browsers are logged out"
    assert ada.get("/api/v1/me").status_code == 200, "tokens go on working"
    assert make(client, password="four random words here").status_code == 201
