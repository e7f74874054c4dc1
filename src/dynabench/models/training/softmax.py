"""Softmax regression by L-BFGS on any table of features, sparse or dense."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Progress = Callable[[float, float], None]
Floats = NDArray[np.float64]
ITERATIONS = 120


def fit(
    table: Any,
    turned: Any,
    labels: NDArray[np.int64],
    barred: NDArray[np.bool_],
    strength: float,
    progress: Progress,
    amounts: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Weights (columns, labels) and bias (labels,) for rows `table` (n, columns), whose transpose is `turned`.

    Minimises `strength` * summed cross entropy + squared weights / 2 (scikit-learn's objective, bias unpenalised).
    Labels that are `barred` (n, labels) for a row are not compared; `amounts` (n,) says how often each row counts.
    """
    n, k = barred.shape
    often = np.ones(n) if amounts is None else amounts
    target = np.zeros((n, k))
    target[np.arange(n), labels] = 1.0
    steps = [0]

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights, bias = flat[:-k].reshape(-1, k), flat[-k:]
        logits = np.where(barred, -np.inf, table @ weights + bias)
        logits -= logits.max(-1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(-1, keepdims=True)
        loss = strength * float((often * (np.log(total[:, 0]) - logits[np.arange(n), labels])).sum())
        error = often[:, None] * (odds / total - target)
        slope = np.concatenate([(strength * (turned @ error) + weights).ravel(), strength * error.sum(0)])
        steps[0] += 1
        progress(min(steps[0] / ITERATIONS, 1.0), loss / (strength * float(often.sum())))
        return loss + 0.5 * float((weights**2).sum()), slope

    start: Any = np.zeros(table.shape[1] * k + k)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS, "gtol": 1e-3}).x
    return best[:-k].reshape(-1, k), np.asarray(best[-k:])
