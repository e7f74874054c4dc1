"""Datasets at the command line."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.settings import get_settings
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks
from tests.datasets.library import GOOD, lines


@pytest.fixture
def here(settings, monkeypatch):
    """The command line works on the database of the test."""
    for name, value in (("HOME", settings.home), ("DATABASE_URL", settings.url), ("SECRET", settings.secret)):
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.mark.usefixtures("here")
def test_a_folder_becomes_a_dataset_and_its_rows_come_back(database, tmp_path):
    database.write(
        rounds.save_task,
        None,
        next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"),
    )
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_bytes(lines(GOOD))
    run = CliRunner()
    make = ["dataset", "add", "sentiment", "films", str(tmp_path / "set"), "--visibility", "public", "--json"]
    result = run.invoke(app, make)
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["rows"] == 40
    assert run.invoke(app, make).exit_code == 1, "nothing changed"
    assert "films" in run.invoke(app, ["dataset", "list"]).output
    assert "40 rows" in run.invoke(app, ["dataset", "show", "sentiment", "films"]).output
    assert run.invoke(app, ["dataset", "rows", "sentiment", "films"]).output.count("\n") == 40
