"""The rounds of an experiment: in each, every arm collects examples, trains a model and tests it."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.simulation import round_files, selection, training_methods
from experiments.simulation.plan import ARMS, ExperimentPlan
from experiments.simulation.pool_split import PoolSplit, split_pool
from experiments.simulation.remaining_time import TrainingTimes, format_duration
from experiments.simulation.round_files import ArmRound, ModelAnswers, SimulatedRound
from experiments.simulation.selection import BoolArray, Candidates
from experiments.simulation.task_data import IntArray, TaskData
from experiments.simulation.text_vectors import ProgressCallback
from experiments.simulation.training_methods import Features, TrainingMethod

NO_ROWS = np.empty(0, np.int64)


def run_rounds(
    plan: ExperimentPlan, data: TaskData, folder: Path, vector_folder: Path, report_progress: ProgressCallback
) -> None:
    """Run the rounds of all seeds that `folder` lacks; after a kill, continue with the arm that was interrupted."""
    plan.store(folder)
    if all(round_files.round_path(folder, seed, plan.rounds).is_file() for seed in range(plan.seeds)):
        return
    method = training_methods.find_method(plan.method)(data)
    models = plan.seeds * (1 + plan.rounds * len(plan.arms))
    report_progress(f"{plan.seeds} seeds, {plan.rounds} rounds, {len(plan.arms)} arms: {models} models", 0.0)
    start = time.monotonic()
    pool, suite = (method.embed(rows, vector_folder, report_progress) for rows in (data.pool, data.suite))
    _record_times(folder, embedding=time.monotonic() - start)
    for seed in range(plan.seeds):
        parts = split_pool(data.pool, plan, seed)
        _run_seed(SeedRun(seed, folder, data, method, pool, suite, parts), plan, report_progress)


@dataclass(frozen=True)
class SeedRun:
    """All that stays the same in a seed's rounds."""

    number: int
    folder: Path
    data: TaskData
    method: TrainingMethod[Any]
    pool: Features
    suite: Features
    split: PoolSplit

    def train(self, number: int, arm: str, collected: IntArray) -> ModelAnswers:
        """Train the arm's model after round `number`, on the first rows and the collected ones, and ask it.

        Its answers are stored until the next round has used them, so that no model is trained twice.
        """
        file = round_files.answers_path(self.folder, self.number, number, arm)
        if file.is_file():
            return ModelAnswers.read(file)
        labels, development = self.data.pool.labels, self.split.development
        rows = np.concatenate([self.split.start, collected])
        start = time.monotonic()
        model = self.method.fit(
            self.pool[rows], labels[rows], (self.pool[development], labels[development]), self.number
        )
        end = time.monotonic()
        tested = np.concatenate([self.split.test, self.split.later, self.split.candidates])
        probabilities = self.method.predict(model, self.pool[tested])
        answers = ModelAnswers(tested, probabilities, self.method.predict(model, self.suite))
        _record_times(self.folder, rows=len(rows), fit=end - start, predict=time.monotonic() - end)
        answers.write(file)
        return answers

    def describe_candidates(self, rows: IntArray, target: ModelAnswers) -> Candidates:
        """Return rows with the errors and margins of a target."""
        probabilities = target.select(rows)
        wrong = probabilities.argmax(1) != self.data.pool.labels[rows]
        ordered = np.sort(probabilities, axis=1)
        return Candidates(rows, self.data.pool.groups[rows], wrong, ordered[:, -1] - ordered[:, -2])

    def find_errors(self, model: ModelAnswers, rows: IntArray) -> BoolArray:
        """Return whether a model is wrong on each of some rows of the pool."""
        errors: BoolArray = model.select(rows).argmax(1) != self.data.pool.labels[rows]
        return errors


def _run_seed(seed: SeedRun, plan: ExperimentPlan, report_progress: ProgressCallback) -> None:
    rounds = round_files.read_rounds(seed.folder, seed.number, plan.rounds)
    for number in range(len(rounds), plan.rounds + 1):
        start = time.monotonic()
        first_target = seed.train(0, "first", NO_ROWS)
        parts: dict[str, ArmRound] = {}
        for arm_index, arm in enumerate(plan.arms):
            seconds = TrainingTimes.read(seed.folder).estimate_remaining(plan, seed.number, number, arm_index)
            finished_rounds = seed.number * (plan.rounds + 1) + number + arm_index / len(plan.arms)
            report_progress(
                f"seed {seed.number}, round {number} of {plan.rounds}, {ARMS[arm]}; "
                f"about {format_duration(seconds)} left",
                finished_rounds / (plan.seeds * (plan.rounds + 1)),
            )
            parts[arm] = (
                _run_arm(seed, plan, rounds, arm, first_target) if number else _test_first_target(seed, first_target)
            )
        rounds.append(parts)
        _record_times(seed.folder, seed=seed.number, round=number, seconds=time.monotonic() - start)
        round_files.write_round(round_files.round_path(seed.folder, seed.number, number), parts)
        round_files.remove_old_answers(seed.folder, seed.number, number)


def _run_arm(
    seed: SeedRun, plan: ExperimentPlan, rounds: Sequence[SimulatedRound], arm: str, first_target: ModelAnswers
) -> ArmRound:
    """Collect examples against the target, train on all that the arm has collected, and test the model."""
    number, select = len(rounds), selection.SELECT[arm]
    rng = np.random.default_rng([seed.number, list(ARMS).index(arm), number])
    earlier = np.concatenate([parts[arm].train_rows for parts in rounds])
    earlier_tests = np.concatenate([parts[arm].test_rows for parts in rounds])
    target = first_target if arm == "fixed" or number == 1 else seed.train(number - 1, arm, earlier)
    candidates = seed.describe_candidates(seed.split.candidates, target).without(earlier)
    train = select(candidates, plan.examples, plan.tries, rng)
    test_candidates = seed.describe_candidates(seed.split.later, target).without(earlier_tests)
    test = select(test_candidates, plan.test_examples, plan.tries, rng)
    model = seed.train(number, arm, np.concatenate([earlier, train.rows]))
    return ArmRound(
        train.rows, test.rows, seed.find_errors(target, train.rows), train.tries, train.unfooled,
        seed.find_errors(target, seed.split.test), *_test_model(seed, model),
    )  # fmt: skip


def _test_first_target(seed: SeedRun, target: ModelAnswers) -> ArmRound:
    errors = seed.find_errors(target, seed.split.test)
    return ArmRound(NO_ROWS, NO_ROWS, NO_ROWS.astype(bool), 0, 0, errors, *_test_model(seed, target))


def _test_model(seed: SeedRun, model: ModelAnswers) -> tuple[BoolArray, BoolArray, BoolArray]:
    suite_errors = model.suite.argmax(1) != seed.data.suite.labels
    return seed.find_errors(model, seed.split.test), suite_errors, seed.find_errors(model, seed.split.later)


def _record_times(folder: Path, **values: float) -> None:
    """Append times to a file of their own, apart from the results."""
    with (folder / "seconds.jsonl").open("a") as lines:
        lines.write(json.dumps({name: round(value, 3) for name, value in values.items()}) + "\n")
