"""`/readyz` and the pages say what is awaited, how far it is, and heal by themselves."""

import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from dynabench.kit.errors import Unavailable
from dynabench.models import catalog
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.repository import Repository
from dynabench.operations import demo
from dynabench.rounds import service
from dynabench.rounds.demo import demo_progress
from dynabench.site.app import create_app
from dynabench.tasks import shipped_tasks
from dynabench.tasks.shipped import demo_tasks, shipped_selections
from tests.jobs.conftest import until
from tests.models.conftest import served
from tests.models.waiting import until_ready

DEMO_TASKS = len(demo_tasks()) + len(shipped_selections())


@pytest.fixture
def settings(settings):
    """Those of a web process beside `dynabench serve --demo`."""
    return settings.model_copy(update={"demo": True})


def first_task(database, models: Path | None = None) -> None:
    """The first task of the demo, as far as `demo.prepare` gets with it."""
    [task] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]
    cards = [entry.card for entry in catalog.find([models or BUILTIN]) if entry.card]
    own = [card for card in cards if card.name == "sentiment-ngram"]
    database.write(demo._add_task, task, list(task.contexts()), own, own)


def test_the_first_visitor_reads_how_far_the_demo_is(client, database):
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert ready.headers["Retry-After"]
    assert {"what": "demo tasks", "done": 0, "of": DEMO_TASKS} in ready.json()["awaited"]
    home = client.get("/")
    assert home.status_code == 200
    assert f"Setting up the demo: 0 of {DEMO_TASKS} tasks" in home.text
    assert "No tasks yet" not in home.text
    assert home.headers["Refresh"]
    for path in ("/tasks/sentiment", "/tasks/sentiment/create", "/tasks/nli/rounds/1"):
        page = client.get(path)
        assert (page.status_code, page.headers["Refresh"]) == (503, "2"), path
        assert "Setting up the demo" in page.text
        assert "Not found" not in page.text
    answer = client.get("/api/v1/tasks/sentiment")
    assert (answer.status_code, answer.json()["retry_after"]) == (503, 2)
    assert client.get("/tasks/nosuch").status_code == 404


def test_the_part_of_the_page_that_waits_asks_for_itself(client, database):
    first_task(database)
    home = client.get("/")
    assert f"Setting up the demo: 1 of {DEMO_TASKS} tasks" in home.text
    assert "Refresh" not in home.headers, "what somebody writes into the box is not lost"
    assert 'id="trybox"' in home.text
    part = client.get("/", headers={"HX-Request": "true"}).text
    assert part.count("<section") == 1
    assert 'hx-get="/"' in part
    assert "<html" not in part


@pytest.mark.slow
def test_all_is_there_once_the_demo_is_set_up(client, database, settings):
    assert client.get("/readyz").status_code == 503
    demo.prepare(settings)
    awaited = until(lambda: (result := client.get("/readyz").json()["awaited"])[0]["what"] != "demo tasks" and result)
    assert {"what": "host"} in awaited, "nobody started one"
    [models] = [item for item in awaited if item["what"] == "models"]
    assert models["done"] == 0
    assert "sentiment-minilm" in models["names"]
    assert "Setting up" not in client.get("/").text
    assert client.get("/tasks/ner").status_code == 200


def test_a_demo_without_shipped_models_is_refused_before_anything_is_written(database, settings, tmp_path, monkeypatch):
    """Else its rounds would be open against nobody, and stay so once the models are installed."""
    monkeypatch.setattr(catalog, "BUILTIN", tmp_path)
    with pytest.raises(
        Unavailable, match=r"no shipped model for the tasks sentiment, nli,.*dynabench-platform\[models\]"
    ):
        demo.prepare(settings)
    assert database.read(demo_progress).done == 0


@pytest.mark.slow
def test_it_is_ready_once_the_models_of_open_rounds_answer_and_stays_so(settings, database, tmp_path):
    settings = settings.model_copy(update={"demo": False})
    models = tmp_path / "models"
    shutil.copytree(BUILTIN / "sentiment-ngram", models / "sentiment-ngram")
    first_task(database, models)
    address = f"unix:{tmp_path / 'host.sock'}"
    with TestClient(create_app(settings, host=Host(address, 5.0))) as client:
        before = client.get("/readyz")
        assert (before.status_code, before.json()["ready"]) == (503, False)
        assert {"what": "host"} in before.json()["awaited"]
        with served(create_host(Repository([models])), address):
            until(lambda: client.get("/readyz").status_code == 200, 60)
            assert client.get("/readyz").json() == {"database": "ok", "host": "ok", "ready": True, "awaited": []}
        until(lambda: client.get("/readyz").json()["host"] == "no answer", 60)
        assert client.get("/readyz").status_code == 200, "pages work without a host"


def test_a_model_that_no_host_can_serve_holds_up_nobody(settings, database, tmp_path):
    settings = settings.model_copy(update={"demo": False})
    models = tmp_path / "models"
    shutil.copytree(BUILTIN / "nli-ngram", models / "nli-ngram")
    first_task(database)
    with served(create_host(Repository([models])), f"unix:{tmp_path / 'host.sock'}") as address:
        until_ready(address)
        with TestClient(create_app(settings, host=Host(address, 5.0))) as client:
            response = client.get("/readyz")
            assert response.status_code == 200
            assert response.json()["unavailable"] == ["sentiment-ngram"]


@pytest.mark.slow
def test_a_try_while_the_model_is_away_is_told_in_grey(client, database, browser):
    first_task(database)
    visitor = browser()
    fields = {"input.statement": "A film.", "answer.label": "positive", "task": "sentiment"}
    page = client.get("/").text
    fields["context_id"] = page.split('name="context_id" value="')[1].split('"')[0]
    submission = visitor.submit("/try", "/", htmx=True, **fields)
    assert 'data-again="' in submission.text
    assert "callout waits" in submission.text
    assert 'role="alert"' not in submission.text
    again = browser().submit("/tasks/sentiment/create", "/tasks/sentiment/create", htmx=False,
                             **{name: value for name, value in fields.items() if name != "task"})  # fmt: skip
    assert "callout bad" not in again.text


def test_nothing_of_a_task_is_there_before_all_of_it(database):
    """A start that is killed between two steps leaves no half task, whose contexts would be added once more."""
    [task] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]
    with pytest.raises(AttributeError):
        database.write(demo._add_task, task, list(task.contexts()), ["no card"], ["no card"])
    assert database.read(lambda session: session.get(service.Task, "sentiment")) is None
