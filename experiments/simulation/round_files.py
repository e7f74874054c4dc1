"""The files of finished rounds: all that is needed to continue an experiment and to compute every figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.simulation import text_vectors
from experiments.simulation.selection import BoolArray
from experiments.simulation.task_data import IntArray


@dataclass(frozen=True)
class ArmRound:
    """One arm's part of a round. Round 0 is the first target: nothing was collected, the rest is its errors."""

    train_rows: IntArray
    """Rows of the pool that were collected for training."""
    test_rows: IntArray
    """Rows of the pool that were collected for testing later models."""
    fooled: BoolArray
    """Whether each of `train_rows` fooled the target, before it was trained on."""
    tries: int
    unfooled: int
    """Training examples that were taken without fooling the target, because too few did."""
    target_errors: BoolArray
    """Errors of the round's target on the test part of the split."""
    test_errors: BoolArray
    """Errors of the model that was trained after the round: on the test part, the suite and the `later` part."""
    suite_errors: BoolArray
    later_errors: BoolArray


ARRAY_NAMES = {
    "train_rows": "train",
    "test_rows": "kept",
    "fooled": "fooled",
    "tries": "tries",
    "unfooled": "filled",
    "target_errors": "target_wrong",
    "test_errors": "test",
    "suite_errors": "suite",
    "later_errors": "later",
}
"""Name of each field of `ArmRound` in a stored round."""
SimulatedRound = Mapping[str, ArmRound]
"""A round: the part of each arm, by the arm's name."""


@dataclass(frozen=True)
class ModelAnswers:
    """Probabilities that a model gives, shape (n, K), for some rows of the pool, in any order, and for the suite."""

    rows: IntArray
    probabilities: NDArray[np.float64]
    suite: NDArray[np.float64]

    def select(self, rows: IntArray) -> NDArray[np.float64]:
        """Return the probabilities for some of the rows, in their order."""
        order = np.argsort(self.rows)
        selected: NDArray[np.float64] = self.probabilities[order[np.searchsorted(self.rows, rows, sorter=order)]]
        return selected

    def write(self, path: Path) -> None:
        """Write the answers to a file that is either complete or absent."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text_vectors.write_arrays(path, places=self.rows, shares=self.probabilities, suite=self.suite)

    @classmethod
    def read(cls, path: Path) -> "ModelAnswers":
        """Read stored answers."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(arrays["places"], arrays["shares"], arrays["suite"])


def round_path(folder: Path, seed: int, number: int) -> Path:
    """Return the file of a seed's round."""
    return folder / f"seed-{seed}" / f"round-{number:02}.npz"


def answers_path(folder: Path, seed: int, number: int, arm: str) -> Path:
    """Return the file for the answers of an arm's model after a round; it exists as long as it is needed."""
    return folder / f"seed-{seed}" / f"answers-{number:02}-{arm}.npz"


def remove_old_answers(folder: Path, seed: int, number: int) -> None:
    """Remove the answers that no round after `number` needs: all except the first target's and the newest."""
    for path in (folder / f"seed-{seed}").glob("answers-*.npz"):
        if 0 < int(path.name.split("-")[1]) < number:
            path.unlink()


def write_round(path: Path, arms: SimulatedRound) -> None:
    """Write a round to a file that is either complete or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[np.generic]] = {
        f"{arm}.{array_name}": np.asarray(getattr(part, field_name))
        for arm, part in arms.items()
        for field_name, array_name in ARRAY_NAMES.items()
    }
    text_vectors.write_arrays(path, **arrays)


def read_round(path: Path) -> SimulatedRound:
    """Read a stored round."""
    with np.load(path, allow_pickle=False) as arrays:
        arms = dict.fromkeys(name.partition(".")[0] for name in arrays.files)
        return {
            arm: _arm_round({field: arrays[f"{arm}.{array_name}"] for field, array_name in ARRAY_NAMES.items()})
            for arm in arms
        }


def read_rounds(folder: Path, seed: int, last: int) -> list[SimulatedRound]:
    """Read the rounds of a seed from round 0 up to the first that is missing, at most up to round `last`."""
    rounds = []
    for number in range(last + 1):
        path = round_path(folder, seed, number)
        if not path.is_file():
            break
        rounds.append(read_round(path))
    return rounds


def _arm_round(values: dict[str, NDArray[np.generic]]) -> ArmRound:
    numbers = {name: int(values[name]) for name in ("tries", "unfooled")}
    return ArmRound(**{**values, **numbers})  # type: ignore[arg-type]
