"""Acts of authors on their own examples: take them back, explain them, list them, make others from them."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select

from dynabench.collection.tables import Tally
from tests.collection.conftest import draw, send, written


def test_an_example_points_to_ones_own_origin_only(ada, bob, owner):
    drawn = draw(ada)
    first = send(ada, written(drawn, "They sleep.")).json()["id"]
    second = send(ada, written(drawn, "They sleep a lot.", made_from=first))
    assert second.status_code == 201
    assert ada.get(f"/api/v1/examples/{second.json()['id']}").json()["made_from"] == first
    for origin in (first, 10**9):
        answer = send(bob, written(draw(bob), "They sleep.", made_from=origin))
        assert set(answer.json()["fields"]) == {"made_from"}


def test_retraction_counts_the_example_out_once(ada, owner, database):
    document = send(ada, written(draw(ada), "They sleep.")).json()
    path = f"/api/v1/examples/{document['id']}/retract"
    assert owner.post(path).status_code == 403
    with ThreadPoolExecutor(4) as pool:
        assert {answer.status_code for answer in pool.map(lambda _: ada.post(path), range(4))} == {200}
    tally = database.read(lambda session: session.scalars(select(Tally)).one())
    assert (tally.examples, tally.fooled, tally.retracted) == (0, 0, 1)
    assert ada.get(f"/api/v1/examples/{document['id']}").json()["retracted"] is True


def test_explanations_are_checked_and_the_latest_counts(ada):
    document = send(ada, written(draw(ada), "They sleep well.")).json()
    path = f"/api/v1/examples/{document['id']}/explanations"
    assert ada.post(path, json={"why_correct": "x" * 501}).status_code == 422
    assert ada.post(path, json={"why_correct": "first"}).status_code == 201
    assert ada.post(path, json={"why_correct": "<i>second</i>"}).json()["values"]["why_correct"] == "<i>second</i>"
    assert ada.get(f"/api/v1/examples/{document['id']}").json()["explanation"]["why_correct"] == "<i>second</i>"


def test_own_examples_are_listed_page_by_page(ada, bob, owner):
    drawn = draw(ada)
    ids = [send(ada, written(drawn, f"They sleep {n}.")).json()["id"] for n in range(5)]
    send(bob, written(draw(bob), "They sleep."))
    page = ada.get("/api/v1/tasks/nli/examples?mine=1&limit=3").json()
    assert [item["id"] for item in page["items"]] == ids[:1:-1]
    rest = ada.get(f"/api/v1/tasks/nli/examples?mine=1&limit=3&after={page['next']}").json()
    assert [item["id"] for item in rest["items"]] == ids[1::-1]
    assert rest["next"] is None
    assert ada.get("/api/v1/tasks/nli/examples").status_code == 403
    assert len(owner.get("/api/v1/tasks/nli/examples").json()["items"]) == 6


def test_experts_and_owners_are_told_apart(ada, bob, owner):
    assert owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "expert"}).status_code == 200
    for caller in (ada, bob, owner):
        send(caller, written(draw(caller), "They sleep."))
    board = bob.get("/api/v1/tasks/nli/rounds/1/board").json()["items"]
    assert {(row["name"], row["source"]) for row in board} == {("ada", "expert"), ("bob", "person"), ("root", "owner")}
    assert [row["name"] for row in board if row["mine"]] == ["bob"]
    assert all(row["mer"]["low"] <= row["mer"]["value"] <= row["mer"]["high"] for row in board)
