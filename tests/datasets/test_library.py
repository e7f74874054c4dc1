"""Datasets through the API: sent, read, seen by the right people, changed by owners."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from dynabench.datasets import stored
from dynabench.people.accounts.tables import Act
from tests.datasets.library import API, GOOD, added, lines, olga, send, work  # noqa: F401


def test_a_file_becomes_a_dataset(olga, work, settings):  # noqa: F811
    seen = send(olga, lines(GOOD))
    assert seen["layout"]["fields"] == {"statement": "statement", "label": "label"}
    assert seen["layout"]["uid"] == "id"
    assert seen["rows"][0]["stored"] == {
        "uid": "r0", "inputs": {"statement": "A fine film, number 0."}, "answers": [{"label": "positive"}],
        "tags": ["even"],
    }  # fmt: skip
    document = olga.post(API, json={"name": "films", "file": seen["file"], "visibility": "public"}).json()
    assert document["version"] is None
    assert document["versions"][0]["state"] == "reading"
    work()
    document = olga.get(f"{API}/films").json()
    assert document["version"]["rows"] == 40
    assert document["version"]["slices"] == {"even": 20}
    assert len(list(stored.read_rows(settings, document["version"]["digest"]))) == 40
    assert not list((settings.folder / "uploads").glob("*/data/*"))


def test_rows_that_changed_make_a_new_version_and_others_do_not(olga, work):  # noqa: F811
    first = added(olga, work)["version"]
    for rows, state in ((GOOD, "failed"), (GOOD[:-1], "ready")):
        file = send(olga, lines(rows))["file"]
        assert olga.post(f"{API}/films/versions", json={"file": file}).status_code == 202
        work()
        assert olga.get(f"{API}/films").json()["versions"][0]["state"] == state
    document = olga.get(f"{API}/films").json()
    assert [version["number"] for version in document["versions"]] == [3, 2, 1]
    assert "Nothing changed" in document["versions"][1]["reason"]
    assert document["version"]["digest"] != first["digest"]


BAD = [
    {"statement": "Fine.", "label": "excellent", "id": "a"},
    {"statement": "", "label": "positive", "id": "b"},
    {"statement": "Twice.", "label": "positive", "id": "r3"},
    {"statement": {"deep": []}, "label": "positive", "id": "c"},
]


def test_every_refused_row_is_named_with_field_and_reason(olga, work, client):  # noqa: F811
    created = added(olga, work, GOOD + BAD)
    assert created["version"] is None
    [version] = created["versions"]
    assert (version["state"], version["refused"]) == ("failed", 4)
    assert "4 of 44 rows were refused" in version["reason"]
    page = olga.get(f"{API}/films/versions/1/refused", params={"limit": 3}).json()
    assert [row["row"] for row in page["items"]] == [41, 42, 43]
    assert page["items"][0]["message"].startswith("answer.label:")
    assert page["items"][1]["message"].startswith("input.statement:")
    assert "came before" in page["items"][2]["message"]
    rest = olga.get(f"{API}/films/versions/1/refused", params={"after": page["next"]}).json()
    assert [row["row"] for row in rest["items"]] == [44]


@pytest.mark.parametrize(("tolerance", "state"), [("none", "failed"), ("few", "ready"), ("any", "ready")])
def test_owners_choose_how_many_rows_may_be_refused(olga, work, tolerance, state):  # noqa: F811
    rows = [GOOD[0] | {"id": f"x{n}", "statement": f"Film {n}."} for n in range(200)] + BAD[:1]
    assert added(olga, work, rows, tolerance=tolerance)["versions"][0]["state"] == state


@pytest.mark.slow
def test_hidden_datasets_are_known_to_owners_alone(olga, work, person, client):  # noqa: F811
    added(olga, work, name="secret-set")
    nora = person("nora")
    for actor in (nora, client):
        assert actor.get(f"{API}/secret-set").status_code == 404
        assert "secret" not in actor.get(API).text
        assert actor.get(API).json()["hidden"] == 1
        assert "secret" not in actor.get("/api/v1/datasets").text
        assert "secret" not in actor.get("/tasks/sentiment/datasets").text
        assert actor.get("/tasks/sentiment/datasets/secret-set").status_code in (404, 401)
    assert olga.get(API).json()["items"][0]["name"] == "secret-set"
    for actor, status in ((olga, 403), (nora, 404), (client, 404)):
        assert actor.get(f"{API}/secret-set/rows").status_code == status
    assert nora.get(f"{API}/secret-set/versions/1/refused").status_code == 403


def test_scoring_datasets_are_listed_and_their_rows_stay(olga, work, client):  # noqa: F811
    created = added(olga, work, visibility="scoring")
    assert client.get(f"{API}/films").json()["version"]["rows"] == 40
    assert client.get(f"{API}/films").json()["version"]["slices"] == {"even": 20}, "which its scores name too"
    assert client.get(f"{API}/films/rows").status_code == 403
    assert "A fine film" not in client.get("/tasks/sentiment/datasets/films").text
    assert created["version"]["slices"] == {"even": 20}


def test_what_is_downloaded_reads_back_as_the_same_rows(olga, work, client):  # noqa: F811
    rows = [*GOOD, {"statement": "=1+1 is no sum", "label": "neutral", "id": "+f", "tags": ["a, b", "c"]}]
    created = added(olga, work, rows, visibility="public")
    cells = list(csv.reader(io.StringIO(client.get(f"{API}/films/rows", params={"format": "csv"}).text)))
    assert cells[-1][:2] == ["'+f", "'=1+1 is no sum"]
    parquet = client.get(f"{API}/films/rows", params={"format": "parquet"}).content
    assert pq.read_table(io.BytesIO(parquet)).num_rows == 41
    for form in ("jsonl", "csv"):
        content = client.get(f"{API}/films/rows", params={"format": form}).content
        file = send(olga, content, f"again.{form}")
        assert olga.post(API, json={"name": f"again-{form}", "file": file["file"]}).status_code == 202
        work()
        assert olga.get(f"{API}/again-{form}").json()["version"]["digest"] == created["version"]["digest"], form


def test_changes_are_written_down_and_hiding_what_was_public_warns(olga, work, database):  # noqa: F811
    added(olga, work, visibility="public")
    changed = olga.patch(f"{API}/films", json={"visibility": "hidden", "weight": 7, "languages": ["en"]}).json()
    assert (changed["visibility"], changed["weight"]) == ("hidden", 7)
    assert "was public" in changed["warning"]
    assert olga.patch(f"{API}/films", json={"retired": True}).json()["retired"]
    file = send(olga, lines(GOOD[:5]))["file"]
    assert olga.post(f"{API}/films/versions", json={"file": file}).status_code == 409
    assert not olga.patch(f"{API}/films", json={"retired": False}).json()["retired"]
    kinds = database.read(
        lambda s: list(s.scalars(select(Act.kind).where(Act.kind.like("dataset.%")).order_by(Act.id)))
    )
    assert kinds == ["dataset.added", "dataset.ready", "dataset.changed", "dataset.changed", "dataset.changed"]


@pytest.mark.parametrize("body", [
    {"weight": -1}, {"weight": 101}, {"visibility": "all"}, {"title": ""}, {"title": "a\0b"}, {"languages": ["e n"]},
    {"nothing": 1}, {"card": "x" * 50_001},
])  # fmt: skip
def test_odd_changes_are_refused(olga, work, body):  # noqa: F811
    added(olga, work)
    assert olga.patch(f"{API}/films", json=body).status_code == 422


def test_names_are_addresses(olga):  # noqa: F811
    for name in ("", "a", "Films", "../x", "files", "rounds", "x" * 63, "a b"):
        file = send(olga, lines(GOOD))["file"]
        assert olga.post(API, json={"name": name, "file": file}).status_code == 422, name


def test_values_may_be_given_a_meaning_by_hand(olga, work):  # noqa: F811
    rows = [{"text": f"Film {n}", "sentiment": n % 2, "source": "press" if n % 2 else "fan"} for n in range(10)]
    seen = send(olga, lines(rows))
    assert seen["layout"]["fields"] == {"statement": "text"}
    assert seen["problems"] == {"field.label": "Choose the column."}
    layout = {"fields": {"statement": "text", "label": "sentiment"}, "columns": ["source"],
              "values": {"0": "negative", "1": ["positive", "neutral"]}}  # fmt: skip
    looked = olga.post(f"{API}/preview", json={"file": seen["file"], "layout": layout}).json()
    assert looked["rows"][1]["stored"]["answers"] == [{"label": "positive"}, {"label": "neutral"}]
    assert looked["rows"][1]["stored"]["tags"] == ["source=press"]
    assert looked["values"] == ["0", "1"]
    olga.post(API, json={"name": "numbers", "file": seen["file"], "layout": layout})
    work()
    assert olga.get(f"{API}/numbers").json()["version"]["slices"] == {"source=fan": 5, "source=press": 5}
    assert json.dumps(looked)
