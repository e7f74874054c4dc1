"""Metrics from repositories of the hub in open evaluations: at the commit that a person trusts, in the sandbox."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dynabench.benchmark.evaluations.measures import unpack_replicates
from dynabench.hubs import service as hub_service
from dynabench.hubs.tables import RepositoryKind
from dynabench.open_evaluations import board, published_metrics
from dynabench.open_evaluations.choices import OpenChoices
from tests.hubs.conftest import HubProcess
from tests.open_evaluations.conftest import Desk, reviews
from tests.open_evaluations.repositories import add_commit
from tests.open_evaluations.small_data import conll
from tests.published_modules.conftest import hub, hubs, own_folders, start_hub
from tests.published_modules.test_loading import publish
from tests.published_modules.writing import module_files

__all__ = ["hub", "hubs", "own_folders", "start_hub"]
MODELS = ["sentiment-minilm", "sentiment-ngram"]


def add_module(desk: Desk, name: str, private: bool = False, **code: str) -> tuple[hub_service.HubEntry, str]:
    """A module of the desk's person on the hub; its repository, and what names its newest commit as a metric."""
    entry = desk.database.write(
        lambda s: hub_service.create_repository(
            s, desk.settings, desk.someone(s), RepositoryKind.EVALUATION, name, private=private
        )
    )
    commit = add_commit(desk, entry, module_files(**code))
    return entry, f"hub:{entry.full_name}@{commit}"


@pytest.fixture
def author(desk: Desk, owner_of: Any) -> Desk:
    """Another person, who publishes modules."""
    return Desk(desk.database, desk.settings, owner_of("ada"))


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_metric_is_pinned_scored_and_compared_as_others_are(desk: Desk, author: Desk):
    entry, pinned = add_module(author, "agreement")
    dataset = desk.upload("films.csv", reviews(60))
    plan = desk.plan(dataset, models=MODELS, metrics=[f"hub:{entry.full_name}"])
    assert plan.choices.metrics == [pinned]
    assert f"choose the commit that you trust: {pinned}" in plan.problems["metrics"]
    assert OpenChoices.from_query([("metric", pinned)]).metrics == [pinned]
    assert pinned.replace("/", "%2F").replace("@", "%40").replace(":", "%3A") in plan.choices.query()
    assert [
        module.reference
        for module in desk.database.read(lambda s: published_metrics.offered_modules(s, desk.someone(s)))
    ] == [pinned]

    id = desk.start(dataset, MODELS, metrics=[pinned, "accuracy"])
    add_commit(author, entry, module_files(update="raise ValueError('other code')"))
    seen = desk.run(id)
    assert seen.evaluation.state == "done"
    read = desk.database.read(board.read_board, seen)
    assert (read.columns[0].better, read.columns[0].key) == ("higher", "agreement")
    assert read.columns[0].title == f"{pinned.removeprefix('hub:')[:-28]} agreement"
    for line in read.lines:
        own, accuracy = line.scores
        assert (own.value, own.n) == (accuracy.value, 60)
        assert unpack_replicates(own.replicates) == pytest.approx(unpack_replicates(accuracy.replicates))
        assert own.low < own.value < own.high if own.value not in (0, 1) else own.unvaried
    [pair] = read.pairs
    assert desk.database.read(board.read_board, seen, "accuracy").pairs == [pair]


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_module_that_fails_or_is_gone_is_a_failure_of_that_metric_alone(desk: Desk, author: Desk):
    dataset = desk.upload("films.csv", reviews(30))
    entry, closed = add_module(author, "closed")
    broken = add_module(author, "broken", update="raise RuntimeError('out of order')")[1]
    lying = add_module(author, "lying", formula='return {"agreement": 7.0}')[1]
    id = desk.start(dataset, MODELS[1:], metrics=[closed, broken, lying, "accuracy"])
    author.database.write(lambda s: hub_service.set_private(s, author.someone(s), entry, True))
    seen = desk.run(id)
    [model] = seen.models
    assert (seen.evaluation.state, model.state) == ("done", "done")
    reasons = dict(line.split(": ", 1) for line in model.reason.splitlines() if line.startswith("hub:"))
    assert "may have been deleted or hidden" in reasons[closed]
    assert "out of order" in reasons[broken]
    assert "its card says 0.0 to 1" in reasons[lying] or "its card says 0 to 1" in reasons[lying]
    [column] = desk.database.read(board.read_board, seen).columns
    assert column.metric == "accuracy"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_metrics_that_cannot_be_used_are_refused_before_the_start(desk: Desk, author: Desk):
    dataset = desk.upload("films.csv", reviews(30))
    _entry, pinned = add_module(author, "agreement")
    private = add_module(author, "own", private=True)[1]
    name = pinned.partition("@")[0]
    empty = author.database.write(
        lambda s: hub_service.create_repository(
            s, author.settings, author.someone(s), RepositoryKind.EVALUATION, "empty"
        )
    )
    for wrong, words in {
        private: "no evaluation module",
        "hub:nobody/none": "no evaluation module",
        "hub:../..": "names no metric",
        f"{name}@none": "no branch, tag or commit",
        f"{name}@{'0' * 40}": "no branch, tag or commit",
        f"{pinned}:power=2": "has no option 'power'",
        f"hub:{empty.full_name}": "declares no module",
    }.items():
        problems = desk.plan(dataset, models=MODELS, metrics=["accuracy", wrong]).problems
        assert words in problems["metrics"], wrong
    assert author.plan(author.upload("films.csv", reviews(9)), models=MODELS, metrics=[private]).problems == {}
    tagged = desk.plan(desk.upload("towns.conll", conll()), models=["ner-tagger"], metrics=[pinned])
    assert "cannot read tags" in tagged.problems["metrics"]


@pytest.mark.release
def test_the_command_runs_the_commits_that_its_user_trusts(hub: HubProcess, tmp_path: Path):
    hub.api("ada")
    published = publish(hub, "ada/agreement")
    films = tmp_path / "films.csv"
    films.write_bytes(reviews(40))
    metric = f"hub:{published.repository}@{published.revision}"
    env = os.environ | {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": hub.tokens["ada"], "DYNABENCH_HOME": str(tmp_path)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dynabench", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True)

    words = ("evaluate", "run", "--dataset", str(films), "--model", "sentiment-ngram", "--metric", metric)
    refused = run(*words, "--metric", "accuracy", "--json", "-")
    assert refused.returncode == 1
    assert "you have not trusted it" in refused.stderr
    assert run("module", "trust", f"{published.repository}@{published.revision}").returncode == 0
    done = run(*words, "--metric", "accuracy", "--json", "-")
    assert done.returncode == 0, done.stderr
    own, accuracy = json.loads(done.stdout)["board"]["scores"]
    assert own["value"] == accuracy["value"]
    assert own["low"] is None or own["low"] <= own["value"] <= own["high"]
