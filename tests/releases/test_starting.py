"""Starting a release: what is refused and why, what a second attempt keeps, and whom its datasets name."""

import pytest
from sqlalchemy import select

from dynabench.benchmark.releases import manifest, planning, release_steps, service
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import errors
from dynabench.people.accounts.tables import Notice
from dynabench.tasks.sections import ReleaseSettings
from tests.releases.world import collected_once


@pytest.fixture
def furnish():
    return collected_once


@pytest.fixture
def world(furnished, database):
    world = furnished[1].moved_to(database)
    world.db.write(service.rounds.close_round, None, world.task, 1)
    return world


def prepare(world, seed, person=None):
    rules = ReleaseSettings(seed=seed)
    return world.db.write(lambda session: service.prepare_release(session, person, world.task, 1, rules, True).id)


def state_and_seed(world):
    release = world.db.read(service.release_of_round, world.task, 1)
    return release.state, release.rules["seed"]


def test_a_failure_before_the_round_is_frozen_leaves_the_rules_open(world):
    release_id = prepare(world, seed=1)
    world.db.write(service.fail_release, release_id, "The disk is full.")
    assert prepare(world, seed=2) == release_id
    assert state_and_seed(world) == ("queued", 2)


@pytest.mark.slow
def test_a_failure_after_the_round_is_frozen_keeps_the_rules_and_the_parts(world, settings):
    release_id = prepare(world, seed=1)
    release_steps.freeze_round(world.db, settings, release_id)
    parts = world.db.read(service.part_by_uid, world.round_id)
    world.db.write(service.fail_release, release_id, "The disk is full.")
    assert prepare(world, seed=2) == release_id
    assert state_and_seed(world) == ("writing", 1)
    release_steps.make_release(world.db, settings, release_id)
    assert state_and_seed(world) == ("ready", 1)
    assert world.db.read(service.part_by_uid, world.round_id) == parts


def test_a_failure_is_reported_to_the_owner_who_started_it(world):
    release_id = prepare(world, seed=1, person=world.owner)
    world.db.write(service.fail_release, release_id, "The disk is full.")
    [notice] = world.db.read(lambda session: session.scalars(select(Notice)).all())
    assert (notice.person_id, notice.kind, notice.text) == (world.owner.id, "dataset", "Round 1 is not released.")
    assert notice.link == "/tasks/checks/manage/rounds/1/release"


@pytest.mark.slow
def test_both_datasets_name_the_owner_who_started_the_release(world, settings):
    release = release_steps.make_release(world.db, settings, prepare(world, seed=0, person=world.owner))

    def creators(session):
        for dataset_id in (release.test_id, release.hidden_id):
            yield session.get_one(Dataset, session.get_one(DatasetVersion, dataset_id).dataset_id).created_by
            yield session.get_one(DatasetVersion, dataset_id).created_by

    assert world.db.read(lambda session: list(creators(session))) == [world.owner.id] * 4
    titles = world.db.read(lambda session: set(session.scalars(select(Dataset.title))))
    assert titles == {"Round 1, test part", "Round 1, hidden part"}
    again = release_steps.write_files(world.db, settings, release.id)
    assert again.digest == release.digest, "a release that is written is read"


def test_a_folder_without_a_manifest_is_no_release(tmp_path):
    with pytest.raises(errors.Invalid) as refused:
        manifest.read_manifest(tmp_path)
    assert refused.value.fields == {"folder": f"{tmp_path} is not a release: it has no readable manifest.json."}


def test_a_round_that_was_never_opened_or_is_too_large_says_so(world, settings, monkeypatch):
    monkeypatch.setattr(planning, "MAX_EXAMPLES", 39)
    with pytest.raises(
        errors.Conflict, match=r"^This round has more than 39 examples, the most that can be split at once\.$"
    ):
        planning.plan_release(world.db, settings, world.task, 1)
    world.state("draft")
    with pytest.raises(errors.Conflict, match=r"^Round 1 was never opened\.$"):
        planning.plan_release(world.db, settings, world.task, 1)
