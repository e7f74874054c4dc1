"""Results with `compat=True`: the types that code written for Hugging Face `evaluate` works with."""

import numpy as np
import pytest

from dynabench.evaluate import load

LABELS = {"predictions": [0, 2, 1, 0], "references": [0, 1, 1, 0]}
SETS = {"references": [[1, 0], [0, 0]], "prediction_scores": [[0.9, 0.1], [0.2, 0.3]]}
ROWS = {"predictions": [[1.0, 2.0], [3.0, 4.0]], "references": [[1.0, 1.0], [1.0, 1.0]]}
MAPS = {"predictions": [np.array([[0, 1]])], "references": [np.array([[0, 0]])]}
CURVES = {"timesteps": [list(range(50))] * 2, "rewards": [[float(x) for x in range(50)]] * 2}
CASES = [
    ("f1", None, LABELS, {"average": None}, "f1"),
    ("precision", None, LABELS, {"average": None}, "precision"),
    ("recall", None, LABELS, {"average": None}, "recall"),
    ("roc_auc", "multilabel", SETS, {"average": None}, "roc_auc"),
    ("mae", "multilist", ROWS, {"multioutput": "raw_values"}, "mae"),
    ("mase", "multilist", ROWS, {"multioutput": "raw_values", "training": [[1.0, 2.0], [3.0, 5.0]]}, "mase"),
    ("mahalanobis", None, {"X": [[1.0, 2.0]]}, {"reference_distribution": [[0, 1], [1, 0]]}, "mahalanobis"),
    ("mean_iou", None, MAPS, {"num_labels": 3, "ignore_index": 255}, "per_category_iou"),
    ("rl_reliability", "offline", CURVES, {}, "MadAcrossRollouts"),
]


@pytest.mark.parametrize(("name", "config", "columns", "options", "key"), CASES)
def test_lists_are_arrays_and_none_is_nan(name, config, columns, options, key):
    plain = load(name, config).compute(**columns, **options)[key]
    result = load(name, config, compat=True).compute(**columns, **options)[key]
    assert isinstance(plain, list)
    assert isinstance(result, np.ndarray)
    assert result == pytest.approx(np.array(plain, float), nan_ok=True)


def test_single_numbers_stay_plain():
    assert type(load("f1", compat=True).compute(**LABELS, average="macro")["f1"]) is float


def test_the_divergence_curve_of_mauve_can_be_sliced():
    rng = np.random.default_rng(0)
    points = {"p_features": rng.normal(size=(30, 3)), "q_features": rng.normal(size=(30, 3))}
    assert load("mauve", compat=True).compute(**points).divergence_curve[:, 1].ndim == 1
