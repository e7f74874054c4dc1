"""Bootstrap intervals of whatever a formula says about a state."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dynabench.evaluate.states import Rows, State
from dynabench.stats import bootstrap

LONGEST = 20_000  # rows beyond which leaving out one row after the other takes minutes

Formula = Callable[[Any], Mapping[str, Any]]


def intervals(
    state: State, formula: Formula, level: float, times: int, method: str, seed: int
) -> dict[str, dict[str, Any]]:
    """By key of the result: low, high and standard error, each of the value's shape, with level and method.

    Raises ValueError for fewer than 2 rows or resamples, and for BCa over more than 20,000 rows of a state that has
    to leave out row after row.
    """
    if len(state) < 2 or times < 2:
        raise ValueError("an interval needs at least two examples and two resamples")
    bca = method == "bca"
    if bca and isinstance(state, Rows):
        refuse_long(len(state), len(state))
    value = _numeric(formula(state.total()))
    rates = _accelerations(state, formula) if bca else {}  # first, as it may refuse
    drawn = _stacked(formula(block) for block in state.resamples(np.random.default_rng(seed), times))
    found = {}
    for key, estimate in value.items():
        span = bootstrap.interval(estimate, drawn[key], level, method, rates.get(key, 0.0))
        found[key] = {
            "low": span.low,
            "high": span.high,
            "standard_error": span.error,
            "level": level,
            "method": method,
        }
    return found


def refuse_long(n: int, different: int) -> None:
    """Raise ValueError where leaving out one of n rows after the other, `different` ones only once, takes too long."""
    if different > LONGEST:
        raise ValueError(f"BCa computes this once without each of {n:,} rows; use method='percentile'")


def _accelerations(state: State, formula: Formula) -> dict[str, Any]:
    without: list[Mapping[str, Any]] = []
    counts = []
    for block, count in state.left_out():
        without.append(formula(block))
        counts.append(count)
    stacked = _stacked(without)
    return {key: bootstrap.acceleration(values, np.concatenate(counts)) for key, values in stacked.items()}


def _stacked(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    parts: dict[str, list[Any]] = {}
    for block in found:
        for key, values in _numeric(block).items():
            parts.setdefault(key, []).append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


def _numeric(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: np.asarray(value) for key, value in found.items() if np.asarray(value).dtype.kind in "iufb"}
