"""The ladder: scores of hidden data shown to a person who submits again and again, without overfitting the data.

Source: Blum and Hardt, The Ladder: A Reliable Leaderboard for Machine Learning Competitions, ICML 2015: the
mechanism with a fixed step, and the one without parameters, of which the step is a standard error of a paired
difference. A board that shows every score lets k tries gain about the root of k / n by chance; here they gain
(log k / n)^(1/3) at most.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class ShownScore:
    """The display after a submission: a score, the number of the submission that it is of, and whether it is new."""

    value: float | None
    best: int | None
    new: bool


def ladder_scores(values: Sequence[float], step: float, direction: int = 1) -> list[ShownScore]:
    """Return the display after each submission of one person, whose scores are `values`, the oldest first.

    A score is shown, rounded to multiples of `step`, if it is better than the shown one by more than `step`; else
    the old one stays. The first is always shown; scores that are not finite never are. `direction` is -1 where
    less is better. Raises ValueError for a step that is not above 0 and for another direction.
    """
    if not 0 < step < float("inf"):
        raise ValueError(f"a step is a number above 0, not {step}")
    return _climb(values, lambda new, best: step, step, direction)


def parameter_free_ladder_scores(
    values: Sequence[float], replicates: ArrayLike, rows: int, direction: int = 1, level: float | None = None
) -> list[ShownScore]:
    """Return the same with a step from the data: the standard error of the difference to the shown submission.

    `replicates`, shape (B, T), are paired samples of the T scores, over a data set of n = `rows` rows; for a mean
    over rows their differences vary by the s / sqrt(n) of the paper, and other metrics are served alike. With
    `level` the step is that of a one-sided paired t test with this confidence (0.95) instead of one standard
    error. Shown scores are rounded to multiples of 1 / n. Raises ValueError for shapes that do not fit, fewer
    than 2 samples or rows, a level that is not between 0.5 and 1, and another direction.
    """
    drawn = np.asarray(replicates, float)
    if drawn.ndim != 2 or drawn.shape[1] != len(values) or len(drawn) < 2:
        raise ValueError(f"{len(values)} submissions need replicates of shape (B, {len(values)}), not {drawn.shape}")
    if rows < 2 or (level is not None and not 0.5 < level < 1):
        raise ValueError("a ladder needs at least 2 rows, and a level between 0.5 and 1")
    errors = 1.0 if level is None else _student(level, rows - 1)

    def step(new: int, best: int) -> float:
        return errors * float((drawn[:, new] - drawn[:, best]).std(ddof=1))

    return _climb(values, step, 1 / rows, direction)


def _climb(values: Sequence[float], step: Callable[[int, int], float], unit: float, direction: int) -> list[ShownScore]:
    if direction not in (1, -1):
        raise ValueError("a direction is 1 (more is better) or -1 (less is better)")
    shown_value, best = None, 0
    results = []
    for place, value in enumerate(values):
        new = False
        if isfinite(value / unit):
            rounded = round(value / unit) * unit
            new = shown_value is None or (
                direction * (value - shown_value) > step(place, best) and direction * (rounded - shown_value) > 0
            )
            if new:
                shown_value, best = rounded, place
        results.append(ShownScore(shown_value, None if shown_value is None else best, new))
    return results


def _student(level: float, freedom: int) -> float:
    from scipy.special import stdtrit  # a quarter of a second to import, which the web process need not start with

    return float(stdtrit(freedom, level))
