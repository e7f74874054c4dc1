"""Visibility of an evaluation: scores, rows, logs, records; over the API and on its page."""

from collections import Counter

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from dynabench.benchmark.evaluations import records
from dynabench.benchmark.evaluations.tables import Evaluation
from dynabench.kit.db import Database, now
from dynabench.site.app import create_app
from tests.conftest import Caller, register
from tests.furnished import bare
from tests.scoring.conftest import Place, run_evaluation, statements

API = "/api/v1/evaluations/1"
ON_ONE = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
SECRET = "a secret of a hidden row"


def evaluations(settings):
    """Furnish: sam's model, evaluated on a public, a scoring and a hidden dataset; sam's id and token."""
    with TestClient(create_app(settings)) as client:
        sam = register(client, "sam")
    database = Database(settings.url)
    here = Place(database, settings)
    for name in ("public", "scoring", "hidden"):
        here.dataset(name, statements(24), name)
    here.queue(submission=here.submit("sentiment-ngram", sam.id))
    for number in (1, 2, 3):
        assert run_evaluation(database, settings, number)["state"] == "done"
    database.close()
    return sam.id, sam.token


@pytest.fixture
def furnish(request):
    return evaluations if "evaluated" in request.fixturenames else bare


@pytest.fixture
def sam(client, furnished):
    return Caller(client, "sam", *furnished[1])


@pytest.fixture
def mia(person):
    return person("mia")


@pytest.fixture
def evaluated(place, database, settings):
    """The place of the furnished evaluations."""
    return place()


@ON_ONE
def test_scores_of_a_public_model_are_for_all_and_its_record_is_signed(client, evaluated, mia):
    for caller in (client, mia):
        document = caller.get(API).json()
        assert (document["state"], document["model"], document["rows_done"]) == ("done", "sentiment-ngram", 24)
        scores = {(item["metric"], item["slice"]): item for item in caller.get(f"{API}/scores").json()["items"]}
        assert scores["accuracy", ""]["n"] == 24
    record = client.get(f"{API}/record").json()
    assert (
        record["key"]
        == client.get("/api/v1/key").json()["key"]
        == client.get("/.well-known/dynabench-key").text.strip()
    )
    assert records.is_signature_valid(record["document"], record["signature"], record["key"])


@ON_ONE
def test_rows_are_shown_as_far_as_the_dataset_allows(client, evaluated, sam, mia):
    page = client.get(f"{API}/examples", params={"limit": 10}).json()
    assert [this_item["number"] for this_item in page["items"]] == list(range(10))
    assert page["next"] == 9
    assert page["items"][0]["inputs"]["statement"]
    rest = client.get(f"{API}/examples", params={"after": 9, "limit": 100}).json()
    assert [element["number"] for element in rest["items"]] == list(range(10, 24))
    assert rest["next"] is None
    tagged = client.get(f"{API}/examples", params={"tag": "bad"}).json()["items"]
    assert {tuple(item["tags"]) for item in tagged} == {("bad",)}

    scoring = "/api/v1/evaluations/2/examples"
    mine = sam.get(scoring).json()["items"]
    assert (mine[0]["uid"], mine[0]["inputs"], mine[0]["said"], mine[0]["tags"]) == ("r0", {}, None, [])
    assert mia.get(scoring).status_code == client.get(scoring).status_code == 403
    assert sam.get(scoring, params={"tag": "bad"}).status_code == 403
    for caller in (client, mia, sam):
        assert caller.get("/api/v1/evaluations/3/examples").status_code == 403


@ON_ONE
def test_of_hidden_datasets_nothing_leaves_but_scores_of_the_whole(client, evaluated, database, sam, person):
    admin = person("root")

    def fail(session):
        from dynabench.people.accounts.tables import Person

        session.get_one(Person, admin.id).admin = True
        result = session.get_one(Evaluation, 3)
        result.state, result.code, result.reason, result.log = "failed", "crashed", SECRET, SECRET

    database.write(fail)
    for caller in (client, sam, admin):
        for path in ("/api/v1/evaluations/3", "/evaluations/3", "/api/v1/tasks/sentiment/evaluations"):
            answer = caller.get(path)
            assert answer.status_code == 200
            assert SECRET not in answer.text
        slices = [item["slice"] for item in caller.get("/api/v1/evaluations/3/scores").json()["items"]]
        assert set(slices) == {""}  # 24 rows make no slice of 30
        sheet = caller.get("/api/v1/evaluations/3/scores?format=csv").text.splitlines()
        assert sheet[0].endswith("metric,title,version,slice,value,low,high,n,better,unit,scale")
        assert len(sheet) == 1 + len(slices)
    assert sam.get("/api/v1/evaluations/3").json()["advice"]


@ON_ONE
def test_private_and_anonymous_submissions(client, evaluated, database, sam, mia):
    def be(visibility):
        def write(session):
            from dynabench.benchmark.registry.tables import Submission

            session.get_one(Submission, 1).visibility = visibility

        database.write(write)

    be("anonymous")
    document = client.get(API).json()
    assert (document["model"], document["submission"]) == (None, None)
    assert "sentiment-ngram" not in client.get("/evaluations/1").text
    assert client.get(f"{API}/record").status_code == 404
    assert sam.get(API).json()["model"] == "sentiment-ngram"
    be("private")
    for path in (API, f"{API}/scores", f"{API}/record", f"{API}/examples"):
        assert mia.get(path).status_code == 404, path
        assert sam.get(path).status_code == 200, path
    assert mia.get("/api/v1/tasks/sentiment/evaluations").json()["items"] == []
    assert len(sam.get("/api/v1/tasks/sentiment/evaluations", params={"limit": 2}).json()["items"]) == 2


@ON_ONE
def test_only_submitters_cancel_and_retry_and_only_what_can_be(evaluated, database, sam, mia):
    def queued(session):
        result = session.get_one(Evaluation, 1)
        result.state, result.rows_done, result.created_at = "queued", 0, now()

    assert sam.post(f"{API}/cancel").status_code == 409
    assert sam.post(f"{API}/retry").status_code == 409
    database.write(queued)
    assert mia.post(f"{API}/cancel").status_code == 403
    document = sam.get(API).json()
    assert (document["place"], document["may_cancel"]) == (0, True)
    assert sam.post(f"{API}/cancel").json()["state"] == "cancelled"
    assert mia.post(f"{API}/retry").status_code == 403
    again = sam.post(f"{API}/retry").json()
    assert (again["state"], again["attempt"]) == ("queued", 2)


@ON_ONE
def test_the_page_shows_scores_rows_and_what_can_be_done(client, evaluated, database, browser):
    page = client.get("/evaluations/1").text
    for words in ("sentiment-ngram on public", "Accuracy", "Costs", "By tag", "Row by row", "scene 3"):
        assert words in page, words
    assert "No such rows" in client.get("/evaluations/1", params={"wrong": "true"}).text
    assert "scene" not in client.get("/evaluations/2").text
    assert "Only the overall scores on this dataset are shown" in client.get("/evaluations/3").text

    def going(session):
        session.get_one(Evaluation, 1).state = "running"

    database.write(going)
    part = client.get("/evaluations/1", headers={"HX-Request": "true"}).text
    assert 'hx-trigger="every 2s"' in part
    assert "<html" not in part


@ON_ONE
def test_lists_are_filtered_and_paged(client, evaluated, database):
    tasks = "/api/v1/tasks/sentiment/evaluations"
    assert [this_item["id"] for this_item in client.get(tasks, params={"dataset": "public"}).json()["items"]] == [1]
    assert client.get(tasks, params={"state": "failed"}).json()["items"] == []
    first = client.get(tasks, params={"limit": 2}).json()
    assert [element["id"] for element in first["items"]] == [3, 2]
    rest = client.get(tasks, params={"limit": 2, "after": first["next"]}).json()
    assert ([item["id"] for item in rest["items"]], rest["next"]) == ([1], None)
    assert client.get("/api/v1/tasks/nothing/evaluations").status_code == 404
    assert client.get("/api/v1/evaluations/99").status_code == 404
    assert client.get(f"/api/v1/evaluations/{2**63}").status_code == 422


def test_hidden_rows_are_for_models_inside_alone(place, database, settings):
    here = place()
    here.dataset("closed", statements(9), "hidden")
    here.dataset("open", statements(9))
    here.submit("sentiment-ngram", inside=False)
    here.submit("sentiment-ngram", kind="predictions", version="other")
    here.submit("sentiment-ngram", state="withdrawn", version="third")
    here.submit("sentiment-ngram", version="fourth")
    assert [here.queue(submission=number) for number in (1, 2, 3, 4)] == [1, 0, 0, 2]
    with database._reads() as session:
        assert Counter(session.scalars(select(Evaluation.submission_id))) == {1: 1, 4: 2}


@ON_ONE
def test_what_the_ladder_holds_back_is_on_no_page_and_in_no_record(evaluated, client, sam, by_hand):
    evaluated.queue(submission=evaluated.submit("sentiment-ngram", sam.id))
    for number in (4, 5, 6):
        by_hand(number)
    for caller in (client, sam):
        assert caller.get("/api/v1/evaluations/3/record").status_code == 200
        assert caller.get("/api/v1/evaluations/6/record").status_code == 403
        assert {"accuracy", "f1"} <= {item["metric"] for item in scores_of(caller, 3)}
        assert {element["metric"] for element in scores_of(caller, 6)} <= {"throughput", "memory", "latency_p50",
                                                                    "latency_p95", "size", "others"}  # fmt: skip
        assert {"accuracy", "f1"} <= {score["metric"] for score in scores_of(caller, 5)}, (
            "that is for hidden data alone"
        )
        page = caller.get("/evaluations/6").text
        assert "Its scores are held back" in page
        assert "/api/v1/evaluations/6/record" not in page


@ON_ONE
def test_of_a_run_before_one_that_failed_no_scores_on_hidden_data_are_told(evaluated, database, sam):
    def reopened(session):
        session.get_one(Evaluation, 3).state = "failed"

    database.write(reopened)
    assert not {"accuracy", "f1"} & {score["metric"] for score in scores_of(sam, 3)}


def scores_of(caller, evaluation):
    return caller.get(f"/api/v1/evaluations/{evaluation}/scores").json()["items"]
