"""Notes, labels, and acts on many examples: found by them, confirmed, undone, in the log, for nobody else."""

import pytest

from dynabench.collection.tables import Standing
from dynabench.validation.rebuild import rebuild_all
from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/manage/examples"


@pytest.fixture
def ids(owner, ada):
    return [send(ada, written(draw(ada), f"Number {n}.")).json()["id"] for n in range(4)]


def list_ids(owner, **asked):
    items = owner.get("/api/v1/tasks/nli/examples", params=asked).json()["items"]
    return sorted(item["id"] for item in items)


def bulk(caller, **body):
    return caller.post("/api/v1/tasks/nli/examples/bulk", json=body)


def test_notes_and_labels_are_found_again_also_after_a_rebuild(owner, moderator, ada, ids, database):
    document = moderator.post(f"/api/v1/examples/{ids[0]}/notes", json={"text": "Look at the premise."}).json()
    owner.post(f"/api/v1/examples/{ids[0]}/labels", json={"name": "to  show"})
    owner.post(f"/api/v1/examples/{ids[1]}/labels", json={"name": "to show"})
    assert [note["by"] for note in document["notes"]] == ["moses"]
    for _ in range(2):
        assert list_ids(owner, noted="true") == [ids[0]]
        assert list_ids(owner, label="to show") == ids[:2]
        waiting = owner.get("/api/v1/tasks/nli/moderation", params={"which": "noted"}).json()["items"]
        assert [item["example"]["id"] for item in waiting] == [ids[0]]
        rebuild_all(database)
    owner.delete(f"/api/v1/examples/{ids[0]}/notes/{document['notes'][0]['id']}")
    assert owner.delete(f"/api/v1/examples/{ids[1]}/labels/to show").json() == {"notes": [], "labels": []}
    assert list_ids(owner, noted="true") == []
    assert list_ids(owner, label="to show") == [ids[0]]
    assert ada.get(f"/api/v1/examples/{ids[0]}/notes").status_code == 404
    assert "to show" not in ada.get(f"/api/v1/examples/{ids[0]}").text


@pytest.mark.slow
def test_many_are_hidden_and_shown_again(owner, ids, database):
    document = bulk(owner, kind="hide", value="Spam.", ids=ids[:3]).json()
    assert document["changed"] == ids[:3]
    assert list_ids(owner) == ids[3:]
    again = bulk(owner, kind="hide", value="Spam.", ids=ids).json()
    assert again["changed"] == ids[3:]
    assert owner.post(f"/api/v1/tasks/nli/examples/bulk/{document['id']}/undo").json()["undone"]
    assert list_ids(owner) == ids[:3]
    owner.post(f"/api/v1/tasks/nli/examples/bulk/{document['id']}/undo")
    kinds = [item["kind"] for item in owner.get("/api/v1/tasks/nli/acts").json()["items"]]
    assert kinds.count("examples.bulk") == 2
    assert kinds.count("examples.bulk_undone") == 1
    assert [row.hidden for row in database.read(lambda s: s.query(Standing).order_by(Standing.example_id).all())] == [
        False, False, False, True,
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "value", "question"), [
    ("flag", "Odd.", {"flagged": "true"}), ("label", "odd", {"label": "odd"}), ("note", "Odd.", {"noted": "true"}),
])  # fmt: skip
def test_what_matches_a_question_is_marked_and_unmarked(owner, ids, database, kind, value, question):
    document = bulk(owner, kind=kind, value=value, matching={"q": "number"}).json()
    assert document["changed"] == ids
    assert list_ids(owner, **question) == ids
    rebuild_all(database)
    assert list_ids(owner, **question) == ids
    owner.post(f"/api/v1/tasks/nli/examples/bulk/{document['id']}/undo")
    assert list_ids(owner, **question) == []
    rebuild_all(database)
    assert list_ids(owner, **question) == []


def test_what_is_not_the_task_s_or_makes_no_sense_is_refused(owner, ada, ids):
    assert bulk(owner, kind="hide", value="x", ids=[10**9]).status_code == 404
    assert bulk(owner, kind="hide", value="", ids=ids).status_code == 422
    assert bulk(owner, kind="label", value="x" * 41, ids=ids).status_code == 422
    assert bulk(owner, kind="hide", value="x").status_code == 422
    assert bulk(owner, kind="hide", value="x", ids=ids, matching={}).status_code == 422
    assert bulk(owner, kind="hide", value="x", matching={"q": "nothing"}).status_code == 422
    assert bulk(ada, kind="hide", value="x", ids=ids).status_code == 403


@pytest.mark.slow
def test_the_page_asks_before_it_does_and_offers_to_undo(moderator, ids, enter):
    page = enter(moderator)
    assert f'value="{ids[0]}" form="bulk"' in page.get(HERE).text
    submission = page.submit(
        f"{HERE}/bulk", page="/settings", which="page", kind="hide", ids=[str(item) for item in ids[:2]]
    )
    assert "Hide 2 examples?" in submission.text
    sure = {"which": "page", "kind": "hide", "ids": [str(element) for element in ids[:2]], "sure": "2"}
    assert page.submit(f"{HERE}/bulk", page="/settings", value="", **sure).status_code == 422
    done = page.submit(f"{HERE}/bulk", page="/settings", value="Spam.", **sure)
    answer = page.get(done.headers["location"]).text
    assert "2 examples were hidden." in answer
    everything = {"which": "all", "kind": "label", "hidden": "any", "top": str(ids[2])}
    assert "Add a label to 3 examples?" in page.submit(f"{HERE}/bulk", page="/settings", **everything).text
    number = done.headers["location"].rpartition("=")[2]
    back = page.submit(f"{HERE}/bulk/{number}/undo", page="/settings")
    assert "Undone for 2 examples." in page.get(back.headers["location"]).text
    assert "Select examples first." in page.submit(f"{HERE}/bulk", page="/settings", which="page", kind="hide").text


def test_the_page_that_asks_shows_no_withheld_example(moderator, ids, enter, database):
    """Anybody who moderates can post any number."""
    database.write(lambda session: setattr(session.get_one(Standing, ids[1]), "withheld", True))
    chosen = {"which": "page", "kind": "hide", "ids": [str(item) for item in ids[:2]]}
    request = enter(moderator).submit(f"{HERE}/bulk", page="/settings", **chosen).text
    assert "Number 0." in request
    assert "Number 1." not in request


@pytest.mark.slow
def test_notes_are_written_on_the_page_of_an_example(moderator, ids, enter):
    page = enter(moderator)
    here = f"/tasks/nli/manage/notes/{ids[0]}"
    assert page.submit(here, page="/settings", note="Ask ada.").status_code == 303
    assert page.submit(here, page="/settings", label="unsure").status_code == 303
    view = page.get(f"{HERE}/{ids[0]}").text
    assert "Ask ada." in view
    assert "unsure" in view
    assert "Ask ada." in page.get("/tasks/nli/manage/moderation?which=noted").text
    assert page.submit(here, page="/settings", note=" ").status_code == 422
    assert page.submit(here, page="/settings", unlabel="unsure").status_code == 303
    assert "unsure" not in page.get(HERE).text
