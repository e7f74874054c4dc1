"""Readers of a release: `datasets`, `mlcroissant`, the Hub's metadata, and this platform itself."""

import json
import warnings

import pytest
import yaml
from huggingface_hub import DatasetCard

from dynabench.benchmark.releases import release_reading, service
from dynabench.datasets.archives import layout
from dynabench.datasets.archives import service as direct
from dynabench.kit.db import Database
from dynabench.kit.errors import Invalid
from tests.archives.packing import alike, files, packed
from tests.releases.world import collected, released


def released_once(settings):
    database = Database(settings.url)
    world = collected(database, writers=8)
    created = released(world, settings)
    database.close()
    return world, created


@pytest.fixture
def furnish():
    return released_once


@pytest.fixture
def release(furnished, database, settings):
    world, created = furnished[1]
    return world.moved_to(database), created, service.release_folder(settings, created.id)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_datasets_loads_the_folder(release, tmp_path, monkeypatch):
    _, created, folder = release
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own dependencies' deprecations
        from datasets import load_dataset

        data = load_dataset(str(folder), cache_dir=str(tmp_path))
        apart = load_dataset(str(folder), "apart", cache_dir=str(tmp_path))
        lines = load_dataset("json", data_files=str(folder / "data/train.jsonl"), cache_dir=str(tmp_path))
    report = created.report["parts"]
    assert {name: len(rows) for name, rows in data.items()} == {
        "train": report["train"], "validation": report["dev"], "test": report["test"],
    }  # fmt: skip
    first, same = data["train"][0], lines["train"][0]
    assert {name: first[name] for name in ("premise", "hypothesis", "label", "uid", "canary")} == {
        name: same[name] for name in ("premise", "hypothesis", "label", "uid", "canary")
    }
    assert first["predictions"][0]["model"] == "m"
    assert set(apart) == {"rejected", "unverified"}


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_croissant_is_valid_and_leads_to_the_rows(release):
    _, created, folder = release
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlcroissant

        dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
        assert not dataset.metadata.ctx.issues.errors
        assert not dataset.metadata.ctx.issues.warnings, "no recommended member is missing"
        rows = list(dataset.records("test"))
    assert len(rows) == created.report["parts"]["test"]
    documents = [json.loads(line) for line in (folder / "data/test.jsonl").read_bytes().splitlines()]
    assert [row["test/hypothesis"].decode() for row in rows] == [row["hypothesis"] for row in documents]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_card_says_where_the_splits_are_and_how_models_are_evaluated(release):
    _, created, folder = release
    card = DatasetCard.load(folder / "README.md")
    assert card.data.license == "cc-by-4.0"
    assert card.data.train_eval_index[0]["col_mapping"]["label"] == "target"
    assert {config["config_name"] for config in card.data.configs} == {"default", "apart"}
    task = yaml.safe_load((folder / "eval.yaml").read_text())["tasks"][0]
    assert task["field_spec"] == {"input": "hypothesis", "target": "label", "id": "uid", "metadata": ["premise"]}
    assert task["split"] == "test"
    assert f"| train | {created.report['parts']['train']} |" in card.text


def test_a_release_is_imported_to_the_same_round(release, settings, tmp_path):
    world, created, folder = release
    release_reading.to_archive(folder, tmp_path / "a.zip")
    brought = direct.import_archive(world.db, settings, tmp_path / "a.zip", "copy")
    assert (brought.refused, brought.notes) == ([], {})
    assert brought.manifest.rows["examples"] == 32 - created.report["parts"]["hidden"] - created.report["parts"].get(
        "withheld", 0
    )
    mine = alike((tmp_path / "a.zip").read_bytes(), "checks")
    theirs = alike(packed(world.db, settings, "copy"), "checks")
    for name in mine:
        assert mine[name] == theirs[name], name
    assert mine == theirs, "config, round, contexts and examples with votes, under the pseudonyms of the release"
    own = files(packed(world.db, settings, "checks"))
    rounds = [json.loads(own[layout.ROUNDS]), json.loads(theirs[layout.ROUNDS])]
    assert rounds[0] == rounds[1]
    assert len(own[layout.EXAMPLES].splitlines()) == brought.manifest.rows["examples"], "archives withhold it too"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_changed_release_is_refused(release, tmp_path):
    *_, folder = release
    path = folder / "data/train.jsonl"
    path.write_bytes(path.read_bytes().replace(b"correct", b"incorrect"))
    with pytest.raises(Invalid, match=r"data/train.jsonl differs from the file"):
        release_reading.to_archive(folder, tmp_path / "a.zip")
