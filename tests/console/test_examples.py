"""The console's pages of examples, figures and moderation, as owners and moderators use them."""

from itertools import product

import pytest

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Standing
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.sheets import rows_of

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def examples(ada, bob, owner):
    """Three examples by ada, of which bob flags the second; ids in order."""
    result = []
    for text in ("The otter is not asleep.", "A rude sentence not to keep.", "Nobody swims here, not even ducks."):
        answer = send(ada, written(draw(ada), text))
        assert answer.status_code == 201, answer.text
        result.append(answer.json()["id"])
    flagged = bob.post(f"/api/v1/examples/{result[1]}/validations", json={"vote": "flagged"})
    if flagged.status_code == 409:  # the label is drawn: it may have fooled nobody
        flagged = owner.post(f"/api/v1/examples/{result[1]}/validations", json={"vote": "flagged", "as_owner": True})
    assert flagged.status_code == 201, flagged.text
    return result


@pytest.fixture
def mine(owner, browser):
    opened = browser()
    assert opened.log_in(owner.name).status_code == 303
    return opened


def test_the_owner_finds_examples_by_words_and_filters(mine, owner, examples):
    page = mine.get("/tasks/nli/manage/examples", params={"q": "otter", "author": "ada", "fooled": ""})
    assert page.status_code == 200
    assert "The otter is not asleep." in page.text
    assert "Nobody swims" not in page.text
    none = mine.get("/tasks/nli/manage/examples?q=zebra")
    assert "No matches" in none.text
    document = owner.get("/api/v1/tasks/nli/examples", params={"flagged": "true", "limit": 1}).json()
    assert [item["id"] for item in document["items"]] == [examples[1]]
    assert document["items"][0]["author"] == "ada"
    first = owner.get("/api/v1/tasks/nli/examples?limit=2").json()
    rest = owner.get(f"/api/v1/tasks/nli/examples?limit=2&after={first['next']}").json()
    assert [element["id"] for element in (*first["items"], *rest["items"])] == examples[::-1]
    assert rest["next"] is None


def test_what_makes_no_sense_is_told_beside_its_field(mine, owner):
    for query in ("q=%21%21", "round=x", "since=yesterday", "verdict=maybe", "q=" + "a+" * 600):
        page = mine.get(f"/tasks/nli/manage/examples?{query}")
        assert page.status_code == 422, query
        assert 'aria-invalid="true"' in page.text or "has-error" in page.text, query
        assert owner.get(f"/api/v1/tasks/nli/examples?{query}").status_code == 422, query


@pytest.mark.slow
def test_ones_own_examples_take_no_filters(ada, examples):
    assert len(ada.get("/api/v1/tasks/nli/examples?mine=1").json()["items"]) == 3
    assert ada.get("/api/v1/tasks/nli/examples?mine=1&q=otter").status_code == 422
    assert ada.get("/api/v1/tasks/nli/examples").status_code == 403


def test_an_example_has_a_page_with_all_that_is_known(mine, examples):
    page = mine.get(f"/tasks/nli/manage/examples/{examples[1]}")
    assert page.status_code == 200
    for part in ("A rude sentence not to keep.", "nli-a", "flagged", "ada"):
        assert part in page.text
    assert mine.get(f"/tasks/sentiment/manage/examples/{examples[1]}").status_code == 404


def test_the_page_of_an_edit_shows_no_text_of_a_withheld_origin(mine, ada, examples, database):
    """Text that is struck out in the differences belongs to the origin."""

    def edited(session):
        result = session.get_one(Example, examples[2])
        session.get_one(Handout, result.handout_id).initial = {"hypothesis": "The quokka swims here."}
        session.get_one(Handout, result.handout_id).made_from = examples[0]

    database.write(edited)
    page = f"/tasks/nli/manage/examples/{examples[2]}"
    assert "quokka" in mine.get(page).text
    database.write(lambda session: setattr(session.get_one(Standing, examples[0]), "withheld", True))
    view = mine.get(page).text
    assert "Nobody swims here" in view
    assert "quokka" not in view


def test_a_flagged_example_is_hidden_and_comes_back(mine, ada, owner, examples):
    queue = mine.get("/tasks/nli/manage/moderation")
    assert "A rude sentence" in queue.text
    without = mine.submit(f"/tasks/nli/manage/examples/{examples[1]}/hide", page="/settings", back="waiting")
    assert without.status_code == 422
    assert "Give a reason" in without.text
    hidden = mine.submit(
        f"/tasks/nli/manage/examples/{examples[1]}/hide", page="/settings", reason="rude", back="waiting"
    )
    after = mine.get(hidden.headers["location"])
    assert "A rude sentence" not in after.text
    assert f"Example {examples[1]} is hidden." in after.text
    assert f"/examples/{examples[1]}/restore" in after.text, "it can be undone at once"
    assert "A rude sentence" in mine.get("/tasks/nli/manage/moderation?which=hidden").text
    assert examples[1] not in [item["id"] for item in owner.get("/api/v1/tasks/nli/examples").json()["items"]]
    figures = owner.get("/api/v1/tasks/nli/rounds/1/figures").json()
    assert (figures["total"]["examples"], figures["total"]["hidden"]) == (2, 1)
    mine.submit(f"/tasks/nli/manage/examples/{examples[1]}/restore", page="/settings")
    assert owner.get("/api/v1/tasks/nli/rounds/1/figures").json()["total"]["examples"] == 3
    log = mine.get("/tasks/nli/manage/log").text
    assert "example.hidden" in log
    assert "rude" in log


def test_the_author_is_warned_banned_and_let_in_again(mine, ada, examples):
    base = f"/tasks/nli/manage/examples/{examples[0]}"
    for act in ("warn", "ban"):
        assert mine.submit(f"{base}/{act}", page="/settings", reason="be kind").status_code == 303
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 403
    assert "The author is banned: be kind" in mine.get(base).text
    location = mine.submit(f"{base}/ban", page="/settings", reason="be kind").headers["location"]
    assert f"{base}/lift" in mine.get(location).text, "it can be undone at once"
    assert mine.submit(f"{base}/lift", page="/settings").status_code == 303
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 200


def test_flags_are_dismissed_through_the_api(owner, examples):
    waiting = owner.get("/api/v1/tasks/nli/moderation").json()["items"]
    assert [(case["example"]["id"], len(case["flags"])) for case in waiting] == [(examples[1], 1)]
    assert owner.post(f"/api/v1/examples/{examples[1]}/dismiss", json={"reason": "fine"}).json()["dismissed"]
    assert owner.get("/api/v1/tasks/nli/moderation").json()["items"] == []
    assert len(owner.get("/api/v1/tasks/nli/moderation?which=dismissed").json()["items"]) == 1


def test_figures_are_shown_each_way(mine, examples):
    for view, person in product(("conditions", "day", "tag", "annotator"), ("people", "experts", "programs")):
        page = mine.get(f"/tasks/nli/manage/figures?view={view}&who={person}")
        assert page.status_code == 200, (view, person)
        assert "MER" in page.text, (view, person)


def test_tables_of_figures_are_downloaded(mine, examples):
    for by in ("target", "arm", "start", "source", "tag", "day", "annotator"):
        answer = mine.get(f"/tasks/nli/manage/figures.csv?by={by}")
        assert answer.status_code == 200, answer.text
        rows = rows_of(answer.text)
        expected = {"target": "nli-a", "source": "person", "annotator": "ada", "start": "blank"}
        assert sum(int(row["examples"]) for row in rows) == 3
        assert expected.get(by, rows[0][by]) == rows[0][by]
    assert mine.get("/tasks/nli/manage/figures.csv?by=mood").status_code == 404


def test_annotators_come_in_pages_in_the_order_asked_for(owner, ada, bob, examples):
    send(bob, written(draw(bob), "Not one word."))
    first = owner.get("/api/v1/tasks/nli/rounds/1/annotators?sort=examples&limit=1").json()
    second = owner.get(f"/api/v1/tasks/nli/rounds/1/annotators?sort=examples&limit=1&after={first['next']}").json()
    assert [first["items"][0]["name"], second["items"][0]["name"]] == ["ada", "bob"]
    assert second["next"] is None
    assert owner.get("/api/v1/tasks/nli/rounds/1/annotators?sort=height").status_code == 422


def test_what_was_found_is_downloaded_whole(mine, examples):
    rows = rows_of(mine.get("/tasks/nli/manage/examples.csv").text)
    assert [int(row["id"]) for row in rows] == examples[::-1]
    assert {(row["author"], row["round"], row["source"]) for row in rows} == {("ada", "1", "person")}
    otter = rows_of(mine.get("/tasks/nli/manage/examples.csv?q=otter").text)
    assert [row["text"] for row in otter] == ["The otter is not asleep."]
    assert mine.get("/tasks/nli/manage/examples.csv?since=never").status_code == 422


def test_an_owner_is_not_banned_and_the_page_says_why(mine, owner):
    wrote = send(owner, written(draw(owner), "The otter is an owner.")).json()["id"]
    refused = mine.submit(f"/tasks/nli/manage/examples/{wrote}/ban", page="/settings", reason="no")
    assert refused.status_code == 403
    assert "You cannot do this to yourself." in refused.text
