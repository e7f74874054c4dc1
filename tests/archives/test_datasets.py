"""Datasets in archives: public ones come back row by row; of all others nothing leaves; changed ones are refused."""

import json

import pytest
from sqlalchemy import select

from dynabench.datasets import library, stored
from dynabench.datasets.archives import layout
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.errors import Invalid
from dynabench.rounds import service
from tests.archives.packing import bring, files, packed, put_together

LABELS = ("entailment", "neutral", "contradiction")
ROWS = [
    StoredRow(
        f"r{n}", {"premise": f"Ein Satz {n} — “so”.", "hypothesis": "It rains 🌧."}, ({"label": label},), ("weather",)
    )
    for n, label in enumerate(LABELS)
]
FILE = layout.data_file("weather")


def add(world, settings, name="weather", rows=ROWS, visibility="public", kind="rows", **more):
    """A dataset that is ready."""
    written = stored.write_rows(settings, rows)
    settled = DatasetSettings(title="Weather, small", card="Made *here*.", licence="CC0-1.0", languages=["de"],
                      weight=3, visibility=visibility, kind=kind)  # fmt: skip

    def make(session):
        dataset = library.add_dataset(session, None, "checks", name, settled, **more)
        library.publish_version(session, library.draft_version(session, None, dataset).id, written)

    world.db.write(make)


def find_datasets(db, task):
    """The datasets of a task with their rows' digests."""
    text = select(Dataset, DatasetVersion.digest).join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    lines = db.read(lambda session: session.execute(text.where(Dataset.task_id == task).order_by(Dataset.name)).all())
    members = ("name", "title", "card", "licence", "languages", "weight", "visibility", "kind")
    return {tuple(map(str, (getattr(item, name) for name in members))): digest for item, digest in lines}


def test_public_datasets_come_back_row_by_row(world, settings, elsewhere, other_settings, tmp_path):
    add(world, settings)
    add(world, settings, "more-weather", ROWS[:2], kind="suite")
    archive = packed(world.db, settings, "checks")
    created = bring(elsewhere, other_settings, archive, "copy", tmp_path)
    assert (created.refused, created.manifest.rows["datasets"]) == ([], 2)
    assert find_datasets(elsewhere, "copy") == find_datasets(world.db, "checks")
    (digest,) = {digest for about, digest in find_datasets(elsewhere, "copy").items() if about[0] == "weather"}
    assert list(stored.read_rows(other_settings, digest)) == ROWS
    again = files(packed(elsewhere, other_settings, "copy"))
    assert [again[name] for name in (layout.DATASETS, FILE)] == [
        files(archive)[name] for name in (layout.DATASETS, FILE)
    ]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_rows_that_are_not_public_leave_by_no_archive(world, settings):
    for visibility in ("hidden", "scoring"):
        add(world, settings, visibility, [StoredRow("s", ROWS[0].inputs, ROWS[0].answers)], visibility)
    text = b"".join(files(packed(world.db, settings, "checks")).values())
    assert b"Ein Satz" not in text
    assert b"Weather, small" not in text
    add(world, settings)
    assert layout.DATASETS in files(blank := packed(world.db, settings, "checks", examples=False))
    assert FILE not in files(blank), "a clone begins without"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_rows_that_the_newest_config_refuses_are_left_out_and_told(world, settings, tmp_path):
    add(world, settings)
    source = world.source.replace("contradiction", "contradicts")
    world.db.write(lambda session: service.save_task(session, None, source))
    created = bring(world.db, settings, packed(world.db, settings, "checks"), "copy", tmp_path)
    [(file, line, why)] = created.refused
    assert (file, line) == (FILE, 3)
    assert "Choose one of the options" in why
    (digest,) = find_datasets(world.db, "copy").values()
    assert list(stored.read_rows(settings, digest)) == ROWS[:2]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_dataset_that_was_meddled_with_is_refused_and_nothing_is_stored(world, settings, tmp_path):
    add(world, settings)
    honest = files(packed(world.db, settings, "checks"))
    document = json.loads(honest[layout.DATASETS])

    def refused(**changed):
        parts = honest | {name: text for name, text in changed.items() if text is not None}
        parts = {name: text for name, text in parts.items() if changed.get(name, b"") is not None}
        with pytest.raises(Invalid) as caught:
            bring(world.db, settings, put_together(parts), "copy", tmp_path)
        assert find_datasets(world.db, "copy") == {}
        return caught.value.detail

    def line(**changed):
        return {layout.DATASETS: json.dumps(document | changed).encode() + b"\n"}

    assert "a file of rows" in refused(**{FILE: None})
    assert "a file of rows" in refused(**line(name="files"))
    assert "a file of rows" in refused(**{layout.DATASETS: honest[layout.DATASETS] * 2})
    assert "do not match" in refused(**{layout.data_file("other"): b""})
    assert "visibility" in refused(**line(visibility="hidden"))
    assert "kind" in refused(**line(kind="secret"))
    assert "name" in refused(**line(name="../../x"))
    assert "line 1: inputs" in refused(**{FILE: b'{"uid": "x", "inputs": 3, "answers": []}\n'})
    assert "JSON" in refused(**{FILE: b"nonsense\n"})
    assert "no such file" in refused(**{"datasets/../../x.jsonl": b""})
