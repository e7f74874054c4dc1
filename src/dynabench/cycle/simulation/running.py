"""The rounds of one seed: every arm collects, trains and is tested, round by round."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynabench.cycle.simulation import choosing, encoding, head, state
from dynabench.cycle.simulation.choosing import View
from dynabench.cycle.simulation.encoding import Floats, Tell
from dynabench.cycle.simulation.head import Head
from dynabench.cycle.simulation.material import Ints, Material
from dynabench.cycle.simulation.plan import ARMS, Plan
from dynabench.cycle.simulation.splitting import Split, split
from dynabench.cycle.simulation.state import Round, Turn

NOTHING = np.empty(0, np.int64)


def run(plan: Plan, material: Material, folder: Path, cache: Path, tell: Tell) -> None:
    """Run what `folder` lacks of all seeds' rounds; killed at any moment, it goes on at the round that was cut off."""
    from threadpoolctl import threadpool_limits

    plan.keep(folder)
    if all(state.file(folder, seed, plan.rounds).is_file() for seed in range(plan.seeds)):
        return
    texts = {text for rows in (material.pool, material.suite) for each in rows.texts for text in each}
    began = time.monotonic()
    known = encoding.vectors(texts, cache, tell)
    _time(folder, embedding=time.monotonic() - began)
    vectors = [encoding.features(rows.texts, known) for rows in (material.pool, material.suite)]
    with threadpool_limits(1):  # more threads add numbers in another order
        for seed in range(plan.seeds):
            _seed(Seed.of(plan, material, vectors, seed), plan, folder, tell)


@dataclass(frozen=True)
class Seed:
    """All that is fixed throughout a seed's rounds."""

    number: int
    material: Material
    pool: Floats
    suite: Floats
    split: Split

    @classmethod
    def of(cls, plan: Plan, material: Material, vectors: Sequence[Floats], number: int) -> "Seed":
        """With the pool split by the seed."""
        pool, suite = vectors
        return cls(number, material, pool, suite, split(material.pool, plan, number))

    def train(self, collected: Ints) -> Head:
        """The head of the first rows and these, with the penalty that is best on the development rows."""
        labels, held = self.material.pool.labels, self.split.development
        places = np.concatenate([self.split.start, collected])
        development = self.pool[held], labels[held]
        return head.best(self.pool[places], labels[places], development, len(self.material.labels))

    def view(self, places: Ints, target: Head) -> View:
        """What rows look like to a target."""
        shares = target.shares(self.pool[places])
        wrong = shares.argmax(1) != self.material.pool.labels[places]
        best = np.sort(shares, axis=1)
        return View(places, self.material.pool.groups[places], wrong, best[:, -1] - best[:, -2])

    def wrong(self, model: Head, places: Ints) -> choosing.Bools:
        """Where a model errs on rows of the pool."""
        return model.wrong(self.pool[places], self.material.pool.labels[places])


def _seed(seed: Seed, plan: Plan, folder: Path, tell: Tell) -> None:
    done = state.rounds(folder, seed.number, plan.rounds)
    if len(done) == plan.rounds + 1:
        return
    first = seed.train(NOTHING)
    models = {arm: first if len(done) < 2 else seed.train(_collected(done, arm)) for arm in ARMS}
    for number in range(len(done), plan.rounds + 1):
        tell(f"seed {seed.number}", number / (plan.rounds + 1))
        began = time.monotonic()
        turns: dict[str, Turn] = {}
        for place, arm in enumerate(ARMS):
            target = first if arm == "fixed" else models[arm]
            rng = np.random.default_rng([seed.number, place, number])
            turns[arm], models[arm] = (
                _turn(seed, plan, done, arm, target, rng) if number else (_start(seed, first), first)
            )
        done.append(turns)
        _time(folder, seed=seed.number, round=number, seconds=time.monotonic() - began)
        state.write(state.file(folder, seed.number, number), turns)


def _turn(
    seed: Seed, plan: Plan, done: Sequence[Round], arm: str, target: Head, rng: np.random.Generator
) -> tuple[Turn, Head]:
    """Collect against the target, train on all that the arm has collected, test."""
    choose = choosing.CHOOSE[arm]
    earlier, kept_earlier = _collected(done, arm), np.concatenate([each[arm].kept for each in done])
    candidates = seed.view(seed.split.candidates, target).without(earlier)
    train = choose(candidates, plan.each, plan.tries, rng)
    later = seed.view(seed.split.later, target).without(kept_earlier)
    kept = choose(later, plan.each_test, plan.tries, rng)
    model = seed.train(np.concatenate([earlier, train.places]))
    return Turn(
        train.places, kept.places, seed.wrong(target, train.places), train.tries, train.filled,
        seed.wrong(target, seed.split.test), *_errors(seed, model),
    ), model  # fmt: skip


def _start(seed: Seed, first: Head) -> Turn:
    wrong = seed.wrong(first, seed.split.test)
    return Turn(NOTHING, NOTHING, NOTHING.astype(bool), 0, 0, wrong, *_errors(seed, first))


def _errors(seed: Seed, model: Head) -> tuple[choosing.Bools, choosing.Bools, choosing.Bools]:
    suite = model.wrong(seed.suite, seed.material.suite.labels)
    return seed.wrong(model, seed.split.test), suite, seed.wrong(model, seed.split.later)


def _collected(done: Sequence[Round], arm: str) -> Ints:
    return np.concatenate([each[arm].train for each in done])


def _time(folder: Path, **took: float) -> None:
    """Take note of how long something took, apart from what it found."""
    with (folder / "seconds.jsonl").open("a") as lines:
        lines.write(json.dumps({name: round(value, 3) for name, value in took.items()}) + "\n")
