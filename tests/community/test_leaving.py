"""Taking back what one wrote, and leaving."""

import threading

import pytest
from sqlalchemy import select, text

from dynabench.collection.tables import Example
from dynabench.collection.withdrawal import withdraw, written
from dynabench.datasets import library
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.tables import Dataset
from dynabench.kit import errors
from dynabench.kit.db import Base
from dynabench.people.accounts.tables import Act, Person
from tests import boards
from tests.collection import conftest as world
from tests.collection.conftest import draw, send
from tests.collection.conftest import written as draft
from tests.conftest import PASSWORD
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


@pytest.fixture
def played(database):
    return World(database)


@pytest.mark.slow
def test_everything_that_is_not_released_is_taken_back_and_counted_out(played):
    ada, bob = played.person(), played.person()
    for _ in range(3):
        played.example(ada)
    stored = played.example(bob)
    assert played.db.write(withdraw, ada) == 3
    assert played.db.write(withdraw, ada) == 0, "twice changes nothing"
    assert played.standing(stored).retracted is False
    assert played.next(bob) is None, "nothing of it is checked any more"
    assert played.projections() == played.rebuilt()


def test_released_rounds_stay(played):
    ada = played.person()
    played.example(ada)
    played.state("released")
    assert played.db.write(withdraw, ada) == 0
    [result] = played.db.read(written, ada.id)
    assert (result.examples, result.retracted, result.released) == (1, 0, True)


def test_a_task_or_a_round_of_it_can_be_taken_back_alone(played):
    ada = played.person()
    played.example(ada)
    assert played.db.write(withdraw, ada, "other") == 0
    assert played.db.write(withdraw, ada, played.task, 2) == 0
    assert played.db.write(withdraw, ada, played.task, 1) == 1


@pytest.mark.slow
def test_votes_that_come_while_examples_are_taken_back_count_before_or_not_at_all(played):
    ada, voters = played.person(), [played.person() for _ in range(4)]
    ids = [played.example(ada) for _ in range(6)]
    start, problems = threading.Barrier(len(voters) + 1), []

    def vote(voter):
        start.wait()
        for example in ids:
            try:
                played.vote(voter, example, "correct")
            except errors.Conflict:
                pass
            except Exception as problem:
                problems.append(problem)

    def take_back():
        start.wait()
        played.db.write(withdraw, ada)

    threads = [threading.Thread(target=vote, args=(voter,)) for voter in voters]
    threads.append(threading.Thread(target=take_back))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert all(played.standing(example).retracted for example in ids)
    assert played.projections() == played.rebuilt()


def test_the_api_counts_and_takes_back_once_the_name_is_typed(owner, ada):
    send(ada, draft(draw(ada), "Nobody is there."))
    [item] = ada.get("/api/v1/me/examples").json()["items"]
    assert item == {"task": "nli", "round": 1, "state": "open", "examples": 1, "retracted": 0}
    assert ada.post("/api/v1/me/withdrawal", json={"confirm": "eve"}).status_code == 422
    assert ada.post("/api/v1/me/withdrawal", json={"confirm": "ada", "round": 1}).status_code == 422
    answer = ada.post("/api/v1/me/withdrawal", json={"confirm": "ada", "task": "nli", "round": 1})
    assert answer.json() == {"withdrawn": 1}
    [item] = ada.get("/api/v1/me/examples").json()["items"]
    assert (item["examples"], item["retracted"]) == (0, 1)


def test_the_page_shows_counts_and_asks_for_the_name(owner, ada, browser):
    page = browser()
    page.log_in("ada")
    assert "No examples yet" in page.get("/settings/examples").text
    send(ada, draft(draw(ada), "Nobody is there."))
    assert "Natural language inference, round 1" in page.get("/settings/examples").text
    refused = page.submit("/settings/examples", page="/settings", of="nli/1", confirm="eve")
    assert refused.status_code == 422
    assert "Type your username exactly" in refused.text
    assert (
        "1 example was withdrawn."
        in page.submit("/settings/examples", page="/settings", of="nli/1", confirm="ada").text
    )
    assert "no examples that can be withdrawn" in page.get("/settings/examples").text


def identified(session, person_id):
    """Rows of any table that the schema says belong to a person and go with them."""
    result = []
    for table in Base.metadata.tables.values():
        for key in table.foreign_keys:
            if key.column.table.name == "people" and key.ondelete in ("CASCADE", "SET NULL"):
                count = session.execute(
                    text(f"SELECT count(*) FROM {table.name} WHERE {key.parent.name} = :id"),
                    {"id": person_id},
                ).scalar_one()
                if count:
                    result.append(f"{table.name}.{key.parent.name}")
    return result


@pytest.mark.slow
def test_nothing_that_identifies_somebody_stays_when_they_leave(owner, ada, database, client):
    ada.patch("/api/v1/me", json={"pseudonym": "the countess"})
    send(ada, draft(draw(ada), "Nobody is there."))
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "owner"})
    secret = ada.post("/api/v1/tasks/nli/invitations", json={"role": "expert"}).json()["secret"]
    owner.post("/api/v1/tasks/nli/roles", json={"username": "root", "role": "owner"})
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "annotator"})
    owner.post("/api/v1/tasks/nli/warnings", json={"person": ada.id, "text": "Be kind."})
    owner.post("/api/v1/tasks/nli/bans", json={"person": ada.id, "reason": "Spam."})
    body = {"confirm": "ada", "password": PASSWORD}
    assert ada.post("/api/v1/me/deletion", json=body | {"password": "nonsense here"}).status_code == 422
    assert ada.post("/api/v1/me/deletion", json=body | {"confirm": "bob"}).status_code == 422
    assert ada.post("/api/v1/me/deletion", json=body).status_code == 204
    assert ada.get("/api/v1/me").status_code == 401
    assert database.read(identified, ada.id) == []
    row = database.read(lambda session: session.get_one(Person, ada.id))
    assert "ada" not in f"{row.username} {row.email} {row.pseudonym} {row.password_hash}"
    assert row.public_name == "a deleted account"
    assert client.get(f"/join/{secret}").status_code == 404, "links that they made end"
    board = client.get("/api/v1/tasks/nli/rounds/1/board").json()["items"]
    assert [item["name"] for item in board] == ["a deleted account"]
    example = database.read(lambda session: session.scalars(select(Example)).one())
    assert example.author_id == ada.id


def test_datasets_and_boards_of_somebody_who_left_stay_and_are_nobody_s(owner, ada, database, client):
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "owner"})
    created = database.write(
        lambda s: library.add_dataset(s, s.get_one(Person, ada.id), "nli", "films", DatasetSettings()).id
    )
    database.write(lambda s: library.draft_version(s, s.get_one(Person, ada.id), s.get_one(Dataset, created)))
    database.write(boards.furnish, "nli", [0.9, 0.6], ["first"], rows=40, person=ada.id)
    document = ada.post("/api/v1/tasks/nli/snapshots", json={"title": "As it is"}).json()
    fork = ada.post("/api/v1/tasks/nli/forks", json={"title": "Mine"}).json()
    before = client.get("/api/v1/tasks/nli/leaderboard").json()["rows"]
    assert ada.post("/api/v1/me/deletion", json={"confirm": "ada", "password": PASSWORD}).status_code == 204
    assert database.read(identified, ada.id) == []
    assert [item["name"] for item in owner.get("/api/v1/tasks/nli/datasets").json()["items"]] == ["films", "first"]
    for address in (f"snapshots/{document['slug']}", f"forks/{fork['slug']}"):
        answer = client.get(f"/api/v1/{address}")
        assert answer.status_code == 200, answer.text
        assert "ada" not in answer.text.replace("leaderboard", "")
    after = client.get("/api/v1/tasks/nli/leaderboard").json()["rows"]
    assert [(row["name"], row["score"]) for row in after] == [(row["name"], row["score"]) for row in before]


def test_every_link_to_a_person_says_what_becomes_of_it():
    """A new column that points to people must either go with them or belong to the anonymous ledger."""
    ledger = {
        "acts.person_id", "examples.author_id", "handouts.person_id", "standings.author_id", "tallies.person_id",
        "task_versions.created_by", "validations.person_id", "reservations.person_id",
        "skips.person_id", "jobs.person_id", "assignments.person_id", "conversations.person_id",
        "payments.person_id", "payouts.person_id", "competition_people.person_id",
        "control_decisions.person_id", "control_places.person_id", "control_answers.person_id",
        "writing_facts.person_id",
        "signals.person_id", "hub_repositories.owner_id",  # which are deleted
    }  # fmt: skip
    texts = {
        f"{table.name}.{key.parent.name}"
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table.name == "people" and key.ondelete not in ("CASCADE", "SET NULL")
    }
    assert texts <= ledger, f"say in `community.service.leave` what becomes of {texts - ledger}"


@pytest.mark.slow
def test_who_leaves_may_take_their_examples_along(owner, ada, bob, database, browser):
    send(ada, draft(draw(ada), "Nobody is there."))
    page = browser()
    page.log_in("ada")
    assert "Withdraw my 1 unreleased example" in page.get("/settings/delete").text
    answer = page.submit("/settings/delete", page="/settings", name="ada", password=PASSWORD, withdraw_examples="true")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    board = bob.get("/api/v1/tasks/nli/rounds/1/board").json()["items"]
    assert board == []
    acts = database.read(lambda session: session.scalars(select(Act.kind).order_by(Act.id)).all())
    assert acts[-2:] == ["examples.withdraw", "account.delete"]


def test_an_owner_may_leave_at_any_time(owner, ada, database):
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "owner"})
    assert ada.post("/api/v1/me/deletion", json={"confirm": "ada", "password": PASSWORD}).status_code == 204
    assert owner.get("/api/v1/tasks/nli/people").json()["items"] == []
