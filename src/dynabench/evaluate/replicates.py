"""Bootstrap replicates of a module's scores, with random numbers that depend on the data set alone."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Module
from dynabench.evaluate.states import Additive, State, block_sizes
from dynabench.stats.replicates import REPLICATES, kind_counts, row_draws

CACHE_SHARE = 4  # of blocks for which memory would do: those that the processor's cache holds are quicker
Formula = Callable[[Any], Mapping[str, Any]]


def score_replicates(
    module: Module, columns: Mapping[str, Any], digest: str, times: int = REPLICATES
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
