"""The pages, files, API and command of what the data are like."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from dynabench.cli import app as command
from dynabench.insight.data_measurements import jobs
from dynabench.kit.settings import get_settings
from dynabench.rounds import service
from dynabench.rounds.tables import Round
from tests.data_measurements.test_rounds import fill
from tests.validation.world import World

PAGE, API = "/tasks/checks/rounds/1/data", "/api/v1/tasks/checks/rounds/1/measures"


@pytest.fixture
def world(database, client) -> World:
    return World(database)


def measured(world, **how):
    fill(world, **how)
    jobs.measure_and_store(world.db, world.round_id)


def test_a_round_that_was_not_measured_says_when_it_will_be(world, client):
    assert "Not measured yet" in client.get(PAGE).text
    assert client.get(API).json()["measures"] == []
    assert client.get("/tasks/checks/rounds/9/data").status_code == 404


@pytest.mark.release
def test_the_page_its_files_and_the_api_say_the_same(world, client):
    measured(world, planted=True)
    page = client.get(PAGE).text
    result = client.get(API).json()
    for item in result["measures"]:
        assert item["title"] in page
    answers = next(item for item in result["measures"] if item["name"] == "label_balance")["tables"][0]
    sheet = client.get(f"{PAGE}/label_balance/answers.csv")
    lines = list(csv.reader(io.StringIO(sheet.text.removeprefix("\ufeff"))))
    assert lines[0] == [item["name"] for item in answers["columns"]]
    assert [line[0] for line in lines[1:]] == [row[0] for row in answers["rows"]]
    assert client.get(f"{PAGE}/label_balance/nothing.csv").status_code == 404
    assert "gini" in client.get("/tasks/checks/rounds.csv").text
    assert [item["round"] for item in client.get("/api/v1/tasks/checks/measures").json()["items"]] == [1]
    round_page = client.get("/tasks/checks/rounds/1").text
    assert round_page.count("/data#") == 4
    assert f'href="{PAGE}#label_balance"' in round_page


@pytest.mark.release
def test_few_writers_are_on_show_to_nobody_but_those_who_run_the_task(world, client, person):
    measured(world, people=3, examples=12)
    assert "Too few writers yet" in client.get(PAGE).text
    assert client.get(f"{PAGE}/writers/figures.csv").status_code == 404
    assert client.get(API).json()["measures"] == []
    assert "/data#" not in client.get("/tasks/checks/rounds/1").text
    owner = person("olga")
    world.db.write(service.set_role, None, "checks", "olga", "owner")
    assert owner.get(API).json()["measures"] == []  # a token to read with shows what everybody sees


@pytest.mark.release
def test_an_owner_has_a_round_measured_once_at_a_time(world, browser, person):
    fill(world)
    person("olga")
    world.db.write(service.set_role, None, "checks", "olga", "owner")
    page = browser()
    page.log_in("olga")
    address = "/tasks/checks/manage/rounds/1/data"
    assert "Measure now" in page.get(address).text
    for _ in range(2):
        assert page.submit(address, page="/settings").status_code == 303
    assert "Being measured…" in page.get(address).text
    jobs.measure_and_store(world.db, world.round_id)
    assert "Answers are about equally frequent" in page.get(address).text


@pytest.mark.release
def test_the_command_measures_rounds_and_says_how_they_differ(world, settings, monkeypatch, request):
    from dynabench.insight.data_measurements import sample

    fill(world)

    def second(session):
        second = Round(task_id="checks", number=2, version_id=world.version_id, state="open")
        session.add(second)
        session.flush()
        return second.id

    world.state("closed")
    world.round_id = world.db.write(second)
    fill(world, planted=True)
    monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", settings.url)
    monkeypatch.setenv("DYNABENCH_SECRET", settings.secret)
    request.addfinalizer(get_settings.cache_clear)
    get_settings.cache_clear()
    monkeypatch.setattr(sample, "find_encoder", lambda: None)
    process = CliRunner().invoke(command, ["measure", "checks", "--json"])
    assert process.exit_code == 0, process.output
    rounds = json.loads(process.output)
    assert [item["round"] for item in rounds] == [1, 2]
    assert "similarity" in [item["name"] for item in rounds[1]["measures"]]
    result = CliRunner().invoke(command, ["measure", "checks", "--kept"])
    assert "Across rounds" in result.output
