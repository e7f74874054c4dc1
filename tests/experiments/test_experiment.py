"""An experiment from its pool to its report."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from dynabench.kit.errors import Conflict, Invalid
from experiments.simulation import experiment, findings, task_data
from experiments.simulation.__main__ import app
from experiments.simulation.experiment import ExperimentResult
from experiments.simulation.history import ExperimentHistory
from experiments.simulation.plan import ARMS, ExperimentPlan
from experiments.simulation.pool_split import split_pool

pytestmark = [pytest.mark.release, pytest.mark.models]

KILLED = """
import os, signal
from pathlib import Path
from experiments.simulation import experiment, round_files
from experiments.simulation.plan import ExperimentPlan

written, write_round = 0, round_files.write_round

def write_or_die(path, arms):
    global written
    written += 1
    if written == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    write_round(path, arms)

round_files.write_round = write_or_die
experiment.run_experiment(ExperimentPlan(**{plan}), Path({data!r}), Path({folder!r}), lambda *_: None)
"""


@pytest.fixture(scope="module")
def history(result: ExperimentResult, plan: ExperimentPlan, data: Path, folder: Path) -> ExperimentHistory:
    return ExperimentHistory.read(plan, task_data.load_task_data("sentiment", data, plan.pool), folder / "sentiment")


def test_every_arm_collects_as_many_examples_in_every_round_none_twice(
    history: ExperimentHistory, plan: ExperimentPlan
):
    for seed, seed_rounds in enumerate(history.rounds):
        parts = history.splits[seed]
        for arm in ARMS:
            assert all(len(arms[arm].train_rows) == plan.examples for arms in seed_rounds[1:])
            assert all(len(arms[arm].test_rows) == plan.test_examples for arms in seed_rounds[1:])
            train = np.concatenate([arms[arm].train_rows for arms in seed_rounds])
            test = np.concatenate([arms[arm].test_rows for arms in seed_rounds])
            assert len(set(train)) == len(train)
            assert set(train) <= set(parts.candidates)
            assert len(set(test)) == len(test)
            assert set(test) <= set(parts.later)


def test_rows_of_one_group_are_never_on_two_sides(history: ExperimentHistory):
    groups = history.data.pool.groups
    for parts in history.splits:
        sides = [set(groups[getattr(parts, name)]) for name in ("test", "development", "start", "later", "candidates")]
        assert sum(map(len, sides)) == len(set.union(*sides)) == len(set(groups))
    first, second = history.splits
    assert (first.test == second.test).all()
    assert (first.development == second.development).all()
    assert set(first.start) != set(second.start)


def test_adversaries_hand_in_what_fools_the_arms_own_target(history: ExperimentHistory, result: ExperimentResult):
    assert result.figures["qualities"]["filled"]["adversarial"] == 0
    for seed_rounds in history.rounds:
        assert all(arms["adversarial"].fooled.all() for arms in seed_rounds[1:])
        assert all((arms["fixed"].target_errors == seed_rounds[0]["fixed"].test_errors).all() for arms in seed_rounds)
        assert (seed_rounds[2]["adversarial"].target_errors == seed_rounds[1]["adversarial"].test_errors).all()
    assert (history.errors("adversarial", "test")[:, 0] == history.errors("random", "test")[:, 0]).all()


@pytest.mark.parametrize("at", [2, 5])
def test_a_killed_experiment_goes_on_to_the_same_end(
    at: int, result: ExperimentResult, plan: ExperimentPlan, data: Path, folder: Path, tmp_path: Path
):
    shutil.copytree(folder / "embeddings", tmp_path / "embeddings")
    script = KILLED.format(at=at, plan=vars(plan), data=str(data), folder=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    rounds = list((tmp_path / "sentiment").rglob("round-*.npz"))
    assert len(rounds) == at - 1
    second = experiment.run_experiment(plan, data, tmp_path, lambda *_: None)
    assert second.figures == result.figures
    files = [(tmp_path / "sentiment/results.json").read_bytes(), (folder / "sentiment/results.json").read_bytes()]
    assert files[0] == files[1]


def test_a_folder_keeps_to_its_plan(result: ExperimentResult, plan: ExperimentPlan, folder: Path):
    with pytest.raises(Conflict, match="another plan"):
        replace(plan, tries=3).store(folder / "sentiment")
    replace(plan, seeds=3).store(folder / "sentiment")
    plan.store(folder / "sentiment")


def test_more_than_there_is_is_refused(history: ExperimentHistory, plan: ExperimentPlan):
    with pytest.raises(Invalid):
        split_pool(history.data.pool, replace(plan, examples=100), 0)
    with pytest.raises(Invalid):
        replace(plan, later=5)


def test_a_suite_that_resembles_the_pool_is_refused(history: ExperimentHistory, data: Path, tmp_path: Path):
    text = " ".join(history.data.pool.texts[0])
    words = json.dumps([f"{text}{sign}" for sign in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"])
    named = [f"alike {letter}" for letter in "abcdefghij"]
    template = "{statement: 'Yes, {it}', label: positive}"
    phenomena = "\n".join(f"- {{name: {name}, about: none, templates: [{template}]}}" for name in named)
    suite = f"name: alike\ntitle: Alike\ntask: sentiment\nlicence: none\nanswer: label\nwords: {{it: {words}}}\n"
    (tmp_path / "alike.yaml").write_text(f"{suite}phenomena:\n{phenomena}\n")
    with pytest.raises(Conflict, match="not apart"):
        task_data.load_task_data("sentiment", data, str(data / "pool.yaml"), str(tmp_path / "alike.yaml"))


@pytest.mark.parametrize("task", ["nli", "sentiment"])
def test_the_suites_have_ten_phenomena_with_thirty_items(task: str):
    from dynabench.models.training import recipes

    items = task_data.read_suite(f"{task}-phenomena", recipes.load(str(task_data.POOL_FOLDER / f"{task}.yaml")))
    names = list(items.sources)
    assert len(set(names)) >= 10
    assert {names.count(name) for name in names} == {30}
    assert len(set(items.texts)) == len(items.texts)


def test_the_report_says_what_the_figures_say(
    result: ExperimentResult, plan: ExperimentPlan, data: Path, folder: Path, tmp_path: Path
):
    options = {
        "--rounds": 2, "--seeds": 2, "--each": 12, "--each-test": 6, "--start": 40, "--test": 80, "--development": 40,
        "--later": 70, "--pool": plan.pool, "--data": data, "--folder": folder, "--report": tmp_path / "report.md",
    }  # fmt: skip
    arguments = [str(part) for pair in options.items() for part in pair]
    command = CliRunner().invoke(app, ["sentiment", *arguments], catch_exceptions=False)
    assert command.exit_code == 0
    text = (tmp_path / "report.md").read_text("utf-8")
    for row in result.figures["contrasts"]:
        sentence = findings.describe_contrast(row)
        leaves_out = row["low"] is not None and (row["low"] > 0 or row["high"] < 0)
        assert (" beat " in sentence) == (leaves_out and row["value"] < 0)
        assert (" lost to " in sentence) == (leaves_out and row["value"] > 0)
        assert row["arm"] != "adversarial" or f"- {sentence}" in text
        assert findings.format_points(row) in text
    assert ElementTree.parse(tmp_path / "report-sentiment.svg").getroot().tag.endswith("svg")
