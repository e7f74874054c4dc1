"""Visibility of a model, and the people who may change it."""

import pytest
from sqlalchemy import select

from dynabench.people.accounts.tables import Act, Person
from tests.registry.conftest import PAIR

MODELS = "/api/v1/models"


def sees(caller, name="nli-b"):
    """Return true if this caller sees the model: on the list and on every route of its own, or on none."""
    listed = name in [item["name"] for item in caller.get(MODELS).json()["items"]]
    view = caller.get(f"{MODELS}/{name}").status_code
    request = caller.post(f"{MODELS}/{name}/ask", json={"inputs": PAIR}).status_code
    explained = caller.post(f"{MODELS}/{name}/attributions", json={"inputs": PAIR}).status_code
    assert {view, request, explained} == ({200} if listed else {404})
    return listed


@pytest.mark.parametrize(
    ("visibility", "visitors", "members", "with_a_role"),
    [("public", True, True, True), ("task", False, False, True), ("private", False, False, False)],
)
def test_a_model_is_there_for_those_who_may_see_it_alone(
    client, owner, person, seated, listing, visibility, visitors, members, with_a_role
):
    assert listing("nli-b", visibility).status_code == 200
    assert sees(client) is visitors
    assert sees(person("ada")) is members
    assert sees(seated) is with_a_role
    assert sees(owner)


def test_a_model_without_an_entry_is_public(client, owner):
    assert sees(client)


def test_who_is_banned_from_the_task_does_not_see_its_models(owner, seated, listing):
    listing("nli-b", "task")
    assert sees(seated)
    assert owner.post("/api/v1/tasks/nli/bans", json={"person": seated.id, "reason": "Spam."}).status_code < 300
    assert not sees(seated)


def test_what_one_may_not_see_is_told_like_what_does_not_exist(client, owner, listing):
    listing("nli-b", "private")
    hidden, none = (client.get(f"{MODELS}/{name}") for name in ("nli-b", "nli-c"))
    assert hidden.json() | {"detail": ""} == none.json() | {"detail": ""}
    assert hidden.json()["detail"].replace("nli-b", "nli-c") == none.json()["detail"]


def test_keepers_see_and_change_what_they_keep(owner, person, listing):
    ada, bob = person("ada"), person("bob")
    listing("nli-b", "private", keeper="ada", note="waits for its paper")
    assert sees(ada)
    assert not sees(bob)
    changed = ada.patch(f"{MODELS}/nli-b", json={"visibility": "public"})
    assert changed.json() == {"name": "nli-b", "visibility": "public", "keeper": "ada", "note": "waits for its paper"}
    assert sees(bob)
    assert bob.patch(f"{MODELS}/nli-b", json={"visibility": "private"}).status_code == 403


def test_admins_alone_name_keepers(owner, person, listing):
    ada = person("ada")
    person("bob")
    listing("nli-b", "public", keeper="ada")
    refused = ada.patch(f"{MODELS}/nli-b", json={"visibility": "private", "keeper": "bob"})
    assert refused.status_code == 403
    assert owner.get(f"{MODELS}/nli-b").json()["visibility"] == "public", "a refused change changes nothing"
    assert list(listing("nli-b", "public", keeper="nobody-at-all").json()["fields"]) == ["keeper"]
    assert listing("nli-b", "public", keeper="").json()["keeper"] == ""


def test_a_change_is_in_the_audit_log_without_the_note(owner, listing, database):
    listing("nli-b", "private", note="secret plans")
    act = database.read(lambda session: session.scalars(select(Act).where(Act.kind == "model.listing")).one())
    assert act.subject == {"model": "nli-b", "visibility": "private", "was": "public", "person": None}
    assert act.person_id == owner.id
    assert act.task_id is None, "a task's log is read by its owners, who may not see the model"


def test_whoever_leaves_keeps_no_model(client, owner, person, listing, database):
    ada = person("ada")
    listing("nli-b", "private", keeper="ada")
    from tests.conftest import PASSWORD

    response = ada.post("/api/v1/me/deletion", json={"confirm": "ada", "password": PASSWORD})
    assert response.status_code < 300, response.text
    assert listing("nli-b", "private").json()["keeper"] == ""
    assert database.read(lambda session: session.get_one(Person, ada.id).deleted_at)


def test_a_token_needs_the_scope_to_manage(client, owner):
    token = owner.post("/api/v1/tokens", json={"scopes": ["read"]}).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    refused = client.patch(f"{MODELS}/nli-b", json={"visibility": "private"}, headers=headers)
    assert refused.status_code == 403
    assert client.post(f"{MODELS}/nli-b/ask", json={"inputs": PAIR}, headers=headers).status_code == 200
