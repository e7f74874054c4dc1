"""Entering what the deployment serves: a released round's targets by themselves, any model from its page."""

import pytest
from sqlalchemy import select

from dynabench import jobs
from dynabench.models import catalog
from dynabench.registry import targets
from dynabench.registry.tables import Submission
from dynabench.releases import service as releases
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, Target, Task, TaskVersion
from tests.validation.world import World

SHIPPED = "nli-ngram"


@pytest.fixture
def world(database):
    """A closed round against a shipped model, the model `m` of no machine, and an older version of the shipped one."""
    world = World(database)
    shipped = catalog.entry(SHIPPED)

    def close(session):
        row = session.get_one(Round, world.round_id)
        row.targets += [Target(position=1, model=SHIPPED, version=shipped.card.version)]
        row.targets += [Target(position=2, model=SHIPPED, version="before")]
        rounds.close_round(session, None, world.task, 1)

    database.write(close)
    return world


def test_a_released_round_s_targets_are_entered_for_its_task_once(world):
    def release(session):
        releases.start(session, None, world.task, 1, releases.rules_of(session, world.task, 1, {}), True)

    world.db.write(release)
    [job] = world.db.read(lambda s: s.scalars(select(jobs.Job).where(jobs.Job.kind == "enter_targets")).all())
    entered = world.db.write(targets.missing, job.payload["task"], job.payload["round"])
    [made] = world.db.read(lambda s: s.scalars(select(Submission)).all())
    assert entered == [made.id]
    assert (made.task_id, made.state, made.model) == (world.task, "ready", SHIPPED)
    assert world.db.write(targets.missing, world.task, 1) == []


def test_targets_of_a_task_that_changed_its_labels_are_not_entered(world):
    def change(session):
        source = world.source.replace("contradiction", "contrary")
        version = TaskVersion(task_id=world.task, number=2, source=source)
        session.add(version)
        session.flush()
        session.get_one(Task, world.task).version_id = version.id

    world.db.write(change)
    assert world.db.write(targets.missing, world.task, 1) == []


def test_a_model_s_page_enters_it_for_an_owner_s_other_task(world, client, browser, person):
    person("olga")
    world.db.write(rounds.set_role, None, world.task, "olga", "owner")
    olga = browser()
    olga.log_in("olga")
    page, offer = "/models/nli-b", f"Enter it for {world.task}"
    assert offer not in client.get(page).text
    assert offer in olga.get(page).text
    assert olga.submit(f"{page}/enter", page, task=world.task).status_code == 303
    [made] = world.db.read(lambda s: s.scalars(select(Submission)).all())
    assert (made.task_id, made.model, made.state) == (world.task, "nli-b", "ready")
    assert offer not in olga.get(page).text
