"""The hall of fame: people with public profiles alone, ranked by verified errors, not by volume or luck."""

import pytest

from dynabench.people.accounts.tables import Person
from dynabench.recognition.hall import service
from dynabench.recognition.hall.service import HallOrder, HallPeriod, HallQuery
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def play(played, verified, failed, public=True):
    author = played.person()
    played.db.write(lambda session: setattr(session.get_one(Person, author.id), "public_profile", public))
    for number in range(verified + failed):
        example = played.example(author, fooled=number < verified)
        if number < verified:
            played.vote(played.owner, example, "correct", owner=True)
    return author.username


def ranks(played, **query):
    page = played.db.read(service.read_hall, HallQuery(**query))
    return [(row.rank, row.name) for row in page.rows]


@pytest.mark.release
def test_quality_ranks_and_neither_volume_nor_luck(database):
    played = World(database, votes=1, cap=1)
    busy, careful, lucky = play(played, 6, 34), play(played, 6, 14), play(played, 3, 0)
    volume = play(played, 0, 60)
    private = play(played, 15, 15, public=False)
    listed = ranks(played)
    assert listed[:2] == [(1, careful), (2, busy)]
    assert set(listed[2:]) == {(None, lucky), (None, volume)}
    assert private not in str(listed)
    assert ranks(played, order=HallOrder.VMER)[0] == (1, careful)
    assert ranks(played, period=HallPeriod.WEEK, task_id="checks")[0] == (1, careful)
    assert ranks(played, task_id="other") == []
    assert ranks(played, text=busy) == [(2, busy)], "a search keeps the rank"


@pytest.mark.slow
def test_equal_people_share_a_rank_and_pages_go_on(database):
    played = World(database, votes=1, cap=1)
    first, second, third = play(played, 5, 16), play(played, 5, 16), play(played, 2, 18)
    assert ranks(played) == [(1, first), (1, second), (3, third)]
    page = played.db.read(service.read_hall, HallQuery(), 0, 2)
    assert (page.count, page.next) == (3, 2)
    page = played.db.read(service.read_hall, HallQuery(), 2, 2)
    assert ([row.name for row in page.rows], page.next) == ([third], None)


def test_people_are_found_by_their_public_name_while_their_profile_is_public(ada, bob, client):
    ada.patch("/api/v1/me", json={"pseudonym": "the countess", "public_profile": True})
    send(ada, written(draw(ada), "The otter is not asleep."))

    def groups(text):
        return {
            group["kind"]: group["hits"] for group in client.get("/api/v1/search", params={"q": text}).json()["groups"]
        }

    [hit] = groups("COUNT")["people"]
    assert (hit["title"], hit["address"]) == ("the countess", "/people/the%20countess")
    assert "people" not in groups("bob")
    assert "people" not in groups("ada"), "the username of a person with a pseudonym"
    assert "people" not in groups("%")
    assert [row["name"] for row in client.get("/api/v1/people").json()["items"]] == ["the countess"]
    assert "the countess" in client.get("/people.csv").text
    assert "the countess" in client.get("/people?period=week&task=nli&q=countess").text
    ada.patch("/api/v1/me", json={"public_profile": False})
    assert "people" not in groups("countess")
    assert client.get("/api/v1/people").json()["items"] == []
    assert "Nobody here yet" in client.get("/people").text
    assert "Nobody found" in client.get("/people?q=nobody").text


def test_hostile_questions_are_refused(client):
    for query in ("period=year", "after=-1", "after=9999999999999", "q=" + "x" * 61, "order=name"):
        assert client.get(f"/people?{query}").status_code == 422, query
        assert client.get(f"/api/v1/people?{query}").status_code == 422, query
