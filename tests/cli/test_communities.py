"""`dynabench class`, `team`, `competition` and `credit`: made, listed, reset and exported from the terminal."""

import csv
import io
import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.communities.classes.service import REMOVE_KIND
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.kit.settings import get_settings
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


@pytest.fixture
def run(settings, monkeypatch):
    """The command line, against the test's database; a command that fails fails the test, unless `fails`."""
    monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("DYNABENCH_SECRET", settings.secret)
    get_settings.cache_clear()

    def invoke(*words, fails=False):
        result = CliRunner().invoke(app, [*map(str, words)])
        assert (result.exit_code != 0) == fails, result.output
        return result.output if fails or "--json" not in words else json.loads(result.stdout)

    yield invoke
    get_settings.cache_clear()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))


def test_a_class_is_made_joined_graded_and_emptied(run, owner, ada, browser, database):
    school_class = run("class", "create", "nli", "Year 9", "--teacher", "ada", "--goal", "examples=2", "--json")
    assert (school_class["name"], school_class["goals"], school_class["open"]) == ("Year 9", {"examples": 2}, True)
    assert "above 0" in run("class", "create", "nli", "X", "--teacher", "ada", "--goal", "examples=none", fails=True)
    student = browser()
    joined = student.client.post(
        "/api/v1/classes/join", json={"code": school_class["join_code"], "name": "Mia", "agree": True}
    )
    assert joined.status_code in (200, 201), joined.text
    [line] = run("class", "list", "--task", "nli", "--json")
    assert (line["teacher"], line["students"], line["join_code"]) == ("ada", 1, school_class["join_code"])
    [grade] = rows_of(run("class", "export", school_class["id"]))
    assert (grade["name"], grade["examples"], grade["examples_goal"]) == ("Mia", "0", "2")
    emptied = run("class", "reset", school_class["id"], "--yes", "--json")
    assert emptied["removed"] == 1
    assert emptied["join_code"] != school_class["join_code"]
    [job] = database.read(lambda session: session.query(Job).filter_by(kind=REMOVE_KIND).all())
    assert (job.payload["class"], job.payload["withdraw"]) == (school_class["id"], False)
    assert "no such class" in run("class", "export", 999, fails=True)


def test_a_team_and_its_link(run, owner, ada, bob):
    team = run("team", "create", "Otters", "--captain", "ada", "--json")["id"]
    assert "has this name" in run("team", "create", "Otters", "--captain", "bob", fails=True)
    link = run("team", "reset", team, "--json")
    assert bob.post("/api/v1/teams/join", json={"secret": link["secret"]}).status_code == 200
    renewed = run("team", "reset", team, "--json")
    assert bob.get("/api/v1/me").status_code == 200
    assert bob.post("/api/v1/teams/join", json={"secret": link["secret"]}).status_code == 404, "the earlier link ended"
    assert renewed["link"].endswith(renewed["secret"])
    [line] = run("team", "list", "--json")
    assert (line["name"], line["captain"], line["members"]) == ("Otters", "ada", 2)
    [row] = rows_of(run("team", "export"))
    assert (row["team"], row["members"]) == ("Otters", "2")


def test_a_competition_is_run_from_the_terminal(run, owner, ada, database, tmp_path):
    team = run("team", "create", "Otters", "--captain", "ada", "--json")["id"]
    start, stop = (f"{now() + timedelta(days=days):%Y-%m-%dT%H:%M:%S}" for days in (-1, 1))
    facts = ("competition", "create", "nli", 1, "Cup", "--starts", start, "--ends", stop, "--budget", 1, "--json")
    first = run(*facts)["id"]
    run("competition", "reset", first)
    cup = run(*facts)["id"]
    assert ada.post(f"/api/v1/competitions/{cup}/entries", json={"team": team}).status_code == 204
    assert send(ada, written(draw(ada), "Nobody is there.")).status_code == 201
    assert "have written" in run("competition", "reset", cup, fails=True)
    assert "not ended" in run("competition", "finish", cup, fails=True)
    [line] = run("competition", "list", "--task", "nli", "--json")
    assert (line["id"], line["state"], line["teams"], line["round"]) == (cup, "running", 1, 1)
    [row] = rows_of(run("competition", "export", cup))
    assert (row["team"], row["spent"]) == ("Otters", "1")
    assert owner.patch(f"/api/v1/competitions/{cup}", json={"ends_at": now().isoformat()}).status_code == 200
    run("competition", "finish", cup, "--despite-pending")
    run("competition", "export", cup, "--report", "--out", tmp_path / "report.md")
    assert "Otters" in (tmp_path / "report.md").read_text()


def test_credits_name_who_chose_it_and_nobody_after_a_reset(run, owner, ada):
    assert send(ada, written(draw(ada), "Nobody is there.")).status_code == 201
    assert rows_of(run("credit", "export", "nli", 1)) == []
    run("credit", "create", "ada", "--name", "Ada Lovelace")
    assert rows_of(run("credit", "export", "nli", 1)) == [{"kind": "person", "name": "Ada Lovelace"}]
    [line] = run("credit", "list", "--json")
    assert (line["username"], line["mode"], line["name"]) == ("ada", "name", "Ada Lovelace")
    run("credit", "reset", "ada")
    assert run("credit", "list", "--json") == []
    assert "no user called" in run("credit", "reset", "nobody", fails=True)
