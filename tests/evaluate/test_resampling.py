"""BCa limits of many rows, which leave out groups of rows, against those that leave out one row after the other."""

from typing import Any

import numpy as np
import pytest

from dynabench.evaluate import load, resampling, score_differences
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.label_states import WeightedRows
from dynabench.evaluate.score_differences import ResamplingOptions, StatePair
from dynabench.evaluate.states import Rows

N = 4000


def skewed(seed: int) -> Floats:
    """Few large numbers among many small ones: what BCa is for."""
    return np.random.default_rng(seed).lognormal(sigma=2.0, size=(N, 1)).round(3)


def mean(block: Any) -> dict[str, Any]:
    """The mean by key, of a total of `Weighted` or `Rows`."""
    if isinstance(block, tuple):
        return {"mean": np.asarray(block[0]).mean(-1)}
    return {"mean": block.weights @ block.rows[:, 0] / block.weights.sum(-1)}


@pytest.mark.release
@pytest.mark.parametrize("state", [WeightedRows(skewed(0)), Rows((skewed(0)[:, 0],))], ids=["weighted", "rows"])
def test_groups_of_rows_give_the_limits_of_single_rows(monkeypatch: pytest.MonkeyPatch, state: Any) -> None:
    exact = resampling.bootstrap_intervals(state, mean, 0.95, 999, "bca", 0)["mean"]
    percentile = resampling.bootstrap_intervals(state, mean, 0.95, 999, "percentile", 0)["mean"]
    monkeypatch.setattr(resampling, "MAX_SINGLE_ROWS", 1000)
    grouped = resampling.bootstrap_intervals(state, mean, 0.95, 999, "bca", 0)["mean"]
    for limit in ("low", "high"):
        assert grouped[limit] == pytest.approx(exact[limit], abs=0.03 * exact["standard_error"])
    assert exact["high"] - percentile["high"] > 0.1 * exact["standard_error"], "here BCa makes a difference"


def test_groups_of_rows_are_the_same_for_both_of_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    first = skewed(1)
    pair = StatePair(WeightedRows(first), WeightedRows(first + np.random.default_rng(2).normal(size=(N, 1)).round(1)))
    exact = score_differences.difference_acceleration(pair, lambda block: mean(block)["mean"], ResamplingOptions())
    monkeypatch.setattr(resampling, "MAX_SINGLE_ROWS", 1000)
    assert score_differences.difference_acceleration(
        pair, lambda block: mean(block)["mean"], ResamplingOptions()
    ) == pytest.approx(exact, abs=0.004)


@pytest.mark.release
def test_rank_correlations_of_many_rows_have_an_interval() -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=20_500)
    result = load("spearmanr").compute(
        predictions=first, references=first + rng.normal(size=len(first)), interval=0.95, resamples=200
    )
    limits = result["interval"]["spearmanr"]
    assert limits["method"] == "bca"
    assert limits["low"] < result["spearmanr"] < limits["high"]
    assert limits["high"] - limits["low"] < 0.02
