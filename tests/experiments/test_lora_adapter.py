"""Rounds that train adapters, on real rows: killed between rounds and begun again, they end as they would have."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.simulation import experiment
from experiments.simulation.plan import ExperimentPlan
from tests.large_data import data_folder

pytestmark = [
    pytest.mark.release,
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
from experiments.simulation import experiment, round_files
from experiments.simulation.plan import ExperimentPlan

write_round = round_files.write_round

def write_and_die(path, arms):
    write_round(path, arms)
    if path.name == "round-01.npz":
        os.kill(os.getpid(), signal.SIGKILL)

round_files.write_round = write_and_die
experiment.run_experiment(ExperimentPlan(**{plan}), Path({data!r}), Path({folder!r}), lambda *_: None)
"""


def test_adapters_killed_between_rounds_go_on_to_the_same_end(tmp_path: Path):
    (tmp_path / "pool.yaml").write_text(POOL)
    plan = ExperimentPlan(
        "sentiment", rounds=2, seeds=1, examples=6, test_examples=3, start=16, test=24, development=8, later=8,
        candidates=40, arms=("random", "adversarial"), method="lora", pool=str(tmp_path / "pool.yaml"),
    )  # fmt: skip
    steps: list[str] = []
    whole = experiment.run_experiment(plan, DATA, tmp_path / "whole", lambda step, share: steps.append(step))
    script = KILLED.format(plan=vars(plan), data=str(DATA), folder=str(tmp_path / "cut"))
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    folder = tmp_path / "cut" / "sentiment"
    assert sorted(path.name for path in folder.rglob("round-*.npz")) == ["round-00.npz", "round-01.npz"]
    second = experiment.run_experiment(plan, DATA, tmp_path / "cut", lambda *_: None)
    assert second.figures == whole.figures
    entries = [json.loads(line) for line in (folder / "seconds.jsonl").read_text("utf-8").splitlines()]
    assert sum("fit" in entry for entry in entries) == 1 + plan.rounds * len(plan.arms)  # no model was trained twice
    assert any("round 2 of 2, adversarial; about" in step for step in steps)
    assert set(whole.figures["errors"]) == {"random", "adversarial"}
    assert {row["measure"] for row in whole.figures["contrasts"]} >= {"test_last", "suite_last", "own_last"}
