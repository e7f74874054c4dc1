"""Releases as sources of training rows: their parts, what must not be learnt from, and what nobody reads."""

import shutil

import orjson
import pytest

from dynabench.benchmark.releases import release_reading, service
from dynabench.cli import training_mixes
from dynabench.kit.errors import Invalid
from dynabench.kit.settings import get_settings
from dynabench.models.training import mixing
from dynabench.models.training.mixing import Shape
from tests.releases.world import collected, released, texts

pytestmark = pytest.mark.slow


@pytest.fixture
def here(settings, monkeypatch):
    """The command line works on the deployment of the test."""
    for name, value in (("HOME", settings.home), ("DATABASE_URL", settings.url), ("SECRET", settings.secret)):
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.mark.usefixtures("here")
def test_a_release_gives_rows_to_train_on_and_keeps_the_others(database, settings, tmp_path):
    world = collected(database)
    created = released(world, settings, test=0.2, hidden=0.1, train=0.6)
    folder = service.release_folder(settings, created.id)
    result = release_reading.trainable_release(database, settings, world.task, 1)
    shape = Shape.of(result.config)
    assert shape.labels == ("entailment", "neutral", "contradiction")
    for part in release_reading.PARTS:
        lines = (folder / "data" / f"{part}.jsonl").read_bytes().splitlines() if result.rows(part, shape) else []
        assert [orjson.loads(line)["hypothesis"] for line in lines] == [
            row.inputs["hypothesis"] for row in result.rows(part, shape)
        ]
    mix = training_mixes.build_mix(world.task, [f"release:{world.task}/1:2"], [], [], None)
    assert (mix.parts[0].weight, mix.parts[0].round) == (2, 1)
    assert [row.inputs for row in mix.dev] == [row.inputs for row in result.rows("dev", shape)]
    assert [len(rows) for rows in mix.tests.values()] == [len(result.rows("test", shape))]
    read = {row.inputs["hypothesis"] for part in release_reading.PARTS for row in result.rows(part, shape)}
    parts = database.read(service.part_by_uid, created.round_id)
    hidden = {text for uid, text in texts(world).items() if parts.get(uid) in ("hidden", "withheld")}
    assert hidden
    assert not hidden & read

    stolen = tmp_path / "stolen.jsonl"
    shutil.copyfile(folder / "data" / "test.jsonl", stolen)
    mix = training_mixes.build_mix(world.task, [f"release:{world.task}/1", str(stolen)], [], [], None)
    ready = mixing.guarded(mix, 0)
    assert not ready.mix.parts[1].rows
    with pytest.raises(Invalid, match="name the release's folder"):
        training_mixes.build_mix(
            world.task, [f"release:{world.task}/1", str(folder / "data" / "test.jsonl")], [], [], None
        )
