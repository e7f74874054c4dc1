"""Bootstrap intervals of whatever a formula says about a state."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dynabench.evaluate.labels import Ints
from dynabench.evaluate.states import Additive, Rows, State, blocks
from dynabench.stats import bootstrap

LONGEST = 20_000  # different rows beyond which leaving out one after the other takes minutes
GROUPS = 1_000  # of rows, which are left out instead

Formula = Callable[[Any], Mapping[str, Any]]


def intervals(
    state: State, formula: Formula, level: float, times: int, method: str, seed: int
) -> dict[str, dict[str, Any]]:
    """By key of the result: low, high and standard error, each of the value's shape, with level and method.

    Raises ValueError for fewer than 2 rows or resamples.
    """
    if len(state) < 2 or times < 2:
        raise ValueError("an interval needs at least two examples and two resamples")
    value = _numeric(formula(state.total()))
    rates = _accelerations(state, formula) if method == "bca" else {}
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


def slow(state: State) -> bool:
    """Whether leaving out one row of the state after the other takes minutes."""
    if isinstance(state, Additive):
        return not state.quick and len(state.atoms[1]) > LONGEST
    return isinstance(state, Rows) and len(state) > LONGEST


def without_groups(state: State) -> Iterator[tuple[Any, Ints]]:
    """Totals without one of 1,000 groups of rows, in blocks, with as many ones.

    Their acceleration has the expectation of that of single rows, as third and second moments of the rows' influences
    add up within groups; its standard deviation around it is about 0.65 / 1,000, which moves a limit by less than a
    hundredth of the standard error. The groups are drawn at random, the same for all states of as many rows.
    """
    n = len(state)
    groups = np.array_split(np.random.default_rng(n).permutation(n), GROUPS)
    if not isinstance(state, Additive):
        for group in groups:
            yield state.at(np.delete(np.arange(n), group)[None]), np.ones(1, np.int64)
        return
    kinds, counts = state.atoms
    start = 0
    for size in blocks(GROUPS, state.width):
        gone = [np.bincount(kinds[group], minlength=len(counts)) for group in groups[start : start + size]]
        yield state.weighed(counts - np.stack(gone)), np.ones(size, np.int64)
        start += size


def _accelerations(state: State, formula: Formula) -> dict[str, Any]:
    without: list[Mapping[str, Any]] = []
    counts = []
    for block, count in without_groups(state) if slow(state) else state.left_out():
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
