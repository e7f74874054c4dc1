"""The threshold of a two-way classifier, chosen on development rows and baked into its bias."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.training.recipes import Aim
from dynabench.models.training.rows import Row
from dynabench.models.training.scoring import of_counts

BIASES = {"adapter": ("head.safetensors", "out.bias"), "ngram": ("ngram.safetensors", "bias")}
"""The file and the tensor that hold a model's bias, by its kind."""
SHIFTS = np.round(np.arange(-3.0, 3.01, 0.05), 2)
WIDTH = 7
"""Neighbouring shifts whose mean value is compared: a single best shift owes too much to single rows."""

Floats = NDArray[np.float64]


def calibrate(folder: Path, development: Mapping[str, Sequence[Row]], aim: Aim = "mean") -> float:
    """Add to the first label's bias what gives the best macro F1 over the development sets; returns it.

    Raises `Invalid` for a model with other than two labels or without development rows.
    """
    details = spec.read(folder)
    if len(details.labels) != 2 or not any(development.values()):
        raise Invalid({"calibrate": "A threshold needs a model of two labels and development rows."})
    model = catalog.open_model(folder)
    first = details.labels[0]
    odds, truth = [], []
    for rows in development.values():
        outputs = model.predict([row.inputs for row in rows])
        odds.append(np.array([_log_odds((output.probabilities or {})[first]) for output in outputs]))
        truth.append(np.array([row.label == first for row in rows]))
    chosen = best(odds, truth, aim)
    add(folder, details.kind, chosen)
    return chosen


def best(odds: Sequence[Floats], truth: Sequence[NDArray[np.bool_]], aim: Aim = "mean") -> float:
    """The shift of the first label's log-odds with the best mean, or the best least, macro F1 over data sets.

    `odds` and `truth` hold an array (rows,) per data set: log-odds of the first label, and whether it is right. Of
    equal shifts the one nearest to none is taken.
    """
    found = np.array([[_macro_f1(z + shift > 0, y) for z, y in zip(odds, truth, strict=True)] for shift in SHIFTS])
    values = found.mean(1) if aim == "mean" else found.min(1)
    smooth = np.convolve(np.pad(values, WIDTH // 2, mode="edge"), np.full(WIDTH, 1 / WIDTH), "valid")
    top = np.flatnonzero(smooth >= smooth.max() - 1e-9)
    return float(min(SHIFTS[top], key=abs)) + 0.0  # never "-0.0"


def add(folder: Path, kind: str, shift: float) -> None:
    """Add `shift` to the first label's bias in the folder's weights."""
    from safetensors.numpy import load_file, save_file

    file, name = BIASES[kind]
    tensors = load_file(folder / file)
    tensors[name][0] += shift
    save_file(tensors, folder / file)
    (folder / file).chmod(0o644)


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return float(np.log(inside / (1 - inside)))


def _macro_f1(answered: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    counts = np.array([[np.sum((truth == t) & (answered == a)) for a in (True, False)] for t in (True, False)])
    return of_counts(counts).macro_f1
