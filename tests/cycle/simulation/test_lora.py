"""Rounds that train adapters, on real rows: killed between rounds and begun again, they end as they would have."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dynabench.cycle.simulation import experiment
from dynabench.cycle.simulation.plan import Plan
from tests.large_data import data_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.models,
    pytest.mark.large_data("sst3/train.jsonl.gz", "sst3/dev.jsonl.gz", "sst3/test.jsonl.gz"),
]
DATA = data_folder()
POOL = """
name: few
task: sentiment
kind: adapter
summary: A few statements about films.
inputs: [statement]
labels: [negative, neutral, positive]
licence: none
limits: none
train: [{name: SST, files: [sst3/dev.jsonl.gz], columns: {statement: text}, limit: 330}]
test: []
"""
KILLED = """
import os, signal
from pathlib import Path
from dynabench.cycle.simulation import experiment, state
from dynabench.cycle.simulation.plan import Plan

keep = state.write

def keep_and_die(path, turns):
    keep(path, turns)
    if path.name == "round-01.npz":
        os.kill(os.getpid(), signal.SIGKILL)

state.write = keep_and_die
experiment.run(Plan(**{plan}), Path({data!r}), Path({folder!r}), lambda *_: None)
"""


def test_adapters_killed_between_rounds_go_on_to_the_same_end(tmp_path: Path):
    (tmp_path / "pool.yaml").write_text(POOL)
    plan = Plan(
        "sentiment", rounds=2, seeds=1, each=6, each_test=3, start=16, test=24, development=8, later=8, candidates=40,
        arms=("random", "adversarial"), method="lora", pool=str(tmp_path / "pool.yaml"),
    )  # fmt: skip
    told: list[str] = []
    whole = experiment.run(plan, DATA, tmp_path / "whole", lambda step, share: told.append(step))
    script = KILLED.format(plan=vars(plan), data=str(DATA), folder=str(tmp_path / "cut"))
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    kept = tmp_path / "cut" / "sentiment"
    assert sorted(path.name for path in kept.rglob("round-*.npz")) == ["round-00.npz", "round-01.npz"]
    again = experiment.run(plan, DATA, tmp_path / "cut", lambda *_: None)
    assert again.results == whole.results
    made = [json.loads(line) for line in (kept / "seconds.jsonl").read_text("utf-8").splitlines()]
    assert sum("fit" in each for each in made) == 1 + plan.rounds * len(plan.arms)  # no model was made twice
    assert any("round 2 of 2, adversarial; about" in step for step in told)
    assert set(whole.results["errors"]) == {"random", "adversarial"}
    assert {row["measure"] for row in whole.results["contrasts"]} >= {"test_last", "suite_last", "own_last"}
