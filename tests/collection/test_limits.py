"""Limits of rounds: for each person in the round and on each day, whatever comes at once."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import func, select, update

from dynabench.collection.tables import Example, Tally
from tests.collection.conftest import draw, send, written

HERE = "/api/v1/tasks/nli/rounds/1"


def limit(owner, **limits):
    response = owner.request("PUT", f"{HERE}/plan", json={"limits": limits, "goals": {"examples": 4}})
    assert response.status_code == 200, response.text


def test_a_day_has_its_limit_and_the_next_day_lifts_it(owner, ada, bob, database):
    limit(owner, per_day=2)
    for text in ("It is not so.", "It is not thus."):
        assert send(ada, written(draw(ada), text)).status_code == 201
    assert ada.get(f"{HERE}/progress").json()["mine"]["left"] == 0
    response = ada.post("/api/v1/tasks/nli/contexts/next")
    assert response.status_code == 429
    assert 0 < int(response.headers["retry-after"]) <= 86_400
    assert "00:00 UTC" in response.json()["detail"]
    assert send(bob, written(draw(bob), "It is not so.")).status_code == 201
    database.write(lambda session: session.execute(update(Tally).values(day="2020-01-01")))
    assert ada.get(f"{HERE}/progress").json()["mine"]["left"] == 2
    assert send(ada, written(draw(ada), "Not any more.")).status_code == 201
    assert ada.get(f"{HERE}/progress").json()["goals"] == [{"name": "examples", "wanted": 4, "reached": 4}]


def test_examples_that_are_taken_back_count_for_the_limit_of_the_round(owner, ada):
    limit(owner, per_person=1)
    document = send(ada, written(draw(ada), "It is not so.")).json()
    assert ada.post(f"/api/v1/examples/{document['id']}/retract").status_code == 200
    response = ada.post("/api/v1/tasks/nli/contexts/next")
    assert response.status_code == 409
    assert "this round's limit of 1 examples per person" in response.json()["detail"]
    assert ada.get(f"{HERE}/progress").json()["mine"]["for_good"] is True


def distinct(handouts):
    """A draft on the very handout, unlike others on its context."""
    return written(handouts, f"It is not so, {handouts['handout']}.", handout=handouts["handout"])


def test_no_more_than_the_limit_is_written_whatever_comes_at_once(owner, ada, database):
    values = [draw(ada) for _ in range(8)]
    limit(owner, per_day=3)
    with ThreadPoolExecutor(8) as threads:
        answer = list(threads.map(lambda item: send(ada, distinct(item)), values))
    assert sorted(element.status_code for element in answer) == [201] * 3 + [429] * 5
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(Example))) == 3


def test_the_sandbox_has_no_limit(owner, ada):
    drawn = draw(ada)
    limit(owner, per_day=1)
    assert send(ada, written(drawn, "It is not so.")).status_code == 201
    assert send(ada, written(drawn, "It is not thus.")).status_code == 429
    assert send(ada, written(drawn, "It is not thus.", sandbox=True)).status_code == 201


def test_the_page_says_what_is_left_and_when_there_is_more(owner, ada, browser):
    limit(owner, per_day=1)
    page = browser()
    page.log_in("ada")
    view = page.get("/tasks/nli/create").text
    assert "left today" in view
    assert "Goals of the round" in view
    assert send(ada, written(draw(ada), "It is not so.")).status_code == 201
    spent = page.get("/tasks/nli/create")
    assert spent.status_code == 200
    assert "You have finished for today" in spent.text
    assert "It resets at 00:00 UTC." in spent.text
    assert page.get("/tasks/nli/create?sandbox=1").text.count('id="create-form"') == 1
