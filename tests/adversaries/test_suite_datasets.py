"""Suites as datasets: the file that the command writes is the dataset that the demo adds, and nothing comes twice."""

import json

import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner

from dynabench.adversaries import checklist
from dynabench.benchmark.registry.tables import Submission
from dynabench.cli import app
from dynabench.datasets import library, stored
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.jobs import Job
from dynabench.kit.settings import get_settings
from dynabench.operations import demo, demo_history


@pytest.fixture
def here(settings, monkeypatch):
    get_settings.cache_clear()
    for name, value in (("HOME", settings.home), ("DATABASE_URL", settings.url), ("SECRET", settings.secret)):
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    yield
    get_settings.cache_clear()


def newest(database, task, name):
    def read(session):
        dataset = session.scalar(library.dataset_named(task, name))
        return (
            dataset.kind,
            dataset.visibility,
            dataset.licence,
            session.get_one(DatasetVersion, dataset.version_id).digest,
        )

    return database.read(read)


@pytest.mark.release
def test_the_demo_adds_every_suite_once_and_a_suites_file_gives_the_same_rows(
    database, settings, here, tmp_path, monkeypatch
):
    monkeypatch.setattr(demo_history, "read_archive", lambda task: None)
    demo.prepare(settings)
    demo.prepare(settings)
    suites = select(func.count(Dataset.id)).where(Dataset.kind == "suite")
    assert database.read(lambda session: session.scalar(suites)) == len(checklist.shipped_suites())
    queued = select(func.count(Job.id)).where(Job.kind == "queue_evaluations")
    entered = database.read(lambda session: session.scalar(select(func.count(Submission.id))))
    scored = select(func.count(Dataset.id)).where(Dataset.kind != "pool")
    assert database.read(lambda session: session.scalar(queued)) == entered + database.read(lambda s: s.scalar(scored))
    for name in checklist.shipped_suites():
        suite = checklist.load_suite(name)
        kind, visibility, licence, digest = newest(database, suite.task, name)
        assert (kind, visibility, licence) == ("suite", "public", "CC-BY-4.0")
        tags = {tag for row in stored.read_rows(settings, digest) for tag in row.tags}
        assert tags == {phenomenon.name for phenomenon in suite.phenomena}
    file = tmp_path / f"{name}.jsonl"
    assert CliRunner().invoke(app, ["adversary", "suite", name, "--out", str(file)]).exit_code == 0
    result = CliRunner().invoke(app, ["dataset", "add", suite.task, "from-file", str(file), "--suite", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["digest"] == digest


def test_the_command_lists_suites_and_names_them_where_one_is_unknown():
    listed = CliRunner().invoke(app, ["adversary", "suite", "list", "--json"])
    assert [item["name"] for item in json.loads(listed.stdout)["suites"]] == checklist.shipped_suites()
    wrong = CliRunner().invoke(app, ["adversary", "suite", "nope"])
    assert wrong.exit_code == 1
    assert "nli-phenomena" in str(wrong.exception) + wrong.output
