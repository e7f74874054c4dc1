"""A leaderboard from stored replicates, and making the replicates of one score, against the plain way to do each."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.row import Row, median_ms
from dynabench.evaluate import load
from dynabench.evaluate.resampling import score_replicates
from dynabench.stats.averages import average_over_datasets, dataset_shares
from dynabench.stats.bootstrap import REPLICATES, row_draws
from dynabench.stats.dynascore import dynascore, exchange_rates
from dynabench.stats.ranks import RankInterval, rank_intervals, weighted_replicates

MODELS, ROWS = 100, 10_000
METRICS = ("accuracy", "f1", "fairness", "robustness", "calibration_error")
DATASETS = tuple(f"data {number}" for number in range(10))
DIRECTIONS = {"calibration_error": -1}


def rows() -> list[Row]:
    """All figures of this file."""
    return [_leaderboard(), *_replicates()]


def _leaderboard() -> Row:
    stored, scores = _stored()
    ours = median_ms(lambda: board(stored, scores), 9)
    plain = median_ms(lambda: _plain(stored, scores), 1, 0)
    subject = f"leaderboard of {MODELS} models x {len(METRICS)} metrics x {len(DATASETS)} data sets with rank intervals"
    return Row(subject, ours, "ms", "error of each pair in turn", plain, "50 ms", ours <= 50)


def board(stored: list[bytes], scores: dict[str, dict[str, dict[str, float]]]) -> list[RankInterval]:
    """Dynascores and rank intervals of all models from what the database has of them."""
    means, share = average_over_datasets(scores), dataset_shares(scores)
    result = dynascore(means, "accuracy", directions=DIRECTIONS)
    rates = exchange_rates(means, "accuracy", directions=DIRECTIONS)
    coefficients = [[rates[metric] * share[metric][dataset] for dataset in DATASETS] for metric in METRICS]
    return rank_intervals(list(result.values()), weighted_replicates(_unpacked(stored), coefficients))


def _unpacked(stored: list[bytes]) -> NDArray[np.float32]:
    planes = np.frombuffer(b"".join(stored), "<f4").reshape(len(METRICS), len(DATASETS), MODELS, REPLICATES)
    return planes.transpose(3, 2, 0, 1)


def _plain(stored: list[bytes], scores: dict[str, dict[str, dict[str, float]]]) -> None:
    """Without steps and shared quantiles: the standard error of each pair's difference, one pair after the other."""
    rates = exchange_rates(average_over_datasets(scores), "accuracy", directions=DIRECTIONS)
    drawn = np.einsum("bmkd,k->bm", _unpacked(stored), [rates[metric] / len(DATASETS) for metric in METRICS])
    for item, other in combinations(range(MODELS), 2):
        (drawn[:, item] - drawn[:, other]).std(ddof=1)


def _stored() -> tuple[list[bytes], dict[str, dict[str, dict[str, float]]]]:
    """Replicates as they are stored, by metric, data set and model, and the scores."""
    rng = np.random.default_rng(0)
    shape = (len(METRICS), len(DATASETS), MODELS)
    values = np.linspace(0.6, 0.9, MODELS) + rng.normal(0, 0.02, shape)
    shared = rng.normal(0, 0.005, (*shape[:2], 1, REPLICATES))
    drawn = (values[..., None] + shared + rng.normal(0, 0.005, (*shape, REPLICATES))).astype("<f4")
    scores = {
        f"model {model}": {
            dataset: {metric: float(values[k, d, model]) for k, metric in enumerate(METRICS)}
            for d, dataset in enumerate(DATASETS)
        }
        for model in range(MODELS)
    }
    return [item.tobytes() for item in drawn.reshape(-1, REPLICATES)], scores


def _replicates() -> list[Row]:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, ROWS)
    text = np.where(rng.random(ROWS) < 0.8, true, rng.integers(0, 3, ROWS))
    columns = {"predictions": text, "references": true}
    result = []
    for name, options in (("accuracy", {}), ("f1", {"average": "macro"})):
        module = load(name, **options)

        def plain(module: object = module) -> None:
            for block in row_draws("a digest", ROWS):
                for chosen in block:
                    module.compute(**{key: column[chosen] for key, column in columns.items()})  # type: ignore[attr-defined]

        ours = median_ms(lambda module=module: score_replicates(module, columns, "a digest"), 9)
        subject = f"{REPLICATES:,} replicates of {' '.join([*options.values(), name])}, {ROWS:,} rows"
        anchor = median_ms(plain, 1, 0)
        result.append(Row(subject, ours, "ms", "the metric on each sample", anchor, "100 ms", ours <= 100))
    return result
