"""One's own examples: what came of them, and taking one back."""

import pytest

from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def mine(ada, browser):
    opened = browser()
    assert opened.log_in(ada.name).status_code == 303
    return opened


def test_whoever_wrote_nothing_is_shown_where_to_begin(mine):
    page = mine.get("/people/me")
    assert page.status_code == 200
    assert "No examples yet" in page.text
    assert mine.get("/people/me?task=nli").status_code == 404


def test_votes_are_shown_once_they_decide_and_without_names(mine, ada, bob, owner):
    created = send(ada, written(draw(ada), "The otter is not asleep.")).json()["id"]
    page = mine.get("/people/me").text
    assert "The otter is not asleep." in page
    assert "A validator voted" not in page
    vote = {"vote": "incorrect", "as_owner": True, "reason": "Otters do sleep."}
    assert owner.post(f"/api/v1/examples/{created}/validations", json=vote).status_code == 201
    page = mine.get("/people/me?task=nli").text
    assert "A validator voted incorrect" in page
    assert "Otters do sleep." in page
    assert owner.name not in page.replace("owners", "")
    other = mine.get(f"/people/me?task=nli&after={created}").text
    assert "The otter is not asleep." not in other


def test_one_example_is_taken_back_from_the_list_by_its_author_alone(mine, ada, bob):
    created = send(ada, written(draw(ada), "The otter is not asleep.")).json()["id"]
    foreign = send(bob, written(draw(bob), "The otter is not awake.")).json()["id"]
    assert mine.submit(f"/people/me/examples/{foreign}/retraction", page="/settings").status_code == 404
    gone = mine.submit(f"/people/me/examples/{created}/retraction", page="/settings")
    page = mine.get(gone.headers["location"]).text
    assert f"Example {created} was withdrawn." in page
    assert "retracted" in page
