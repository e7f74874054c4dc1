"""Wherever rates of a round against several models are shown, each model has those of its own answers."""

import html
import re

import pytest
from sqlalchemy import select, update

from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.tables import Dataset
from dynabench.models.client import Host
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round, Target, TaskVersion
from tests import boards
from tests.collection.conftest import nli
from tests.collection.oip import Rule, RuleHost
from tests.sheets import rows_of

from . import two_targets
from .world import World

OWN = {"m": {"mer": 0.2, "vmer": 0.1}, "weak": {"mer": 0.7, "vmer": 0.4}}  # counted in `two_targets.collect`
TOGETHER = {"mer": 0.8, "vmer": 0.4}


@pytest.fixture
def host():
    """A host of both models, and of another version of the second."""
    rules = [Rule(name, "nli", nli) for name in OWN]
    for rule, version in zip(rules, ("1", "2"), strict=True):
        rule.version = version
    running = RuleHost(*rules)
    yield Host(running.url, 2.0)
    running.stop()


@pytest.fixture
def world(database, client) -> World:
    world = World(database)
    two_targets.collect(world)
    yield world
    client.portal.call(client.app.state.host.close)


@pytest.fixture
def owner(world, person):
    created = person("olga")
    world.db.write(lambda session: setattr(session.get_one(Person, created.id), "admin", True))
    return created


def values(row):
    return {name: row[name]["value"] for name in ("mer", "vmer")}


def words(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def table_rows(page, heading):
    """The words of each row of the table that follows a heading."""
    after = page.partition(heading)[2]
    assert after, page
    body = after.partition("<tbody>")[2].partition("</tbody>")[0]
    return [words(row) for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)]


def against(world, rule, also=False):
    """Change when the ensemble counts as fooled, and whether examples that fooled no model are checked."""

    def write(session):
        origin = session.get_one(Round, world.round_id)
        origin.fooled_when = rule
        if also:
            version = session.get_one(TaskVersion, origin.version_id)
            version.source = version.source.replace("also_not_fooled: false", "also_not_fooled: true")

    world.db.write(write)


def test_the_statistics_of_a_round_have_each_target_apart(world, client):
    document = client.get("/api/v1/tasks/checks/rounds/1/statistics").json()
    assert values(document) == TOGETHER
    assert [(element["model"], element["version"]) for element in document["targets"]] == [("m", "1"), ("weak", "2")]
    assert {target["model"]: values(target) for target in document["targets"]} == OWN
    programs = client.get("/api/v1/tasks/checks/rounds/1/statistics?sources=program").json()
    assert {item["model"]: item["examples"] for item in programs["targets"]} == {"m": 1, "weak": 1}
    assert {this_target["model"]: this_target["vmer"]["value"] for this_target in programs["targets"]} == {
        "m": 1.0,
        "weak": 0.0,
    }


def test_owners_break_figures_down_by_target(world, owner, browser):
    document = owner.get("/api/v1/tasks/checks/rounds/1/figures?by=target").json()
    assert values(document["total"]) == TOGETHER
    assert {item["value"]: values(item) for item in document["items"]} == OWN
    mine = browser()
    mine.log_in(owner.name)
    rows = rows_of(mine.get("/tasks/checks/manage/figures.csv?by=target").text)
    assert {row["target"]: {name: float(row[name]) for name in ("mer", "vmer")} for row in rows} == OWN
    page = mine.get("/tasks/checks/manage/figures").text
    strong, weak = table_rows(page, 'aria-labelledby="by-target"><table')
    assert "20.0%" in strong
    assert "10.0%" in strong
    assert "70.0%" in weak


def test_the_page_of_a_round_has_a_table_of_each_model_by_itself(world, client):
    strong, weak = table_rows(client.get("/tasks/checks/rounds/1").text, 'id="targets-title"')
    assert re.match(r"m 2 1 20\.0% .* 10\.0% ", strong), strong
    assert re.match(r"weak 7 4 70\.0% .* 40\.0% ", weak), weak


@pytest.mark.slow
def test_a_model_s_page_has_the_rates_of_its_own_answers(world, client):
    for name, own in OWN.items():
        [played] = client.get(f"/api/v1/models/{name}").json()["rounds"]
        assert played["targets"] == ["m", "weak"]
        assert values(played) == own
        view = words(client.get(f"/models/{name}").text.partition('id="rounds-title"')[2])
        assert f"vMER {own['vmer']:.1%}" in view


def test_the_task_s_page_tells_the_models_apart(world, client):
    page = words(client.get("/tasks/checks").text)
    assert re.search(r"vMER of all models together 40\.0%", page)
    assert re.search(r"m vMER 10\.0%.*weak vMER 40\.0%", page)


@pytest.mark.slow
def test_a_round_against_one_model_says_nothing_of_several(database, client):
    world = World(database)
    two_targets.decide(world, world.example(world.person()), "correct")
    assert "together" not in words(client.get("/tasks/checks").text)
    assert "together" not in words(client.get("/").text)
    assert 'id="targets-title"' not in client.get("/tasks/checks/rounds/1").text
    client.portal.call(client.app.state.host.close)


def test_a_line_of_the_matrix_has_the_rate_of_that_version_of_the_model(world, client):
    """On the board are `m` 1, and `weak` in the versions 2, which was a target, 3, which was one too, and 4."""
    versions = [("m", "1"), ("weak", "2"), ("weak", "3"), ("weak", "4")]

    def enter(session):
        session.add(Target(round_id=world.round_id, position=2, model="weak", version="3"))
        ids = boards.furnish(session, "checks", (0.9, 0.8, 0.7, 0.6), ("first",), ("accuracy",), rows=60)
        for id, (name, version) in zip(ids, versions, strict=True):
            changed = {"name": name, "model": name, "version": version}
            session.execute(update(Submission).where(Submission.id == id).values(**changed))
        dataset = session.scalars(select(Dataset)).one()
        dataset.round_id, dataset.kind = world.round_id, "round"
        return dict(zip(ids, versions, strict=True))

    ids = world.db.write(enter)
    items = client.get("/api/v1/tasks/checks/matrix").json()["items"]
    rates = {ids[item["entrant"]["id"]]: item["cells"][0]["vmer"] for item in items}
    assert rates["m", "1"]["value"] == 0.1
    assert rates["weak", "2"]["value"] == 0.4
    assert rates["weak", "3"] == {"value": None, "low": None, "high": None, "n": 0}
    assert rates["weak", "4"] is None
    rows = rows_of(client.get("/tasks/checks/matrix.csv").text)
    result = [(row["model"].split(" ")[0], row["in_the_loop"], row["vmer"]) for row in rows]
    assert result == [("m", "True", "0.1"), ("weak", "True", "0.4"), ("weak", "True", ""), ("weak", "False", "")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "also", "expected"), [("any", False, False), ("all", False, True), ("majority", True, False)]
)
def test_a_vmer_that_may_be_higher_says_so(world, client, owner, browser, rule, also, expected):
    against(world, rule, also)
    answer = "a lower bound"
    document = client.get("/api/v1/tasks/checks/rounds/1/statistics").json()
    assert {target["vmer_is_lower_bound"] for target in document["targets"]} == {expected}
    assert client.get("/api/v1/models/m").json()["rounds"][0]["vmer_is_lower_bound"] is expected
    mine = browser()
    mine.log_in(owner.name)
    for address in ("/tasks/checks", "/tasks/checks/rounds/1", "/models/m", "/tasks/checks/manage/figures"):
        assert (answer in words(mine.get(address).text)) is expected, address
