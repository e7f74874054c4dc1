"""States of random systems over the same rows, for tests."""

import numpy as np
from hypothesis import strategies as st

from dynabench.evaluate.confusion import Cells
from dynabench.evaluate.states import Rows, Sums


def formula(total):
    """A number of any total or block: something that depends on all of it."""
    if hasattr(total, "counts"):
        weights = np.arange(1, total.counts.shape[-1] + 1)
        return {"x": (total.counts * weights).sum((-1, -2)) / np.maximum(total.counts.sum((-1, -2)), 1)}
    if isinstance(total, tuple):
        return {"x": (total[0] * np.sign(total[-1])).mean(-1)}
    return {"x": total[..., 0] / total[..., -1]}


def statistic(total):
    return np.asarray(formula(total)["x"], float)


def state(kind, n, seed):
    """One system's state: `kind` says which sort, `seed` what the system says."""
    rng, true = np.random.default_rng(seed), np.random.default_rng(99).integers(0, 3, n)
    if kind == "bool":
        return Sums(rng.random(n) < 0.6)
    if kind == "few":
        return Sums(rng.integers(0, 3, (n, 2)))
    if kind == "floats":
        return Sums(rng.normal(size=(n, 2)))
    if kind == "cells":
        return Cells.of(true, rng.integers(0, 2 + seed % 3, n))  # label sets differ from system to system
    if kind == "weighted":
        return Cells.of(true, rng.integers(0, 3, n), rng.integers(1, 3, n).astype(float))
    return Rows((rng.integers(-2, 3, n), rng.normal(size=n)))


KINDS = ("bool", "few", "floats", "cells", "weighted", "rows")


@st.composite
def systems(draw, least=1, most=4):
    """Some states over n rows, of any sorts."""
    n = draw(st.integers(1, 30))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=least, max_size=most))
    return [state(kind, n, draw(st.integers(0, 1000))) for kind in kinds]
