"""Models on a cluster that a plug-in brings: who is asked, and what is said where the plug-in is missing."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from dynabench.benchmark.evaluations import model_process
from dynabench.cli import app
from dynabench.cli import evaluation_run as evaluation_models
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import clusters
from dynabench.models.catalog import BUILTIN
from dynabench.models.host.serve import application
from tests.plugins import none_installed, on_path

COMMAND = "pip install 'dynabench-platform[ray]'"
PLUGIN = """
from dynabench.kit.hooks import hookimpl

@hookimpl
def dynabench_clusters():
    return {"ray": "grid:Grid"}

class Grid:
    def application(self, settings, places):
        return "host", settings.ray, places

    def open_model(self, settings, folder):
        return "model", settings.ray, folder.name
"""


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """Settings that name a cluster."""
    monkeypatch.setenv("DYNABENCH_RAY", "grid-head:6379")
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture
def grid(tmp_path, chosen):
    """A plug-in for that cluster."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "grid.py").write_text(PLUGIN)
    with on_path(site, "grid"):
        yield


def test_hosts_and_evaluations_ask_the_cluster_that_the_settings_name(grid):
    assert application([Path("models")], None) == ("host", "grid-head:6379", [Path("models")])
    assert model_process._open_model(BUILTIN / "nli-ngram", 2**40) == ("model", "grid-head:6379", "nli-ngram")
    assert evaluation_models.find_model("nli-ngram", "")[0] == ("model", "grid-head:6379", "nli-ngram")


def test_without_a_cluster_no_plug_in_is_asked():
    with none_installed():
        assert clusters.chosen_cluster(Settings()) is None


def test_without_the_plug_in_the_command_names_what_brings_it(chosen, tmp_path):
    with none_installed():
        done = CliRunner().invoke(app, ["host", "--url", f"unix:{tmp_path / 'host.sock'}"])
    assert done.exit_code == 1
    assert COMMAND in done.output
    assert isinstance(done.exception, SystemExit), "no traceback is shown"


def test_without_the_plug_in_an_evaluation_says_what_brings_it(chosen, monkeypatch):
    answers = []
    monkeypatch.setattr(model_process, "ParentChannel", lambda: SimpleNamespace(send=answers.append))
    with none_installed():
        model_process.main(str(BUILTIN / "nli-ngram"), 2**40)
    [answer] = answers
    assert answer["code"] == "cluster"
    assert COMMAND in answer["reason"]
