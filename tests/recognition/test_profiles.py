"""Profiles: shown by the person's choice, under the public name alone, with released examples only."""

import re

import pytest

from dynabench.collection.overview import person_specimens
from dynabench.collection.tables import Standing
from dynabench.recognition import records
from dynabench.recognition.badges import service as badges
from dynabench.recognition.badges.events import EarnedBadge
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def test_a_profile_is_private_until_its_person_shows_it(ada, bob, browser):
    mine, other = browser(), browser()
    mine.log_in("ada")
    assert other.get("/people/ada").status_code == 404
    assert bob.get("/api/v1/people/ada").status_code == 404
    assert other.get("/social/people/ada.png").status_code == 404
    assert "Only you see this page" in mine.get("/people/ada").text
    mine.submit("/settings/public-profile", page="/settings", public="true")
    assert other.get("/people/ada").status_code == 200
    assert other.get("/social/people/ada.png").headers["content-type"] == "image/png"
    assert ada.patch("/api/v1/me", json={"public_profile": False}).json()["public_profile"] is False
    assert other.get("/people/ada").status_code == 404


def test_a_pseudonym_hides_the_username(ada, browser):
    ada.patch("/api/v1/me", json={"pseudonym": "the countess", "public_profile": True})
    other = browser()
    assert other.get("/people/ada").status_code == 404
    page = other.get("/people/the%20countess").text
    assert not re.search(r"\bada\b", page)
    assert other.get("/people/The%20Countess").status_code == 200


@pytest.mark.parametrize("name", ["nobody", "%2e%2e%2fadmin", "a" * 300, "' or 1=1 --", "deleted-1"])
def test_names_that_nobody_has_are_not_found(client, name):
    assert client.get(f"/people/{name}").status_code == 404
    assert client.get(f"/api/v1/people/{name}").status_code == 404


@pytest.mark.slow
def test_counts_days_and_withdrawals(ada, bob, owner, browser):
    ada.patch("/api/v1/me", json={"public_profile": True})
    example = send(ada, written(draw(ada), "The otter is not asleep.")).json()["id"]
    gone = send(ada, written(draw(ada), "The otter is not awake.")).json()["id"]
    ada.post(f"/api/v1/examples/{gone}/retract")
    vote = {"vote": "correct", "as_owner": True}
    assert owner.post(f"/api/v1/examples/{example}/validations", json=vote).status_code == 201
    profile = bob.get("/api/v1/people/ada").json()
    [task] = profile["tasks"]
    assert (task["task"], task["written"], task["checked"]) == ("nli", 1, 0)
    assert [(day["written"], day["checked"]) for day in profile["days"]] == [(1, 0)]
    mine, other = browser(), browser()
    mine.log_in("ada")
    assert "withdrawn by you" in mine.get("/people/me").text
    assert '<a href="/people/ada">ada</a>' in other.get("/tasks/nli/people").text
    assert "You withdrew 1 example" in mine.get("/people/ada").text
    page = other.get("/people/ada").text
    assert "withdrew" not in page
    assert "The otter is not asleep." not in page, "its round is not released"
    assert owner.get("/api/v1/people/root").json()["tasks"][0]["checked"] == 1


def test_examples_of_released_rounds_are_shown_and_withheld_ones_are_not(database):
    played = World(database, votes=1, cap=1)
    author, voter = played.person(), played.person()
    examples = [played.example(author) for _ in range(2)]
    for example in examples:
        played.vote(voter, example, "correct")
    played.state("released")

    def withhold(session):
        session.get_one(Standing, examples[1]).withheld = True

    database.write(withhold)
    assert len(database.read(person_specimens, author.id, 5)) == 1


def test_the_grid_has_twelve_weeks_from_monday_to_today(database):
    played = World(database)
    author = played.person()
    played.example(author)
    activity = database.read(records.read_activity, author.id)
    assert [len(week) for week in activity.weeks] == [7] * 12
    assert all(week[0].day.weekday() == 0 for week in activity.weeks)
    assert (activity.total, activity.days[0].level) == (1, 1)


def test_a_badge_is_celebrated_where_it_was_just_earned(ada, bob, browser, database):
    mine, other = browser(), browser()
    mine.log_in("ada")
    other.log_in("bob")
    database.write(badges.award, [EarnedBadge(ada.id, "ten_verified"), EarnedBadge(ada.id, "welcome")])
    news = mine.get("/badges/news").text
    assert "Ten verified" in news
    assert "Welcome" not in news, "quiet"
    assert other.get("/badges/news").text == browser().get("/badges/news").text == ""
    [way] = [entry for entry in ada.get("/api/v1/me/badges").json()["progress"] if entry["badge"] == "ten_verified"]
    assert (way["awards"], way["value"], way["goal"]) == (1, 0, 10)
