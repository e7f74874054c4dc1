"""Entering what the deployment serves: a released round's targets by themselves, any model from its page."""

import json

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from dynabench.benchmark.registry import platform_submissions
from dynabench.benchmark.registry.tables import Submission
from dynabench.cli import app
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.models import catalog
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, Target, Task, TaskVersion
from tests.cli.test_dataset import here
from tests.jobs.conftest import until, worker
from tests.releases.world import collected, released

__all__ = ["here", "worker"]
SHIPPED = "nli-ngram"


def closed_once(settings):
    """A closed round against a shipped model, the model `m` of no machine, and an older version of the shipped one."""
    database = Database(settings.url)
    world = collected(database, writers=4)
    shipped = catalog.entry(SHIPPED)

    def close(session):
        row = session.get_one(Round, world.round_id)
        row.targets += [Target(position=1, model=SHIPPED, version=shipped.card.version)]
        row.targets += [Target(position=2, model=SHIPPED, version="before")]
        rounds.close_round(session, None, world.task, 1)

    database.write(close)
    database.close()
    return world


@pytest.fixture
def furnish():
    return closed_once


@pytest.fixture
def world(furnished, database):
    return furnished[1].moved_to(database)


def target_jobs(world):
    """The jobs that enter targets."""
    return world.db.read(lambda s: s.scalars(select(jobs.Job).where(jobs.Job.kind == "enter_targets")).all())


@pytest.mark.slow
def test_a_released_round_s_targets_are_entered_for_its_task_once(world, settings):
    released(world, settings)
    [job] = target_jobs(world)
    entered = world.db.write(platform_submissions.submit_missing_targets, job.payload["task"], job.payload["round"])
    [created] = world.db.read(lambda s: s.scalars(select(Submission)).all())
    assert entered == [created.id]
    assert (created.task_id, created.state, created.model) == (world.task, "ready", SHIPPED)
    assert world.db.write(platform_submissions.submit_missing_targets, world.task, 1) == []


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_round_released_by_the_command_is_a_board_with_its_target_scored(world, client, worker):
    done = CliRunner().invoke(app, ["round", "release", world.task, "--round", "1", "--anyway", "--json"])
    assert done.exit_code == 0, done.output
    [job] = target_jobs(world)
    again = CliRunner().invoke(app, ["round", "release", world.task, "--round", "1", "--json"])
    assert json.loads(again.stdout)["digest"] == json.loads(done.stdout)["digest"]
    assert [item.id for item in target_jobs(world)] == [job.id], "a round that is released already enters nobody anew"
    worker.start()

    def scored():
        rows = client.get(f"/api/v1/tasks/{world.task}/leaderboard").json()["rows"]
        return [row for row in rows if row["metrics"]["accuracy"]["value"] is not None]

    [row] = until(scored)
    assert (row["model"], row["submitter"]) == (SHIPPED, "")


@pytest.mark.slow
def test_who_submits_a_model_under_the_name_of_a_target_is_sent_to_its_page(world, person):
    olga = person("olga")
    world.db.write(rounds.set_role, None, world.task, "olga", "owner")
    refused = olga.post(
        f"/api/v1/tasks/{world.task}/submissions", json={"kind": "hub", "name": SHIPPED, "hub": "owner/name"}
    )
    assert refused.status_code == 422
    assert list(refused.json()["fields"]) == ["name"]
    assert refused.json()["fields"]["name"] == (
        f"A model called {SHIPPED} already exists here. Submit it to a matching task of yours from its page; "
        "for a new model, choose another name."
    )


def test_targets_of_a_task_that_changed_its_labels_are_not_entered(world):
    def change(session):
        source = world.source.replace("contradiction", "contrary")
        version = TaskVersion(task_id=world.task, number=2, source=source)
        session.add(version)
        session.flush()
        session.get_one(Task, world.task).version_id = version.id

    world.db.write(change)
    assert world.db.write(platform_submissions.submit_missing_targets, world.task, 1) == []


def test_a_model_s_page_enters_it_for_an_owner_s_other_task(world, client, browser, person):
    person("olga")
    world.db.write(rounds.set_role, None, world.task, "olga", "owner")
    olga = browser()
    olga.log_in("olga")
    page, offer = "/models/nli-b", f"Submit to {world.task}"
    assert offer not in client.get(page).text
    assert offer in olga.get(page).text
    assert olga.submit(f"{page}/enter", page, task=world.task).status_code == 303
    [created] = world.db.read(lambda s: s.scalars(select(Submission)).all())
    assert (created.task_id, created.model, created.state) == (world.task, "nli-b", "ready")
    assert offer not in olga.get(page).text
