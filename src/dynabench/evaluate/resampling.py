"""Bootstrap intervals and replicates of a module's result."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.states import Additive, Rows, State, block_sizes
from dynabench.stats import bootstrap
from dynabench.stats.bootstrap import REPLICATES, kind_counts, row_draws

if TYPE_CHECKING:
    from dynabench.evaluate.module import Module

MAX_SINGLE_ROWS = 20_000  # different rows beyond which leaving out one after the other takes minutes
GROUPS = 1_000  # of rows, which are left out instead

Formula = Callable[[Any], Mapping[str, Any]]


def bootstrap_intervals(
    state: State, formula: Formula, level: float, times: int, method: str, seed: int
) -> dict[str, dict[str, Any]]:
    """Return low, high and standard error by key, each of the value's shape, with level and method.

    Raises ValueError for fewer than 2 rows or resamples.
    """
    if len(state) < 2 or times < 2:
        raise ValueError("an interval needs at least two examples and two resamples")
    value = _numeric(formula(state.total()))
    rates = _accelerations(state, formula) if method == "bca" else {}
    drawn = _stacked(formula(block) for block in state.resamples(np.random.default_rng(seed), times))
    by_key = {}
    for key, estimate in value.items():
        span = bootstrap.interval(estimate, drawn[key], level, method, rates.get(key, 0.0))
        by_key[key] = {
            "low": span.low,
            "high": span.high,
            "standard_error": span.error,
            "level": level,
            "method": method,
        }
    return by_key


def is_slow(state: State) -> bool:
    """Return whether leaving out one row of the state after the other takes minutes."""
    if isinstance(state, Additive):
        return not state.quick and len(state.atoms[1]) > MAX_SINGLE_ROWS
    return isinstance(state, Rows) and len(state) > MAX_SINGLE_ROWS


def totals_without_groups(state: State) -> Iterator[tuple[Any, Ints]]:
    """Yield totals without one of 1,000 groups of rows, in blocks, with as many ones.

    Their acceleration has the expectation of that of single rows, as third and second moments of the rows'
    influences add up within groups; its standard deviation around it is about 0.65 / 1,000, which moves a limit
    by less than a hundredth of the standard error. The groups are drawn at random, the same for all states of as
    many rows.
    """
    n = len(state)
    groups = np.array_split(np.random.default_rng(n).permutation(n), GROUPS)
    if not isinstance(state, Additive):
        for group in groups:
            yield state.at(np.delete(np.arange(n), group)[None]), np.ones(1, np.int64)
        return
    kinds, counts = state.atoms
    start = 0
    for size in block_sizes(GROUPS, state.width):
        removed = [np.bincount(kinds[group], minlength=len(counts)) for group in groups[start : start + size]]
        yield state.weighed(counts - np.stack(removed)), np.ones(size, np.int64)
        start += size


def _accelerations(state: State, formula: Formula) -> dict[str, Any]:
    without: list[Mapping[str, Any]] = []
    counts = []
    for block, count in totals_without_groups(state) if is_slow(state) else state.left_out():
        without.append(formula(block))
        counts.append(count)
    stacked = _stacked(without)
    return {key: bootstrap.acceleration(values, np.concatenate(counts)) for key, values in stacked.items()}


def _stacked(results: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    parts: dict[str, list[Any]] = {}
    for block in results:
        for key, values in _numeric(block).items():
            parts.setdefault(key, []).append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


def _numeric(results: Mapping[str, Any]) -> dict[str, Any]:
    return {key: np.asarray(value) for key, value in results.items() if np.asarray(value).dtype.kind in "iufb"}


CACHE_SHARE = 4  # of blocks for which memory would do: those that the processor's cache holds are quicker


def score_replicates(
    module: "Module", columns: Mapping[str, Any], digest: str, times: int = REPLICATES
) -> dict[str, Floats]:
    """Return the module's scores in `times` samples of its rows, by key, each of shape (times,).

    `columns` are those of `compute`, all rows of the data set in its order; `digest` names the data set. Options
    are those that the module was loaded with. Keys with a list (a score for each class) or a text are left out; a
    sample in which a score is undefined has NaN. Raises ValueError for rows that the module refuses and for
    modules that have one result for all rows and cannot be resampled.
    """
    if not hasattr(module, "formula"):
        raise ValueError(f"{module.name} says one thing about all rows and cannot be resampled")
    formula_options = module.options_for(module.formula)
    state = module.state(columns, **module.options)
    by_key = formula_replicates(state, lambda total: module.formula(total, **formula_options), digest, times)
    return {key: values for key, values in by_key.items() if values.shape == (times,)}


def formula_replicates(state: State, formula: Formula, digest: str, times: int = REPLICATES) -> dict[str, Floats]:
    """Return the numbers of the formula by key, each of shape (times, ...), for resamples of the state's n rows.

    The resampled rows depend on the digest and the number of rows alone (`stats.replicates`). Raises ValueError for
    a state without rows.
    """
    parts: dict[str, list[Floats]] = {}
    for total in _totals(state, digest, times):
        for key, values in formula(total).items():
            if (numbers := np.asarray(values)).dtype.kind in "iufb":
                parts.setdefault(key, []).append(numbers.astype(float))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _totals(state: State, digest: str, times: int) -> Iterator[Any]:
    """The state's totals in each sample, in blocks."""
    if not isinstance(state, Additive):
        yield from (state.at(rows) for rows in row_draws(digest, len(state), times))
        return
    kinds, atoms = state.atoms
    drawn = kind_counts(digest, kinds, len(atoms), times)
    for size in block_sizes(times, CACHE_SHARE * state.width):
        yield state.weighed(np.stack(list(islice(drawn, size))))
