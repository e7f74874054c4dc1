"""Plans that can be run, and estimates of the time that they take."""

import json
from pathlib import Path

import pytest

from dynabench.kit.errors import Conflict, Invalid
from experiments.simulation.plan import ARMS, ExperimentPlan
from experiments.simulation.remaining_time import TrainingTimes, format_duration


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"method": "prompting"}, "method"),
        ({"arms": ("random", "fixed")}, "arms"),
        ({"arms": ("random", "adversarial", "sideways")}, "arms"),
        ({"candidates": -1}, "candidates"),
        ({"later": 5}, "later"),
        ({"tries": 0}, "plan"),
    ],
)
def test_what_cannot_be_run_is_refused(wrong: dict[str, object], field: str):
    with pytest.raises(Invalid) as refused:
        ExperimentPlan("nli", **wrong)  # type: ignore[arg-type]
    assert field in refused.value.fields


def test_arms_stand_in_one_order():
    assert ExperimentPlan("nli", arms=("fixed", "adversarial", "random")).arms == ("random", "adversarial", "fixed")


def test_a_folder_that_was_begun_before_there_were_methods_goes_on(tmp_path: Path):
    old = {
        name: value
        for name, value in ExperimentPlan("nli").as_options().items()
        if name not in ("method", "arms", "candidates")
    }
    (tmp_path / "plan.json").write_text(json.dumps(old))
    ExperimentPlan("nli").store(tmp_path)
    with pytest.raises(Conflict):
        ExperimentPlan("nli", method="lora").store(tmp_path)
    with pytest.raises(Conflict):
        ExperimentPlan("nli", arms=("random", "adversarial")).store(tmp_path)


def test_the_estimate_is_rounds_by_arms_by_seeds_by_measured_seconds(tmp_path: Path):
    plan = ExperimentPlan("nli", rounds=3, seeds=2, start=100, examples=50, arms=("random", "adversarial"))
    entries = [
        {"rows": 100, "fit": 50.0, "predict": 4.0},
        {"rows": 300, "fit": 150.0, "predict": 6.0},
        {"embedding": 9.0},
    ]
    (tmp_path / "seconds.jsonl").write_text("\n".join(json.dumps(entry) for entry in entries))
    times = TrainingTimes.read(tmp_path)
    assert times == TrainingTimes(0.5, 5.0)
    seed = 2 * sum(0.5 * rows + 5 for rows in (150, 200, 250))
    first = 0.5 * 100 + 5
    assert times.estimate_remaining(plan, 0, 0, 0) == pytest.approx(2 * seed + first)
    assert times.estimate_remaining(plan, 1, 1, 0) == pytest.approx(seed)
    assert times.estimate_remaining(plan, 1, 3, 1) == pytest.approx(0.5 * 250 + 5)


def test_nothing_is_estimated_before_a_model_was_made(tmp_path: Path):
    assert TrainingTimes.read(tmp_path).estimate_remaining(ExperimentPlan("nli"), 0, 0, 0) == 0


def test_durations_are_formatted_in_words():
    assert [format_duration(seconds) for seconds in (40, 300, 9000)] == ["40 s", "5 min", "2.5 h"]


def test_all_arms_are_run_unless_some_are_named():
    assert ExperimentPlan("sentiment").arms == tuple(ARMS)
