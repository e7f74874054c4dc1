"""A leaderboard from stored replicates, and making the replicates of one score, against the plain way to do each."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.row import Row, median_ms
from dynabench.evaluate import load
from dynabench.evaluate.replicating import replicated
from dynabench.stats.averages import averaged, shares
from dynabench.stats.dynascore import dynascore, exchange
from dynabench.stats.ranks import RankInterval, board_replicates, rank_intervals
from dynabench.stats.replicates import TIMES, draws

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
    what = f"leaderboard of {MODELS} models x {len(METRICS)} metrics x {len(DATASETS)} data sets with rank intervals"
    return Row(what, ours, "ms", "error of each pair in turn", plain, "50 ms", ours <= 50)


def board(stored: list[bytes], scores: dict[str, dict[str, dict[str, float]]]) -> list[RankInterval]:
    """Dynascores and rank intervals of all models from what the database has of them."""
    means, share = averaged(scores), shares(scores)
    found = dynascore(means, "accuracy", directions=DIRECTIONS)
    rates = exchange(means, "accuracy", directions=DIRECTIONS)
    coefficients = [[rates[metric] * share[metric][dataset] for dataset in DATASETS] for metric in METRICS]
    return rank_intervals(list(found.values()), board_replicates(_unpacked(stored), coefficients))


def _unpacked(stored: list[bytes]) -> NDArray[np.float32]:
    planes = np.frombuffer(b"".join(stored), "<f4").reshape(len(METRICS), len(DATASETS), MODELS, TIMES)
    return planes.transpose(3, 2, 0, 1)


def _plain(stored: list[bytes], scores: dict[str, dict[str, dict[str, float]]]) -> None:
    """Without steps and shared quantiles: the standard error of each pair's difference, one pair after the other."""
    rates = exchange(averaged(scores), "accuracy", directions=DIRECTIONS)
    drawn = np.einsum("bmkd,k->bm", _unpacked(stored), [rates[metric] / len(DATASETS) for metric in METRICS])
    for one, other in combinations(range(MODELS), 2):
        (drawn[:, one] - drawn[:, other]).std(ddof=1)


def _stored() -> tuple[list[bytes], dict[str, dict[str, dict[str, float]]]]:
    """Replicates as they are stored, by metric, data set and model, and the scores."""
    rng = np.random.default_rng(0)
    shape = (len(METRICS), len(DATASETS), MODELS)
    values = np.linspace(0.6, 0.9, MODELS) + rng.normal(0, 0.02, shape)
    shared = rng.normal(0, 0.005, (*shape[:2], 1, TIMES))
    drawn = (values[..., None] + shared + rng.normal(0, 0.005, (*shape, TIMES))).astype("<f4")
    scores = {
        f"model {model}": {
            dataset: {metric: float(values[k, d, model]) for k, metric in enumerate(METRICS)}
            for d, dataset in enumerate(DATASETS)
        }
        for model in range(MODELS)
    }
    return [one.tobytes() for one in drawn.reshape(-1, TIMES)], scores


def _replicates() -> list[Row]:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, ROWS)
    said = np.where(rng.random(ROWS) < 0.8, true, rng.integers(0, 3, ROWS))
    columns = {"predictions": said, "references": true}
    found = []
    for name, options in (("accuracy", {}), ("f1", {"average": "macro"})):
        module = load(name, **options)

        def plain(module: object = module) -> None:
            for block in draws("a digest", ROWS):
                for chosen in block:
                    module.compute(**{key: column[chosen] for key, column in columns.items()})  # type: ignore[attr-defined]

        ours = median_ms(lambda module=module: replicated(module, columns, "a digest"), 9)
        what = f"{TIMES:,} replicates of {' '.join([*options.values(), name])}, {ROWS:,} rows"
        anchor = median_ms(plain, 1, 0)
        found.append(Row(what, ours, "ms", "the metric on each sample", anchor, "100 ms", ours <= 100))
    return found
