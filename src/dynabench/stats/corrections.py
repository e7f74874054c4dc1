"""Corrections of p values for many tests at once.

Sources: Holm, Scandinavian Journal of Statistics 6 (1979) 65-70; Benjamini and Hochberg, Journal of the Royal
Statistical Society B 57 (1995) 289-300; Dunn, JASA 56 (1961) 52-64 (Bonferroni's inequality for many comparisons).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def bonferroni(p: ArrayLike) -> Floats:
    """Return corrected p values, shape (m,), that keep the probability of any false finding below the level."""
    values = _checked(p)
    return np.minimum(values * len(values), 1.0)


def holm(p: ArrayLike) -> Floats:
    """Return corrected p values, shape (m,), with the guarantee of Bonferroni's correction and never larger."""
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    return _in_first_order(np.maximum.accumulate(steps), order)


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return corrected p values, shape (m,), that keep the expected share of false findings below the level.

    Holds for independent tests and for those that depend positively on each other.
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")[::-1]
    steps = values[order] * (len(values) / np.arange(len(values), 0, -1))
    return _in_first_order(np.minimum.accumulate(steps), order)


def uncorrected(p: ArrayLike) -> Floats:
    """Return the p values unchanged."""
    return _checked(p)


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": uncorrected,
}


def correct_p_values(p: ArrayLike, correction: str = "holm") -> Floats:
    """Return the p values, shape (m,), after the correction of this name.

    Raises ValueError for an unknown name or p.
    """
    if correction not in CORRECTIONS:
        raise ValueError(f"no correction {correction!r}; there are {', '.join(CORRECTIONS)}")
    return CORRECTIONS[correction](p)


def _checked(p: ArrayLike) -> Floats:
    values = np.array(p, float, ndmin=1)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise ValueError("give a list of p values between 0 and 1")
    return values


def _in_first_order(steps: Floats, order: NDArray[np.intp]) -> Floats:
    """Sorted values in their first order, at most 1."""
    restored = np.empty_like(steps)
    restored[order] = np.minimum(steps, 1.0)
    return restored
