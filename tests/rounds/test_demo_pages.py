"""Pages of demo tasks that have no history: what they say where there is nothing to show yet."""

import pytest

from dynabench.adversaries import checklist
from dynabench.operations import demo
from dynabench.rounds import service
from dynabench.tasks import shipped

TASKS = ("photographs", "ner")


@pytest.fixture
def opened(database, settings, monkeypatch):
    """The demo of two tasks, without suites."""
    some = [item for item in shipped.demo_tasks() if item.config.id in TASKS]
    monkeypatch.setattr(demo, "demo_tasks", lambda: some)
    monkeypatch.setattr(demo, "shipped_selections", list)
    monkeypatch.setattr(checklist, "shipped_suites", list)
    demo.prepare(settings)
    return database


@pytest.mark.usefixtures("opened")
def test_a_model_of_a_task_without_datasets_is_neither_evaluated_nor_ranked(client):
    page = client.get("/models/ner-tagger/scores").text
    assert "The task has no datasets yet" in page
    assert page.count("(done)") == 2


@pytest.mark.usefixtures("opened")
@pytest.mark.skipif(not shipped.has_weights("photographs"), reason="the weights are a package")
def test_a_task_of_pictures_offers_no_text(client):
    page = client.get("/tasks/photographs/create").text
    assert "Nothing is given: bring your own." in page
    assert "Start text" not in page


def test_a_dataset_shows_its_rows_in_the_order_of_the_form(database, settings, client):
    [nli] = [item for item in shipped.demo_tasks() if item.config.id == "nli"]
    database.write(service.save_task, None, nli.source)
    demo._add_suite(database, settings, checklist.load_suite("nli-phenomena"))
    page = client.get("/tasks/nli/datasets/nli-phenomena").text
    assert page.index(">Premise</th>") < page.index(">Hypothesis</th>")
