"""Reliability of learning curves, against scipy, by hand, and against values that the authors' tests publish."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dynabench.evaluate import load
from dynabench.evaluate.metrics.rl_reliability import (
    drawdown,
    expected_tail,
    high_energy,
    interquartile,
    slopes,
    smooth_curves,
)

TWO = {"timesteps": [[1, 2, 4, 5], range(4)], "rewards": [[1, 2, 3, 4], [0.3, 0.1, -0.5, 1]]}
THREE = {"timesteps": [[5, 7, 9], [5, 7, 9, 11], [5, 7, 9, 10]], "rewards": [[1, 1, 1], [2, 3, 4, 5], [5, 4, 2, 1]]}
FOUR = {
    "timesteps": [[-1, 0, 1, 2]] * 4,
    "rewards": [[1, 1, 1, 1], [2, 3, 4, 5], [3, 4.5, 1, 23], [0, -1, 1, 0]],
}
ROLLOUTS = {"timesteps": [range(5)] * 2, "rewards": [[-1, 2, 5, 7, 3], [6, 5, 1, 34, 2]]}
NUMBERS = arrays(float, st.integers(2, 30), elements=st.floats(-100, 100))


def online(columns, **options):
    plain = {"baseline": None, "freq_thresh": 0, "window_size": 1, "window_size_trimmed": 1}
    return load("rl_reliability", "online").compute(**columns, **{**plain, **options})


def test_spread_within_runs_is_that_of_slopes_in_the_window():
    result = online(THREE, eval_points=[9], window_size_trimmed=3, window_size=1)
    assert np.allclose(result["StddevWithinRuns"], [[0], [0], [0.35355339059]])
    assert np.allclose(result["IqrWithinRuns"], [[0], [0], [0.25]])
    assert np.allclose(result["MadWithinRuns"], [[0], [0], [0.25]])
    halved = online(THREE, eval_points=[9], window_size_trimmed=3, baseline=0.5)
    assert np.allclose(halved["StddevWithinRuns"], [[0], [0], [0.7071067812]])


def test_spread_across_runs_is_that_of_values_at_the_eval_points():
    assert online(FOUR, eval_points=[0, 1])["MadAcrossRuns"] == [1.75, 0]
    columns = {"timesteps": [[-1, 0, 1], [-1, 0, 1, 2]], "rewards": [[1, 1, 1], [2, 3, 4, 5]]}
    result = online(columns, eval_points=[0, 1])
    assert result["StddevAcrossRuns"] == pytest.approx([1.41421356237, 2.12132034356])
    assert result["IqrAcrossRuns"] == [1, 1.5]


@pytest.mark.parametrize(
    ("name", "alpha", "baseline", "expected"),
    [
        ("LowerCVaROnRaw", 0.51, None, [1.5, -0.2]),
        ("LowerCVaROnRaw", 0.49, 0.1, [15, -2]),
        ("LowerCVaROnRaw", 0.49, "default", [1.5 / 2.85, -0.2 / 0.595]),
        ("LowerCVaROnDiffs", 0.51, None, [0.8333333333, -0.4]),
        ("LowerCVaROnDiffs", 0.49, 2, [0.25, -0.3]),
        ("LowerCVaROnDrawdown", 0.51, None, [0, 0]),
        ("UpperCVaROnDrawdown", 0.25, None, [0, 0.8]),
        ("UpperCVaROnDrawdown", 0.49, 2, [0, 0.25]),
    ],
)
def test_tails_are_those_the_authors_publish(name, alpha, baseline, expected):
    result = online(TWO, alpha=alpha, baseline=baseline, eval_points=[2], window_size=2, window_size_trimmed=2)
    assert result[name] == pytest.approx(expected)


def test_tails_across_runs_are_taken_at_each_eval_point():
    result = online(TWO, alpha=0.51, eval_points=[2, 3], window_size=3, window_size_trimmed=2)
    assert result["LowerCVaROnAcross"] == [-0.5, 1]
    assert result["UpperCVaROnAcross"] == [2, 2]


def test_a_rising_line_has_the_tail_that_the_original_documents():
    columns = {"timesteps": [np.linspace(0, 2_000_000, 1000)], "rewards": [np.linspace(0, 100, 1000)]}
    result = load("rl_reliability", "online").compute(**columns)
    assert round(result["LowerCVaROnRaw"][0], 4) == 0.0258
    assert len(result) == 17
    assert np.shape(result["MedianPerfDuringTraining"]) == (1, 20)
    assert result["StddevAcrossRuns"] == [None] * 20
    assert len(load("rl_reliability", "offline").compute(**columns)) == 6


@given(NUMBERS, st.floats(0.01, 0.99))
def test_the_tail_holds_what_lies_beyond_the_quantile(values, alpha):
    low, high = expected_tail(values, alpha), expected_tail(values, alpha, upper=True)
    assert values.min() - 1e-9 <= low <= values.mean() + 1e-9
    assert values.mean() - 1e-9 <= high <= values.max() + 1e-9
    assert low == pytest.approx(-expected_tail(-values, alpha, upper=True))


@given(NUMBERS)
def test_the_drawdown_is_the_largest_fall_from_any_earlier_peak(values):
    expected = max(values[i] - values[j] for i in range(len(values)) for j in range(i, len(values)))
    assert drawdown(np.stack([np.arange(len(values)), values])).max() == pytest.approx(expected)


@given(NUMBERS)
def test_spreads_are_those_of_scipy(values):
    columns = {"timesteps": [range(len(values))], "rewards": [values]}
    result = load("rl_reliability", "offline").compute(**columns, baseline=None)
    assert result["IqrAcrossRollouts"] == pytest.approx([stats.iqr(values)])
    assert result["MadAcrossRollouts"] == pytest.approx([stats.median_abs_deviation(values)])
    assert result["StddevAcrossRollouts"] == pytest.approx([np.std(values, ddof=1)])
    assert interquartile(values) == pytest.approx(stats.iqr(values))


def test_rollouts_are_divided_by_their_median_or_a_number():
    module = load("rl_reliability", "offline")
    assert module.compute(**ROLLOUTS)["IqrAcrossRollouts"] == [1, 0.8]
    assert module.compute(**ROLLOUTS, baseline=3)["MadAcrossRollouts"] == pytest.approx([2 / 3, 1])
    result = module.compute(**ROLLOUTS, baseline=0.5, alpha=0.49)
    assert result["StddevAcrossRollouts"] == pytest.approx([6.06630035524124, 27.589853207293434])
    assert result["LowerCVaRAcrossRollouts"] == pytest.approx([1, 3])
    assert module.compute(**ROLLOUTS, baseline=0.7, alpha=0.49)["UpperCVaRAcrossRollouts"] == pytest.approx(
        [6 / 0.7, 20 / 0.7]
    )


def test_energy_lies_above_a_frequency_where_the_waves_are():
    steps = np.arange(0, 50, 0.1)
    curve = np.stack([steps, np.sin(steps - np.pi / 4) + 2 * np.sin(2 * steps)])
    energies = [high_energy(curve, threshold) for threshold in (0, 0.158, 0.2, 0.32)]
    assert energies[0] == 1
    assert energies[1] == pytest.approx(1, rel=8e-3)
    assert energies == sorted(energies, reverse=True)
    assert high_energy(np.stack([steps, np.full(500, 0.1)]), 0.01) == 0


def test_smoothing_keeps_a_constant_and_the_compatible_form_does_not():
    curve = np.stack([np.arange(1000.0), np.full(1000, 5.0)])
    (fine,), (rough,) = (list(smooth_curves([curve], 0.01, form)) for form in (False, True))
    assert fine[1] == pytest.approx(curve[1])
    assert abs(rough[1] - 5).max() > 0.05


def test_the_original_example_of_smoothing_is_reproduced_where_the_filter_is_sound():
    columns = {"timesteps": [[-1, 0, 1], [-1, 0, 1, 2]], "rewards": [[1, 1, 1], [2, 3, 4, 5]]}
    result = online(columns, eval_points=[0, 1], freq_thresh=0.5, baseline=0.5)
    assert result["StddevAcrossRuns"] == pytest.approx([2.9954294688643497, 4.564952035367936])


def test_slopes_are_by_time_step():
    assert slopes(np.array([[1.0, 2, 4], [1, 2, 3]])).tolist() == [[2, 4], [1, 0.5]]


@pytest.mark.parametrize("config", ["online", "offline"])
def test_merged_batches_are_all_runs(config):
    module = load("rl_reliability", config)
    options = {"eval_points": [1, 2], "window_size": 2, "window_size_trimmed": 2, "baseline": None}
    parts = [module.state({name: column[cut] for name, column in FOUR.items()}) for cut in (slice(1), slice(1, 4))]
    assert module.result(module.merge(*parts), **options) == module.compute(**FOUR, **options)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"timesteps": [[1, 2, 2]], "rewards": [[1, 2, 3]]}, {}, "run 0 does not rise at place 2"),
        ({"timesteps": [[1, 2, 3]], "rewards": [[1, 2]]}, {}, "run 0 has 3 timesteps and 2 rewards"),
        ({"timesteps": [[1]], "rewards": [[1]]}, {}, "needs two or more"),
        ({"timesteps": [[1, 2]], "rewards": [[1, None]]}, {}, "rewards: run 0: row 1 is missing"),
        ({"timesteps": [[1, 2]], "rewards": [[5, 5]]}, {"baseline": "default"}, "run 0 does not rise, so"),
        (TWO, {"baseline": 0}, "baseline is 0"),
        (TWO, {"baseline": "mean"}, "no baseline 'mean'"),
        (TWO, {"alpha": 5}, "no share between 0 and 1"),
        (TWO, {"freq_thresh": 1}, r"lies outside \[0, 1\)"),
        (TWO, {"eval_points": [60]}, "no timestep less than"),
        (TWO, {"eval_points": [0], "window_size": 9}, "no timestep in the 9 steps up to 0"),
    ],
)
def test_curves_that_cannot_be_measured_are_told(columns, options, message):
    with pytest.raises(ValueError, match=message):
        online(columns, **{"eval_points": [2], "window_size": 2, "window_size_trimmed": 2, **options})


def test_rollouts_around_zero_need_a_baseline():
    with pytest.raises(ValueError, match="run 0 has a median of 0"):
        load("rl_reliability", "offline").compute(timesteps=[range(3)], rewards=[[-1, 0, 1]])
