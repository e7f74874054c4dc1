"""Examples of others are opened by choice alone, recorded before they are shown, and told in figures and exports."""

import random

import pytest
from sqlalchemy import select

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example
from dynabench.communities.inspiration import service
from dynabench.communities.inspiration.tables import Inspiration, InspirationMode
from dynabench.kit import errors
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.conftest import Browser
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def fool(caller, owner, word):
    """An example of a person that fools nli-a and is verified by the owner."""
    handout = draw(caller)
    text = f"{word} is so." if handout["goal"]["label"] == "contradiction" else f"{word} is not so."
    example = send(caller, written(handout, text)).json()["id"]
    voted = owner.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct", "as_owner": True})
    assert voted.status_code == 201, voted.text
    return example


@pytest.mark.slow
def test_nothing_is_shown_or_recorded_until_a_person_chooses_it(client, owner, ada, bob, database):
    fool(bob, owner, "Otter")
    writer = Browser(client)
    writer.log_in("ada")
    assert "Examples of others" not in writer.get("/tasks/nli/create").text, "no round is released yet"
    assert owner.client.request(
        "PUT", "/api/v1/tasks/nli/inspiration", json={"mode": "verified"}, headers=owner.headers
    ).status_code == 204  # fmt: skip
    page = writer.get("/tasks/nli/create").text
    assert "Open three examples" in page
    handout = database.read(lambda session: session.scalar(select(Handout.id).where(Handout.person_id == ada.id)))
    assert database.read(lambda session: session.scalars(select(Inspiration)).all()) == []
    address = f"/handouts/{handout}/inspiration"
    opened = writer.submit(address, page="/tasks/nli/create")
    assert "Otter" in opened.text
    assert "Back to your example" in opened.text, "a whole page without scripts"
    part = writer.submit(address, page="/tasks/nli/create", htmx=True)
    assert "<html" not in part.text
    assert "no further examples" in part.text, "none is shown twice"
    rows = database.read(lambda session: session.scalars(select(Inspiration)).all())
    assert [row.handout_id for row in rows] == [handout]
    assert bob.post(f"/api/v1{address}").status_code == 404, "a hand-out of another person"


def test_what_is_written_after_exposure_is_told_in_figures_and_exports(client, owner, ada, bob):
    fool(bob, owner, "Otter")
    owner.client.request(
        "PUT", "/api/v1/tasks/nli/inspiration", json={"mode": "verified"}, headers=owner.headers
    )  # fmt: skip
    handout = draw(ada)
    before = send(ada, written(handout, "It might be anything.")).json()["uid"]
    opened = ada.post(f"/api/v1/handouts/{handout['handout']}/inspiration").json()
    assert [item["input"]["hypothesis"][:5] for item in opened["items"]] == ["Otter"]
    after = send(ada, written(handout, "Something else might be.")).json()["uid"]
    figures = owner.get("/api/v1/tasks/nli/rounds/1/inspiration").json()["items"]
    assert [(line["inspired"], line["examples"]) for line in figures] == [(False, 2), (True, 1)]
    chief = Browser(client)
    chief.log_in("root")
    sheet = chief.get("/tasks/nli/manage/rounds/1/inspiration.csv").text
    assert after in sheet
    assert before not in sheet
    assert "after examples of others" in chief.get("/tasks/nli/manage/inspiration").text
    rows = owner.get("/api/v1/tasks/nli/export", params={"format": "jsonl"}).text.splitlines()
    flags = {uid: f'"inspired":{str(uid == after).lower()}' for uid in (before, after)}
    assert all(any(uid in row and flag in row for row in rows) for uid, flag in flags.items()), rows[:1]
    table = owner.get("/api/v1/tasks/nli/export", params={"format": "csv"}).text
    assert "condition.inspired" in table.splitlines()[0]


@pytest.mark.parametrize("state", ["open", "released"])
def test_which_examples_are_opened(database, state):
    played = World(database, votes=1, cap=1)
    author, reader = played.person(), played.person()
    good, tagged = played.example(author), played.example(author, tag="rain")
    own, refuted, failed = played.example(reader), played.example(author), played.example(author, fooled=False)
    gone = played.example(author)
    for example in (good, tagged, own, gone):
        played.vote(played.owner, example, "correct", owner=True)
    played.vote(played.owner, refuted, "incorrect", owner=True)
    played.retract(gone)
    played.state(state)

    def eligible(mode, tag=""):
        statement = service._candidates("checks", mode, reader.id, tag)
        return {row.id for row in database.read(lambda session: session.scalars(statement).all())}

    assert eligible(InspirationMode.VERIFIED) == {good, tagged}
    assert eligible(InspirationMode.RELEASED) == ({good, tagged} if state == "released" else set())
    assert eligible(InspirationMode.VERIFIED, "rain") == {tagged}
    assert failed not in eligible(InspirationMode.VERIFIED)
    assert database.read(service.tag_choices, "checks", InspirationMode.VERIFIED) == ["rain"]


def test_owners_choose_and_a_closed_round_opens_nothing(database):
    played = World(database, votes=1, cap=1)
    author, reader = played.person(), played.person()
    played.vote(played.owner, played.example(author), "correct", owner=True)
    mine = played.example(reader)

    def open_now(session):
        handout = session.get_one(Example, mine).handout_id
        person = session.get_one(Person, reader.id)
        return service.open_examples(session, person, handout, "", random.Random(1)).opened

    database.write(service.choose_mode, None, "checks", InspirationMode.OFF)
    with pytest.raises(errors.Conflict):
        database.write(open_now)
    database.write(service.choose_mode, None, "checks", InspirationMode.VERIFIED)
    assert database.write(open_now) == 1
    played.state("closed")
    with pytest.raises(errors.Conflict):
        database.write(open_now)
    lines = database.read(lambda session: service.read_exposure(session, session.get_one(Round, played.round_id)))
    assert [(line.inspired, line.counts.examples) for line in lines] == [(False, 2)], "opened after it was written"
