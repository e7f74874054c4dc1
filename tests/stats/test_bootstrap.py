"""Bootstrap intervals, against scipy.stats.bootstrap with the very same replicates."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.stats.bootstrap import METHODS, acceleration, interval

often = settings(deadline=None, max_examples=12)
STATISTICS: dict[str, Any] = {
    "mean": np.mean,
    "standard deviation": np.std,
    "median": np.median,
    "largest": np.max,
}


class Replayed(np.random.Generator):
    """Draws the rows that it was told, so that both sides see the same resamples."""

    def __init__(self, rows: Any) -> None:
        super().__init__(np.random.PCG64(0))
        self.rows = rows

    def integers(self, *_: Any, **__: Any) -> Any:
        return self.rows


def scipy_interval(values: Any, statistic: Any, rows: Any, level: float, method: str) -> Any:
    return scipy.stats.bootstrap(
        (values,),
        statistic,
        n_resamples=len(rows),
        confidence_level=level,
        method=method,
        vectorized=True,
        axis=-1,
        rng=Replayed(rows),
    )


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
@pytest.mark.parametrize("method", METHODS)
@often
@given(seed=st.integers(0, 10**6), n=st.integers(5, 40), level=st.floats(0.5, 0.99))
def test_equals_scipy_given_the_same_replicates(statistic: Any, method: str, seed: int, n: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.gamma(2, 1, n), 1)
    if len(set(values)) == 1:
        return
    rows = rng.integers(0, n, (199, n))
    replicates = statistic(values[rows], axis=-1)
    estimate = statistic(values)
    leave_one_out = np.array([statistic(np.delete(values, row)) for row in range(n)])
    result = interval(estimate, replicates, level, method, acceleration(leave_one_out))
    assert result.error == pytest.approx(replicates.std(ddof=1))
    if replicates.min() == replicates.max():
        assert result.low == result.high == replicates[0]
        return
    if method == "bca" and np.ptp(leave_one_out) == 0:
        return  # scipy has no acceleration there
    expected = scipy_interval(values, statistic, rows, level, method).confidence_interval
    if np.isfinite(expected.low) and np.isfinite(expected.high):
        assert result.low == pytest.approx(expected.low, abs=1e-9)
        assert result.high == pytest.approx(expected.high, abs=1e-9)


@often
@given(st.integers(0, 10**6), st.integers(3, 30))
def test_acceleration_takes_rows_that_give_the_same_together(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    values, times = rng.random(n), rng.integers(1, 5, n)
    assert acceleration(values, times) == pytest.approx(acceleration(np.repeat(values, times)))


def test_acceleration_of_a_skewed_mean_is_that_of_its_third_moment() -> None:
    values = np.random.default_rng(0).exponential(1, 500)
    leave_one_out = (values.sum() - values) / 499
    centred = values - values.mean()
    by_hand = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)  # Efron and Tibshirani, 14.15
    assert acceleration(leave_one_out) == pytest.approx(by_hand)


def test_acceleration_of_what_does_not_vary_is_nothing() -> None:
    assert acceleration(np.ones(5)) == 0
    assert acceleration(np.full((5, 2), np.nan)).tolist() == [0, 0]
    assert acceleration([1.0, 2.0, 4.0, np.nan]) == pytest.approx(acceleration([1.0, 2.0, 4.0]))


@pytest.mark.parametrize("method", METHODS)
def test_an_array_has_an_interval_in_each_place(method: str) -> None:
    rng = np.random.default_rng(3)
    estimate, replicates, rates = rng.random((2, 3)), rng.random((500, 2, 3)), rng.normal(0, 0.05, (2, 3))
    result = interval(estimate, replicates, 0.9, method, rates)
    assert result.low.shape == result.high.shape == result.error.shape == (2, 3)
    for place in np.ndindex(2, 3):
        alone = interval(estimate[place], replicates[(slice(None), *place)], 0.9, method, rates[place])
        assert result.low[place] == alone.low
        assert result.high[place] == alone.high
        assert result.error[place] == alone.error


def test_replicates_that_are_undefined_are_left_out() -> None:
    replicates = np.array([0.1, np.nan, 0.4, 0.2, np.nan, 0.3])
    for method in METHODS:
        result, expected = (
            interval(0.25, values, 0.9, method) for values in (replicates, replicates[np.isfinite(replicates)])
        )
        assert (result.low, result.high, result.error) == (expected.low, expected.high, expected.error)
    nothing = interval(0.25, [np.nan, 0.1, np.nan])
    assert np.isnan([nothing.low, nothing.high, nothing.error]).all()
    assert np.isnan(interval(np.nan, [0.1, 0.2, 0.3]).low)


def test_replicates_on_one_side_of_the_estimate_give_the_end_of_them() -> None:
    below, above = (interval(estimate, [0.1, 0.5, 0.9], 0.9, "bca") for estimate in (1.0, 0.0))
    assert (below.low, below.high) == (0.9, 0.9), "the correction for bias goes towards the estimate"
    assert (above.low, above.high) == (0.1, 0.1)


@often
@given(st.lists(st.floats(-5, 5), min_size=3, max_size=60), st.floats(0.5, 0.98), st.sampled_from(METHODS[:2]))
def test_a_higher_level_gives_a_wider_interval_within_the_replicates(drawn: Any, level: float, method: str) -> None:
    estimate = float(np.median(drawn))
    narrow, wide = (interval(estimate, drawn, item, method) for item in (level, level + 0.01))
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12
    assert min(drawn) - 1e-12 <= wide.low <= wide.high <= max(drawn) + 1e-12


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_outside_its_range_is_told(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        interval(0.5, [0.4, 0.6], level)


def test_another_method_is_told() -> None:
    with pytest.raises(ValueError, match="there are bca, percentile, basic"):
        interval(0.5, [0.4, 0.6], method="student")
