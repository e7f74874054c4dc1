"""Invitations at the API and as pages."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.security import digest
from dynabench.people.accounts.tables import Person
from dynabench.rounds import invitations
from dynabench.rounds.tables import Invitation
from tests.collection import conftest as world
from tests.rounds.inviting import accept, invite, make, role_of

host, rules, client = world.host, world.rules, world.client
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def test_whoever_accepts_an_invitation_has_its_role(owner, ada, database):
    created = invite(owner, role="expert", note="for Ada", uses=1, days=7)
    assert created["link"] == f"/join/{created['secret']}"
    assert accept(ada, created).json() == {"task": "nli", "role": "expert", "changed": True}
    assert role_of(database, ada) == "expert"


def test_the_secret_is_stored_as_its_digest_alone(owner, database):
    created = invite(owner)
    row = database.read(lambda session: session.scalars(select(Invitation)).one())
    assert row.digest == digest(created["secret"])
    assert created["secret"] not in owner.get("/api/v1/tasks/nli/invitations").text


def test_a_link_works_as_often_as_it_says(owner, ada, bob, person):
    created = invite(owner, uses=2)
    assert accept(ada, created).status_code == 200
    assert accept(ada, created).json()["changed"] is False, "the second time uses nothing up"
    assert accept(bob, created).status_code == 200
    assert accept(person("eve"), created).status_code == 404


def test_an_invitation_never_makes_anybody_less(owner, ada, database):
    make(owner, ada, "moderator")
    created = invite(owner, role="annotator")
    assert accept(ada, created).json() == {"task": "nli", "role": "moderator", "changed": False}
    assert role_of(database, ada) == "moderator"
    assert owner.get("/api/v1/tasks/nli/invitations").json()["items"][0]["uses"] == 0


def test_an_invitation_makes_somebody_more(owner, ada, database):
    make(owner, ada, "annotator")
    accept(ada, invite(owner, role="expert"))
    assert role_of(database, ada) == "expert"


@pytest.mark.parametrize("end", ["revoked", "expired", "unknown"])
def test_a_link_that_ended_reads_the_same_as_one_that_never_was(owner, ada, database, end):
    created = invite(owner)
    if end == "revoked":
        assert owner.delete(f"/api/v1/tasks/nli/invitations/{created['id']}").status_code == 204
    elif end == "expired":
        past = now() - timedelta(seconds=1)
        database.write(lambda session: session.execute(update(Invitation).values(expires_at=past)))
    else:
        created["secret"] = "x" * 43
    answer = accept(ada, created)
    assert (answer.status_code, answer.json()["detail"]) == (404, invitations.GONE)
    assert role_of(database, ada) is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"uses": 0}, "uses"),
        ({"uses": 1001}, "uses"),
        ({"role": "owner", "uses": 2}, "uses"),
        ({"role": "moderator", "uses": 2}, "uses"),
        ({"days": 0}, "days"),
        ({"days": 91}, "days"),
        ({"note": "x" * 101}, "note"),
        ({"role": "king"}, "role"),
    ],
)
def test_what_cannot_be_invited_is_said_beside_its_field(owner, body, field):
    answer = owner.post("/api/v1/tasks/nli/invitations", json={"role": "annotator"} | body)
    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == [field]


def test_a_task_has_a_hundred_open_links_at_most(owner, database, monkeypatch):
    monkeypatch.setattr(invitations, "MOST_OPEN", 2)
    first = invite(owner)
    invite(owner)
    refused = owner.post("/api/v1/tasks/nli/invitations", json={"role": "annotator"})
    assert refused.status_code == 409
    owner.delete(f"/api/v1/tasks/nli/invitations/{first['id']}")
    invite(owner)


def test_two_who_follow_the_last_use_at_once_make_one_member(owner, ada, bob, database):
    created = invite(owner, uses=1)
    both = threading.Barrier(2)
    result = []

    def take(caller):
        def run(session):
            return invitations.accept_invitation(session, session.get_one(Person, caller.id), created["secret"])

        both.wait()
        try:
            result.append(database.write(run))
        except errors.NotFound:
            result.append(None)

    threads = [threading.Thread(target=take, args=(caller,)) for caller in (ada, bob)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(offer is None for offer in result) == [False, True]


def test_a_visitor_joins_through_the_login_and_comes_back(owner, browser):
    link = invite(owner)["link"]
    eve = browser()
    page = eve.get(link)
    assert page.status_code == 200
    assert f"/register?next={link}" in page.text
    assert eve.submit(link, page="/login").headers["location"].startswith("/login?next=")
    eve.join("eve")
    assert eve.submit(link, page=link).headers["location"] == "/tasks/nli"
