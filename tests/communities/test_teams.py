"""Teams are made, joined by link, led, left; their figures are those of the days in the team."""

import pytest

from dynabench.communities.teams import board, service
from dynabench.communities.teams.schemas import TeamIn
from dynabench.kit import errors
from dynabench.people.accounts.tables import Person
from dynabench.site.community.service import delete_own_account
from tests.collection import conftest as world
from tests.communities.test_competitions import make_team
from tests.conftest import Browser
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def test_a_team_is_joined_by_link_led_and_left(client, ada, bob):
    team = make_team(client, "Otters", ada, bob)
    address = f"/api/v1/teams/{team}"
    assert {member["name"] for member in bob.get(address).json()["people"]} == {"ada", "bob"}
    outside = client.get(address).json()["people"]
    assert [(member["name"], member["person"]) for member in outside] == [(None, None)] * 2, "private profiles"
    ada.patch("/api/v1/me", json={"public_profile": True})
    assert "ada" in client.get(f"/teams/{team}/members.csv").text
    assert bob.patch(address, json={"name": "Mine"}).status_code == 403
    assert bob.delete(f"{address}/members/{ada.id}").status_code == 403
    assert ada.post(f"{address}/captain", json={"person": bob.id}).status_code == 204
    assert bob.patch(address, json={"name": "Bob's otters", "thanked": True}).json()["thanked"] is True
    assert bob.delete(f"{address}/members/{bob.id}").status_code == 204
    assert ada.patch(address, json={"about": "**Wet**"}).status_code == 200, "the next captain"
    assert "<strong>Wet</strong>" in client.get(f"/teams/{team}").text
    assert ada.delete(f"{address}/members/{ada.id}").status_code == 204
    assert client.get(address).status_code == 404, "dissolved"
    assert make_team(client, "Bob's otters", bob) != team, "the name is free again"


def test_a_team_that_is_sent_twice_is_made_once(client, ada, bob):
    assert make_team(client, "Otters", ada) == make_team(client, "Otters", ada)
    assert bob.post("/api/v1/teams", json={"name": "otters"}).status_code == 409


def test_names_are_taken_once_and_old_links_end(client, ada, bob):
    team = make_team(client, "Otters", ada)
    assert bob.post("/api/v1/teams", json={"name": " OTTERS "}).status_code == 409
    assert bob.post("/api/v1/teams", json={"name": "x"}).status_code == 422
    assert bob.post("/api/v1/teams", json={"name": "Newts", "task": "nowhere"}).status_code == 422
    first = ada.post(f"/api/v1/teams/{team}/link").json()["secret"]
    second = ada.post(f"/api/v1/teams/{team}/link").json()["secret"]
    assert bob.post("/api/v1/teams/join", json={"secret": first}).status_code == 404
    for _twice in range(2):
        joined = bob.post("/api/v1/teams/join", json={"secret": second})
        assert (joined.status_code, joined.json()["members"]) == (200, 2)


def test_examples_count_from_joining_to_leaving_and_once(database):
    played = World(database, votes=1, cap=1)
    captain, friend, stranger = played.person(), played.person(), played.person()

    def person(session, someone):
        return session.get_one(Person, someone.id)

    def make(session):
        team = service.create_team(session, person(session, captain), TeamIn(name="Otters", task="checks"))
        secret = service.renew_link(session, person(session, captain), team.id)
        service.join_team(session, person(session, friend), secret)
        return team.id, secret

    team_id, secret = database.write(make)
    for author in (captain, friend, stranger):
        example = played.example(author, fooled=True)
        played.vote(played.owner, example, "correct", owner=True)
        played.example(author, fooled=False)

    def figures(session):
        return board.team_figures(session, service.find_team(session, team_id)).counts

    counts = database.read(figures)
    assert (counts.examples, counts.fooled, counts.validated) == (4, 2, 2)
    for _again in range(2):  # left and joined again on the same day
        database.write(lambda session: service.remove_member(session, person(session, friend), team_id, friend.id))
        assert database.read(figures).examples == 4, "what was written for the team stays"
        database.write(lambda session: service.join_team(session, person(session, friend), secret).id)
    assert database.read(figures).examples == 4, "no day counts twice"
    assert database.read(board.rank_teams, "other") == []


@pytest.mark.slow
def test_teams_are_ranked_by_verified_examples(database):
    played = World(database, votes=1, cap=1)

    def play(name, verified, failed):
        author = played.person()
        team = database.write(
            lambda session: service.create_team(session, session.get_one(Person, author.id), TeamIn(name=name)).id
        )
        for number in range(verified + failed):
            example = played.example(author, fooled=number < verified)
            if number < verified:
                played.vote(played.owner, example, "correct", owner=True)
        return team

    first, lucky, second = play("Many", 8, 14), play("Lucky", 3, 0), play("Some", 5, 17)
    lines = database.read(board.rank_teams)
    assert [(line.team.id, line.rank) for line in lines] == [(first, 1), (second, 2), (lucky, None)]


def test_a_person_is_in_few_teams(database, monkeypatch):
    played = World(database)
    monkeypatch.setattr(service, "MOST_TEAMS", 2)

    def make(name):
        def write(session):
            service.create_team(session, session.get_one(Person, played.owner.id), TeamIn(name=name))

        database.write(write)

    make("Otters")
    make("Newts")
    with pytest.raises(errors.Conflict):
        make("Herons")


def test_pages_of_a_team(client, ada, bob, database):
    captain, member = Browser(client), Browser(client)
    captain.log_in("ada")
    member.log_in("bob")
    assert "No teams yet" in client.get("/teams").text
    refused = captain.submit("/teams", page="/teams", name="x")
    assert refused.status_code == 422
    assert "has-error" in refused.text
    address = captain.submit("/teams", page="/teams", name="Otters", task="nli").headers["location"]
    page = captain.submit(f"{address}/link", page=address).text
    link = page.partition("/teams/join/")[2].partition("<")[0]
    assert "Log in" in client.get(f"/teams/join/{link}").text
    assert member.submit(f"/teams/join/{link}", page="/settings").headers["location"] == address
    assert "Leave the team" in member.get(address).text
    assert member.submit(address, page=address, name="Mine").status_code == 403
    assert captain.submit(f"{address}/captain", page=address, member=str(bob.id)).status_code == 303
    assert captain.submit(f"{address}/members/{ada.id}/remove", page=address).headers["location"] == "/teams"
    assert "Otters" in client.get("/teams.csv").text
    assert client.get("/teams/join/nothing").status_code == 404
    database.write(delete_own_account, client.app.state.settings, bob.id, withdraw_examples=False)
    assert client.get(address).status_code == 404
