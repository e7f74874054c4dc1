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

from dynabench.cli.cycle import app
from dynabench.cycle.simulation import experiment, material, sentences
from dynabench.cycle.simulation.experiment import Found
from dynabench.cycle.simulation.history import History
from dynabench.cycle.simulation.plan import ARMS, Plan
from dynabench.cycle.simulation.splitting import split
from dynabench.errors import Conflict, Invalid

pytestmark = [pytest.mark.slow, pytest.mark.models]

KILLED = """
import os, signal
from pathlib import Path
from dynabench.cycle.simulation import experiment, state
from dynabench.cycle.simulation.plan import Plan

written, keep = 0, state.write

def keep_or_die(path, turns):
    global written
    written += 1
    if written == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    keep(path, turns)

state.write = keep_or_die
experiment.run(Plan(**{plan}), Path({data!r}), Path({folder!r}), lambda *_: None)
"""


@pytest.fixture(scope="module")
def history(found: Found, plan: Plan, data: Path, folder: Path) -> History:
    return History.read(plan, material.load("sentiment", data, plan.pool), folder / "sentiment")


def test_every_arm_collects_as_many_examples_in_every_round_none_twice(history: History, plan: Plan):
    for seed, of_seed in enumerate(history.rounds):
        parts = history.splits[seed]
        for arm in ARMS:
            assert all(len(each[arm].train) == plan.each for each in of_seed[1:])
            assert all(len(each[arm].kept) == plan.each_test for each in of_seed[1:])
            train, kept = (np.concatenate([getattr(each[arm], name) for each in of_seed]) for name in ("train", "kept"))
            assert len(set(train)) == len(train)
            assert set(train) <= set(parts.candidates)
            assert len(set(kept)) == len(kept)
            assert set(kept) <= set(parts.later)


def test_rows_of_one_group_are_never_on_two_sides(history: History):
    groups = history.material.pool.groups
    for parts in history.splits:
        sides = [set(groups[getattr(parts, name)]) for name in ("test", "development", "start", "later", "candidates")]
        assert sum(map(len, sides)) == len(set.union(*sides)) == len(set(groups))
    first, second = history.splits
    assert (first.test == second.test).all()
    assert (first.development == second.development).all()
    assert set(first.start) != set(second.start)


def test_adversaries_hand_in_what_fools_the_arms_own_target(history: History, found: Found):
    assert found.results["qualities"]["filled"]["adversarial"] == 0
    for of_seed in history.rounds:
        assert all(each["adversarial"].fooled.all() for each in of_seed[1:])
        assert all((each["fixed"].target_wrong == of_seed[0]["fixed"].test).all() for each in of_seed)
        assert (of_seed[2]["adversarial"].target_wrong == of_seed[1]["adversarial"].test).all()
    assert (history.errors("adversarial", "test")[:, 0] == history.errors("random", "test")[:, 0]).all()


@pytest.mark.parametrize("at", [2, 5])
def test_a_killed_experiment_goes_on_to_the_same_end(
    at: int, found: Found, plan: Plan, data: Path, folder: Path, tmp_path: Path
):
    shutil.copytree(folder / "embeddings", tmp_path / "embeddings")
    script = KILLED.format(at=at, plan=vars(plan), data=str(data), folder=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    kept = list((tmp_path / "sentiment").rglob("round-*.npz"))
    assert len(kept) == at - 1
    again = experiment.run(plan, data, tmp_path, lambda *_: None)
    assert again.results == found.results
    files = [(tmp_path / "sentiment/results.json").read_bytes(), (folder / "sentiment/results.json").read_bytes()]
    assert files[0] == files[1]


def test_a_folder_keeps_to_its_plan(found: Found, plan: Plan, folder: Path):
    with pytest.raises(Conflict, match="another plan"):
        replace(plan, tries=3).keep(folder / "sentiment")
    replace(plan, seeds=3).keep(folder / "sentiment")
    plan.keep(folder / "sentiment")


def test_more_than_there_is_is_refused(history: History, plan: Plan):
    with pytest.raises(Invalid):
        split(history.material.pool, replace(plan, each=100), 0)
    with pytest.raises(Invalid):
        replace(plan, later=5)


def test_a_suite_that_resembles_the_pool_is_refused(history: History, data: Path, tmp_path: Path):
    text = " ".join(history.material.pool.texts[0])
    words = json.dumps([f"{text}{sign}" for sign in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"])
    named = [f"alike {letter}" for letter in "abcdefghij"]
    template = "{statement: 'Yes, {it}', label: positive}"
    phenomena = "\n".join(f"- {{name: {name}, about: none, templates: [{template}]}}" for name in named)
    suite = f"name: alike\ntitle: Alike\ntask: sentiment\nlicence: none\nanswer: label\nwords: {{it: {words}}}\n"
    (tmp_path / "alike.yaml").write_text(f"{suite}phenomena:\n{phenomena}\n")
    with pytest.raises(Conflict, match="not apart"):
        material.load("sentiment", data, str(data / "pool.yaml"), str(tmp_path / "alike.yaml"))


@pytest.mark.parametrize("task", ["nli", "sentiment"])
def test_the_suites_have_ten_phenomena_with_thirty_items(task: str):
    from dynabench.models.training import recipes

    items = material._suite(f"{task}-phenomena", recipes.load(str(material.POOLS / f"{task}.yaml")))
    names = list(items.sources)
    assert len(set(names)) >= 10
    assert {names.count(name) for name in names} == {30}
    assert len(set(items.texts)) == len(items.texts)


def test_the_report_says_what_the_figures_say(found: Found, plan: Plan, data: Path, folder: Path, tmp_path: Path):
    options = {
        "--rounds": 2, "--seeds": 2, "--each": 12, "--each-test": 6, "--start": 40, "--test": 80, "--development": 40,
        "--later": 70, "--pool": plan.pool, "--data": data, "--folder": folder, "--report": tmp_path / "report.md",
    }  # fmt: skip
    given = [str(part) for pair in options.items() for part in pair]
    told = CliRunner().invoke(app, ["simulate", "sentiment", *given], catch_exceptions=False)
    assert told.exit_code == 0
    text = (tmp_path / "report.md").read_text("utf-8")
    for row in found.results["contrasts"]:
        said = sentences.told(row)
        leaves_out = row["low"] is not None and (row["low"] > 0 or row["high"] < 0)
        assert (" beat " in said) == (leaves_out and row["value"] < 0)
        assert (" lost to " in said) == (leaves_out and row["value"] > 0)
        assert row["arm"] != "adversarial" or f"- {said}" in text
        assert sentences.points(row) in text
    assert ElementTree.parse(tmp_path / "report-sentiment.svg").getroot().tag.endswith("svg")
