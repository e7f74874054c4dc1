"""Replicates of whatever a module says, with random numbers that belong to the data set."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Module
from dynabench.evaluate.states import Additive, State, blocks
from dynabench.stats.replicates import TIMES, counts, draws

Formula = Callable[[Any], Mapping[str, Any]]


def replicated(module: Module, columns: Mapping[str, Any], digest: str, times: int = TIMES) -> dict[str, Floats]:
    """The module's scores in `times` samples of its rows, by key, each of shape (times,).

    `columns` are what `compute` takes, all rows of the data set in its order; `digest` names the data set. Options are
    those that the module was loaded with. Keys that hold a list (a score for each class) or a text are left out; a
    sample in which a score is undefined has NaN. Raises ValueError for rows that the module refuses and for modules
    that say one thing about all rows and cannot be resampled.
    """
    if not hasattr(module, "formula"):
        raise ValueError(f"{module.name} says one thing about all rows and cannot be resampled")
    chosen = module.options_for(module.formula)
    state = module.state(columns, **module.options)
    found = replicates(state, lambda total: module.formula(total, **chosen), digest, times)
    return {key: values for key, values in found.items() if values.shape == (times,)}


def replicates(state: State, formula: Formula, digest: str, times: int = TIMES) -> dict[str, Floats]:
    """Numbers of the formula by key, each of shape (times, ...), as if the state's n rows were drawn again.

    Which rows are drawn depends on the digest and the number of rows alone (`stats.replicates`). Raises ValueError for
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
        yield from (state.at(rows) for rows in draws(digest, len(state), times))
        return
    kinds, atoms = state.atoms
    drawn = counts(digest, kinds, len(atoms), times)
    for size in blocks(times, state.width):
        yield state.weighed(np.stack(list(islice(drawn, size))))
