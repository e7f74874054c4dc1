"""Coverage of all true ranks by rank intervals: `python scripts/rank_coverage.py [repetitions]`, about two minutes.

Models answer binary questions right with known chances; what is hard for one is hard for others. The table that it
prints stands in docs/explanation/boards.md.
"""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dynabench.stats.ranks import rank_intervals

COMMON = 0.7  # share of the variance of "how well is it answered" that questions have in common
CASES: list[tuple[str, Sequence[float], int]] = [
    ("3, all equal", [0.8] * 3, 200),
    ("3, all equal", [0.8] * 3, 1000),
    ("3, two equal, one apart", [0.8, 0.8, 0.6], 1000),
    ("3, nearly equal", [0.8, 0.801, 0.78], 1000),
    ("50, all equal", [0.8] * 50, 300),
    ("50, all equal", [0.8] * 50, 1000),
    ("50, nearly equal", [0.8 + 0.0005 * place for place in range(50)], 1000),
    ("50, evenly spread", np.linspace(0.5, 0.9, 50).tolist(), 1000),
    ("50, ten groups of five equal ones", np.repeat(np.linspace(0.5, 0.9, 10), 5).tolist(), 1000),
]


def true_ranks(skills: Sequence[float]) -> list[tuple[int, int]]:
    """The first and last place that each model may claim."""
    return [
        (1 + sum(other > item for other in skills), len(skills) - sum(other < item for other in skills))
        for item in skills
    ]


def _counts(rng: np.random.Generator, rows: int, times: int) -> NDArray[np.float32]:
    """Return the number of times that each row is in each sample, shape (times, rows)."""
    drawn = rng.integers(0, rows, (times, rows)) + np.arange(times)[:, None] * rows
    return np.bincount(drawn.ravel(), minlength=times * rows).reshape(times, rows).astype(np.float32)


def once(
    skills: Sequence[float], rows: int, rng: np.random.Generator, times: int = 1000, level: float = 0.95
) -> tuple[bool, float]:
    """Return whether the intervals of one simulated board cover all true ranks, and their mean width in places."""
    ease = np.sqrt(COMMON) * rng.normal(size=(rows, 1)) + np.sqrt(1 - COMMON) * rng.normal(size=(rows, len(skills)))
    right = (ease < ndtri(skills)).astype(np.float32)
    counts = _counts(rng, rows, times)
    result = rank_intervals(right.mean(0), counts @ right / rows, level)
    pairs = [((item.low or 0), (item.high or 0)) for item in result]
    covered = all(
        low <= first and last <= high for (low, high), (first, last) in zip(pairs, true_ranks(skills), strict=True)
    )
    return covered, float(np.mean([high - low + 1 for low, high in pairs]))


def main(repetitions: int) -> None:
    """Print the table."""
    print("| models | rows | all ranks covered at 95 % | places in an interval |\n|---|---|---|---|")
    for number, (name, skills, rows) in enumerate(CASES):
        rng = np.random.default_rng(number)
        result = [once(skills, rows, rng) for _ in range(repetitions)]
        share, places = np.mean([covered for covered, _ in result]), np.mean([width for _, width in result])
        print(f"| {name} | {rows:,} | {100 * share:.1f} % | {places:.1f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
