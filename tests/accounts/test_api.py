"""Accounts and tokens as programs see them."""

import pytest

from tests.conftest import PASSWORD

BODY = {"username": "ada", "email": "ada@example.org", "password": PASSWORD}


def test_registering_gives_the_id_and_the_name(client):
    answer = client.post("/api/v1/accounts", json=BODY)
    assert answer.status_code == 201
    assert answer.json() == {"id": answer.json()["id"], "username": "ada"}


def test_a_token_opens_what_belongs_to_its_person(client, person):
    ada = person("ada")
    me = ada.get("/api/v1/me").json()
    assert (me["username"], me["email"], me["pseudonym"], me["admin"]) == ("ada", "ada@example.org", "", False)


def test_the_first_person_is_no_administrator(person):
    assert person("first").get("/api/v1/me").json()["admin"] is False


@pytest.mark.parametrize("registered", [{"username": "ADA"}, {"email": "Ada@Example.org"}])
def test_names_and_addresses_are_taken_whatever_their_case(client, registered):
    client.post("/api/v1/accounts", json=BODY)
    answer = client.post(
        "/api/v1/accounts", json={"username": "eve", "email": "eve@example.org", "password": PASSWORD} | registered
    )
    assert answer.status_code == 409
    assert set(answer.json()["fields"]) == set(registered)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("username", "ab"),
        ("username", "a" * 41),
        ("username", "a b"),
        ("username", "дaша"),
        ("username", "deleted-7"),
        ("username", 7),
        ("username", None),
        ("email", "nobody"),
        ("email", "a@b"),
        ("email", f"{'a' * 300}@example.org"),
        ("password", "short"),
        ("password", "x" * 201),
        ("password", "aaaaaaaaaaaa"),
        ("password", "1234567890"),
        ("password", "PASSWORD123"),
        ("agree", False),
    ],
)
def test_a_bad_field_is_named(client, field, value):
    answer = client.post("/api/v1/accounts", json=BODY | {field: value})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert list(answer.json()["fields"]) == [field]


def test_the_username_is_no_password(client):
    answer = client.post("/api/v1/accounts", json=BODY | {"username": "adalovelace", "password": "AdaLovelace"})
    assert "password" in answer.json()["fields"]


def test_nobody_makes_themselves_an_administrator(client):
    answer = client.post("/api/v1/accounts", json=BODY | {"admin": True})
    assert answer.json()["fields"] == {"admin": "There is no such field."}


@pytest.mark.parametrize("name", ["ada", "ADA", " ada ", "ada@example.org"])
def test_a_token_is_had_by_name_or_address(client, name):
    client.post("/api/v1/accounts", json=BODY)
    assert client.post("/api/v1/tokens", json={"username": name, "password": PASSWORD}).status_code == 201


@pytest.mark.parametrize("name", ["ada", "nobody"])
def test_wrong_passwords_and_unknown_names_read_the_same(client, name):
    client.post("/api/v1/accounts", json=BODY)
    answer = client.post("/api/v1/tokens", json={"username": name, "password": "something wrong"})
    assert (answer.status_code, answer.json()["detail"]) == (401, "Wrong username or password.")


def test_tokens_are_listed_without_their_secret_and_revoked(client, person):
    ada = person("ada")
    other = client.post("/api/v1/tokens", json={"username": "ada", "password": PASSWORD, "name": "laptop"}).json()
    listed = ada.get("/api/v1/tokens").json()
    assert [item["name"] for item in listed["items"]] == ["laptop", "API"]
    assert other["token"] not in str(listed)
    assert other["token"].startswith(listed["items"][0]["prefix"])
    assert ada.delete(f"/api/v1/tokens/{other['id']}").status_code == 204
    assert ada.delete(f"/api/v1/tokens/{other['id']}").status_code == 404
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {other['token']}"}).status_code == 401


def test_nobody_revokes_the_token_of_somebody_else(person):
    ada, eve = person("ada"), person("eve")
    token = ada.get("/api/v1/tokens").json()["items"][0]["id"]
    assert eve.delete(f"/api/v1/tokens/{token}").status_code == 404
    assert ada.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize("id", ["0", "-1", "x", str(2**63), str(2**64)])
def test_a_number_that_no_row_has_is_refused(person, id):
    assert person("ada").delete(f"/api/v1/tokens/{id}").status_code in (404, 422)


def test_a_token_remembers_that_it_was_used(person):
    ada = person("ada")
    ada.get("/api/v1/me")
    assert ada.get("/api/v1/tokens").json()["items"][0]["used_at"] is not None


def test_a_pseudonym_is_chosen_and_given_up(person):
    ada = person("ada")
    assert ada.patch("/api/v1/me", json={"pseudonym": " the  countess "}).json()["pseudonym"] == "the countess"
    assert ada.patch("/api/v1/me", json={}).json()["pseudonym"] == "the countess"
    assert ada.patch("/api/v1/me", json={"pseudonym": ""}).json()["pseudonym"] == ""


@pytest.mark.parametrize("name", ["ada", "THE COUNTESS"])
def test_nobody_takes_the_name_of_somebody_else(client, person, name):
    person("ada").patch("/api/v1/me", json={"pseudonym": "the countess"})
    answer = person("eve").patch("/api/v1/me", json={"pseudonym": name})
    assert answer.status_code == 409
    assert "pseudonym" in answer.json()["fields"]


def test_a_pseudonym_is_no_username_of_newcomers(client, person):
    person("ada").patch("/api/v1/me", json={"pseudonym": "countess"})
    answer = client.post("/api/v1/accounts", json=BODY | {"username": "Countess", "email": "c@example.org"})
    assert answer.json()["fields"] == {"username": "This name is taken."}
