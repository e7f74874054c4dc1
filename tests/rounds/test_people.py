"""Roles, bans and warnings at the API."""

import threading

import pytest
from sqlalchemy import select

from dynabench.kit import errors
from dynabench.people.accounts.tables import Act, Person
from dynabench.rounds import people, service
from dynabench.tasks import shipped_tasks
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.rounds.inviting import accept, invite, make, role_of

host, rules, client = world.host, world.rules, world.client
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


# roles


def test_the_last_owner_is_not_removed_or_made_less(owner, ada, bob, database):
    make(owner, ada, "owner")
    for role in (None, "moderator"):
        answer = owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": role})
        assert answer.status_code == 409
        assert "last owner" in answer.json()["detail"]
    make(owner, bob, "owner")
    make(owner, ada, None)
    assert role_of(database, ada) is None


def test_two_owners_who_remove_each_other_leave_one(owner, ada, bob, database):
    make(owner, ada, "owner")
    make(owner, bob, "owner")
    both = threading.Barrier(2)
    refused = []

    def remove(name):
        both.wait()
        try:
            database.write(service.set_role, None, "nli", name, None)
        except errors.Conflict as problem:
            refused.append(problem)

    threads = [threading.Thread(target=remove, args=(name,)) for name in ("ada", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1


def test_people_are_listed_page_by_page_with_roles_and_bans(owner, ada, bob, person):
    make(owner, ada, "expert")
    owner.post("/api/v1/tasks/nli/bans", json={"person": bob.id, "reason": "Spam."})
    first = owner.get("/api/v1/tasks/nli/people", params={"limit": 1}).json()
    assert [(item["username"], item["role"], item["banned"]) for item in first["items"]] == [("ada", "expert", None)]
    second = owner.get("/api/v1/tasks/nli/people", params={"limit": 1, "after": first["next"]}).json()
    assert [(item["username"], item["role"], item["banned"]) for item in second["items"]] == [("bob", None, "Spam.")]
    assert second["next"] is None


def test_moderators_know_people_as_boards_do(owner, ada, bob):
    make(owner, bob, "moderator")
    make(owner, ada, "expert")
    ada.patch("/api/v1/me", json={"pseudonym": "the countess"})
    seen = bob.get("/api/v1/tasks/nli/people").json()["items"]
    assert {item["name"] for item in seen} == {"the countess", "bob"}
    assert {item["username"] for item in seen} == {""}


# bans and warnings


def test_the_banned_neither_write_nor_check_until_the_ban_is_lifted(owner, ada, bob, database):
    drawn = draw(ada)
    document = send(bob, written(draw(bob), "Nobody is there.")).json()
    assert owner.post("/api/v1/tasks/nli/bans", json={"person": ada.id, "reason": "Spam."}).status_code == 204
    refused = [
        ada.post("/api/v1/tasks/nli/contexts/next"),
        send(ada, written(drawn, "Nobody is there.")),
        ada.post("/api/v1/tasks/nli/validations/next"),
        ada.post(f"/api/v1/examples/{document['id']}/validations", json={"vote": "correct"}),
        ada.post(f"/api/v1/examples/{document['id']}/skip"),
    ]
    assert {answer.status_code for answer in refused} == {403}
    assert all("Spam." in answer.json()["detail"] for answer in refused)
    assert ada.post("/api/v1/tasks/sentiment/contexts/next").status_code == 200, "other tasks are not concerned"
    assert owner.delete(f"/api/v1/tasks/nli/bans/{ada.id}").status_code == 204
    assert send(ada, written(drawn, "Nobody is there.")).status_code == 201


def test_a_ban_closes_every_link(owner, ada):
    owner.post("/api/v1/tasks/nli/bans", json={"person": ada.id, "reason": "Spam."})
    assert accept(ada, invite(owner)).status_code == 403


def test_who_may_ban_whom(owner, ada, bob, person, database):
    olga, mo, other = person("olga"), person("moe"), person("mod")
    make(owner, olga, "owner")
    make(owner, mo, "moderator")
    make(owner, other, "moderator")

    def ban(actor, whom):
        return actor.post("/api/v1/tasks/nli/bans", json={"person": whom.id, "reason": "Spam."}).status_code

    assert ban(ada, bob) == 403
    assert ban(mo, bob) == 204
    assert ban(mo, other) == 403
    assert ban(mo, mo) == 403
    assert ban(mo, olga) == 403
    assert ban(olga, olga) == 403
    assert ban(mo, owner) == 403, "admins own every task"
    assert ban(olga, other) == 204
    assert role_of(database, other) is None, "a banned moderator moderates no more"
    assert mo.delete(f"/api/v1/tasks/nli/bans/{bob.id}").status_code == 204
    assert olga.post("/api/v1/tasks/nli/bans", json={"person": 10**9, "reason": "Spam."}).status_code == 404
    assert olga.post("/api/v1/tasks/nli/bans", json={"person": bob.id, "reason": " "}).status_code == 422


def test_what_is_done_to_people_is_in_the_audit_log(owner, ada, database):
    created = invite(owner)
    accept(ada, created)
    owner.post("/api/v1/tasks/nli/warnings", json={"person": ada.id, "text": "Be kind."})
    owner.post("/api/v1/tasks/nli/bans", json={"person": ada.id, "reason": "Spam."})
    owner.delete(f"/api/v1/tasks/nli/bans/{ada.id}")
    owner.delete(f"/api/v1/tasks/nli/invitations/{created['id']}")
    log = select(Act.kind).where(Act.task_id == "nli").order_by(Act.id)
    kinds = database.read(lambda session: session.scalars(log).all())
    assert kinds[-6:] == ["task.invite", "task.join", "task.warn", "task.ban", "task.lift", "task.uninvite"][-6:]


@pytest.mark.slow
def test_a_warning_is_shown_on_every_page_until_it_is_understood(owner, ada, browser):
    owner.post("/api/v1/tasks/nli/warnings", json={"person": ada.id, "text": "Be <b>kind</b>."})
    hers = browser()
    hers.log_in("ada")
    for page in ("/", "/settings", "/tasks/nli/create"):
        assert "says: Be &lt;b&gt;kind&lt;/b&gt;." in hers.get(page).text
    notice = ada.get("/api/v1/me/notices").json()["items"][0]
    assert notice["seen_at"] is None
    hers.client.headers["Referer"] = "http://testserver/tasks/nli/create?x=1"
    answer = hers.submit(f"/settings/notices/{notice['id']}/seen", page="/settings")
    assert answer.headers["location"] == "/tasks/nli/create?x=1"
    assert "says: Be" not in hers.get("/").text
    assert "says: Be" in hers.get("/inbox").text, "the inbox keeps what one was told"
    assert ada.get("/api/v1/me/notices").json()["items"][0]["seen_at"] is not None


def test_nobody_dismisses_the_notice_of_somebody_else(owner, ada, bob):
    owner.post("/api/v1/tasks/nli/warnings", json={"person": ada.id, "text": "Be kind."})
    notice = ada.get("/api/v1/me/notices").json()["items"][0]["id"]
    assert bob.post(f"/api/v1/me/notices/{notice}/seen").status_code == 404


# tasks for invited people


def test_a_task_for_invited_people_is_closed_to_others_until_they_accept(owner, ada, database, client):
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
    database.write(service.save_task, None, f"{source}\nannotators: invited\n")
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).status_code == 201
    refused = ada.post("/api/v1/tasks/nli/contexts/next")
    assert (refused.status_code, "invitation" in refused.json()["detail"]) == (403, True)
    assert client.post("/api/v1/tasks/nli/contexts/next").status_code == 401
    assert ada.post("/api/v1/tasks/nli/validations/next").status_code == 403
    accept(ada, invite(owner))
    assert send(ada, written(draw(ada), "Nobody is there.")).status_code == 201


def test_the_operator_may_ban_at_the_command_line(owner, ada, database):
    database.write(people.ban_person, None, "nli", ada.id, "Spam.")
    with pytest.raises(errors.Forbidden):
        database.read(lambda session: people.require_seat(session, session.get_one(Person, ada.id), "nli"))


def test_validators_check_and_write_nothing(owner, ada, bob, rules):
    owner.post("/api/v1/tasks/nli/roles", json={"username": "bob", "role": "validator"})
    drawn = draw(ada)
    text = "It is so." if drawn["goal"]["label"] == "contradiction" else "It is not so."  # fools the model
    example = send(ada, written(drawn, text)).json()["id"]
    assert bob.post("/api/v1/tasks/nli/contexts/next").status_code == 403
    refused = send(bob, written(draw(ada), "It is not so."))
    assert refused.status_code == 403
    assert "Your role in this task is to check examples" in refused.json()["detail"]
    assert bob.post("/api/v1/tasks/nli/validations/next").json()["example_id"] == example
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 201
