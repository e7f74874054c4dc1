"""The rounds of one seed: every arm collects, trains and is tested, round by round."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynabench.cycle.simulation import choosing, methods, state
from dynabench.cycle.simulation.choosing import View
from dynabench.cycle.simulation.encoding import Tell
from dynabench.cycle.simulation.material import Ints, Material
from dynabench.cycle.simulation.methods import Method, Read
from dynabench.cycle.simulation.pace import Pace, clock
from dynabench.cycle.simulation.plan import ARMS, Plan
from dynabench.cycle.simulation.splitting import Split, split
from dynabench.cycle.simulation.state import Answers, Round, Turn

NOTHING = np.empty(0, np.int64)


def run(plan: Plan, material: Material, folder: Path, cache: Path, tell: Tell) -> None:
    """Run what `folder` lacks of all seeds' rounds; killed at any moment, it goes on at the arm that was cut off."""
    plan.keep(folder)
    if all(state.file(folder, seed, plan.rounds).is_file() for seed in range(plan.seeds)):
        return
    method = methods.kind(plan.method)(material)
    models = plan.seeds * (1 + plan.rounds * len(plan.arms))
    tell(f"{plan.seeds} seeds, {plan.rounds} rounds, {len(plan.arms)} arms: {models} models", 0.0)
    began = time.monotonic()
    pool, suite = (method.embed(rows, cache, tell) for rows in (material.pool, material.suite))
    _note(folder, embedding=time.monotonic() - began)
    for seed in range(plan.seeds):
        parts = split(material.pool, plan, seed)
        _seed(Seed(seed, folder, material, method, pool, suite, parts), plan, tell)


@dataclass(frozen=True)
class Seed:
    """All that is fixed throughout a seed's rounds."""

    number: int
    folder: Path
    material: Material
    method: Method[Any]
    pool: Read
    suite: Read
    split: Split

    def train(self, number: int, arm: str, collected: Ints) -> Answers:
        """What the arm's model after round `number` answers, that of the first rows and these; kept until it is asked
        for again, so that no model is made twice."""
        file = state.answers_file(self.folder, self.number, number, arm)
        if file.is_file():
            return Answers.read(file)
        labels, held = self.material.pool.labels, self.split.development
        places = np.concatenate([self.split.start, collected])
        began = time.monotonic()
        model = self.method.fit(self.pool[places], labels[places], (self.pool[held], labels[held]), self.number)
        fitted = time.monotonic()
        asked = np.concatenate([self.split.test, self.split.later, self.split.candidates])
        shares = self.method.predict(model, self.pool[asked])
        found = Answers(asked, shares, self.method.predict(model, self.suite))
        _note(self.folder, rows=len(places), fit=fitted - began, predict=time.monotonic() - fitted)
        found.write(file)
        return found

    def view(self, places: Ints, target: Answers) -> View:
        """What rows look like to a target."""
        shares = target.at(places)
        wrong = shares.argmax(1) != self.material.pool.labels[places]
        best = np.sort(shares, axis=1)
        return View(places, self.material.pool.groups[places], wrong, best[:, -1] - best[:, -2])

    def wrong(self, model: Answers, places: Ints) -> choosing.Bools:
        """Where a model errs on rows of the pool."""
        found: choosing.Bools = model.at(places).argmax(1) != self.material.pool.labels[places]
        return found


def _seed(seed: Seed, plan: Plan, tell: Tell) -> None:
    done = state.rounds(seed.folder, seed.number, plan.rounds)
    for number in range(len(done), plan.rounds + 1):
        began = time.monotonic()
        first = seed.train(0, "first", NOTHING)
        turns: dict[str, Turn] = {}
        for place, arm in enumerate(plan.arms):
            left = Pace.read(seed.folder).left(plan, seed.number, number, place)
            share = (seed.number * (plan.rounds + 1) + number + place / len(plan.arms)) / (
                plan.seeds * (plan.rounds + 1)
            )
            tell(f"seed {seed.number}, round {number} of {plan.rounds}, {ARMS[arm]}; about {clock(left)} left", share)
            turns[arm] = _turn(seed, plan, done, arm, first) if number else _start(seed, first)
        done.append(turns)
        _note(seed.folder, seed=seed.number, round=number, seconds=time.monotonic() - began)
        state.write(state.file(seed.folder, seed.number, number), turns)
        state.forget(seed.folder, seed.number, number)


def _turn(seed: Seed, plan: Plan, done: Sequence[Round], arm: str, first: Answers) -> Turn:
    """Collect against the target, train on all that the arm has collected, test."""
    number, choose = len(done), choosing.CHOOSE[arm]
    rng = np.random.default_rng([seed.number, list(ARMS).index(arm), number])
    earlier, kept_earlier = _collected(done, arm), np.concatenate([each[arm].kept for each in done])
    target = first if arm == "fixed" or number == 1 else seed.train(number - 1, arm, earlier)
    candidates = seed.view(seed.split.candidates, target).without(earlier)
    train = choose(candidates, plan.each, plan.tries, rng)
    later = seed.view(seed.split.later, target).without(kept_earlier)
    kept = choose(later, plan.each_test, plan.tries, rng)
    model = seed.train(number, arm, np.concatenate([earlier, train.places]))
    return Turn(
        train.places, kept.places, seed.wrong(target, train.places), train.tries, train.filled,
        seed.wrong(target, seed.split.test), *_errors(seed, model),
    )  # fmt: skip


def _start(seed: Seed, first: Answers) -> Turn:
    wrong = seed.wrong(first, seed.split.test)
    return Turn(NOTHING, NOTHING, NOTHING.astype(bool), 0, 0, wrong, *_errors(seed, first))


def _errors(seed: Seed, model: Answers) -> tuple[choosing.Bools, choosing.Bools, choosing.Bools]:
    suite = model.suite.argmax(1) != seed.material.suite.labels
    return seed.wrong(model, seed.split.test), suite, seed.wrong(model, seed.split.later)


def _collected(done: Sequence[Round], arm: str) -> Ints:
    return np.concatenate([each[arm].train for each in done])


def _note(folder: Path, **took: float) -> None:
    """Take note of how long something took, apart from what it found."""
    with (folder / "seconds.jsonl").open("a") as lines:
        lines.write(json.dumps({name: round(value, 3) for name, value in took.items()}) + "\n")
