"""What is kept of each round: enough to go on from it and to compute every figure."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation import encoding
from dynabench.cycle.simulation.choosing import Bools
from dynabench.cycle.simulation.material import Ints


@dataclass(frozen=True)
class Turn:
    """One arm's round. Round 0 is the first target: nothing was collected, what follows is its errors."""

    train: Ints
    """Places of the examples that were collected for training, and those of the part kept for tests."""
    kept: Ints
    fooled: Bools
    """Whether each of `train` fooled the target in the loop, before it was trained on."""
    tries: int
    filled: int
    target_wrong: Bools
    """Errors of the target that was in the loop, on the test rows."""
    test: Bools
    """Errors of the model that was trained afterwards: on the test rows, the suite, and all rows held for later."""
    suite: Bools
    later: Bools


Round = Mapping[str, Turn]
"""The turns of all arms."""


@dataclass(frozen=True)
class Answers:
    """What a model answers: probabilities, shape (n, K), on rows of the pool at `places`, ascending or not, and on the
    suite."""

    places: Ints
    shares: NDArray[np.float64]
    suite: NDArray[np.float64]

    def at(self, places: Ints) -> NDArray[np.float64]:
        """Those on some of the rows, in their order."""
        order = np.argsort(self.places)
        found: NDArray[np.float64] = self.shares[order[np.searchsorted(self.places, places, sorter=order)]]
        return found

    def write(self, path: Path) -> None:
        """Keep them: whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        encoding.write(path, places=self.places, shares=self.shares, suite=self.suite)

    @classmethod
    def read(cls, path: Path) -> "Answers":
        """What was kept."""
        with np.load(path, allow_pickle=False) as held:
            return cls(held["places"], held["shares"], held["suite"])


def file(folder: Path, seed: int, number: int) -> Path:
    """Where a round of a seed is kept."""
    return folder / f"seed-{seed}" / f"round-{number:02}.npz"


def answers_file(folder: Path, seed: int, number: int, arm: str) -> Path:
    """Where the answers of an arm's model after a round are kept as long as they are needed."""
    return folder / f"seed-{seed}" / f"answers-{number:02}-{arm}.npz"


def forget(folder: Path, seed: int, number: int) -> None:
    """Remove answers of models that no round after `number` asks: all but the first target's and the newest."""
    for path in (folder / f"seed-{seed}").glob("answers-*.npz"):
        if 0 < int(path.name.split("-")[1]) < number:
            path.unlink()


def write(path: Path, turns: Round) -> None:
    """Keep a round: whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[np.generic]] = {
        f"{arm}.{field.name}": np.asarray(getattr(turn, field.name))
        for arm, turn in turns.items()
        for field in fields(Turn)
    }
    encoding.write(path, **arrays)


def read(path: Path) -> Round:
    """A round that was kept."""
    with np.load(path, allow_pickle=False) as held:
        arms = dict.fromkeys(name.partition(".")[0] for name in held.files)
        return {arm: _turn({field.name: held[f"{arm}.{field.name}"] for field in fields(Turn)}) for arm in arms}


def rounds(folder: Path, seed: int, most: int) -> list[Round]:
    """The rounds of a seed that are there, from round 0 on without a gap, up to round `most`."""
    found = []
    for number in range(most + 1):
        path = file(folder, seed, number)
        if not path.is_file():
            break
        found.append(read(path))
    return found


def _turn(values: dict[str, NDArray[np.generic]]) -> Turn:
    numbers = {name: int(values[name]) for name in ("tries", "filled")}
    return Turn(**{**values, **numbers})  # type: ignore[arg-type]
