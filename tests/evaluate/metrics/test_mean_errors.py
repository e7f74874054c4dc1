"""mae, mse, mape, smape and mase, against scikit-learn, scipy and published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn import metrics as oracle

from dynabench.evaluate import load

ORACLES = {
    ("mae", ()): oracle.mean_absolute_error,
    ("mse", ()): oracle.mean_squared_error,
    ("mse", (("squared", False),)): oracle.root_mean_squared_error,
    ("mape", ()): oracle.mean_absolute_percentage_error,
}
NAMES = ("mae", "mse", "mape", "smape")
FINITE = st.floats(-1e6, 1e6)


def drawn(shape, seed=0):
    rng = np.random.default_rng(seed)
    references = rng.normal(3, 2, shape)
    return references + rng.normal(0, 1, shape), references, rng.uniform(0.1, 2, shape[0])


@pytest.mark.parametrize("key", ORACLES, ids=str)
@pytest.mark.parametrize("shape", [(200,), (200, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_of_scikit_learn(key, shape, weighted):
    name, options = key
    predictions, references, weights = drawn(shape)
    weights = weights if weighted else None
    choices = ["uniform_average", "raw_values"] + ([[0.2, 0.5, 0.3]] if len(shape) == 2 else [])
    for multioutput in choices:
        result = load(name).compute(
            predictions=predictions,
            references=references,
            sample_weight=weights,
            multioutput=multioutput,
            **dict(options),
        )
        expected = ORACLES[key](references, predictions, sample_weight=weights, multioutput=multioutput)
        assert np.allclose(result[name], expected, rtol=1e-12)
        assert np.ndim(result[name]) == np.ndim(expected)


def test_mape_in_compatible_form_divides_by_the_smallest_step_as_scikit_learn_does():
    predictions, references = [1, 2.5], [0, 2]
    result = load("mape", compat=True).compute(predictions=predictions, references=references)
    assert result["mape"] == pytest.approx(oracle.mean_absolute_percentage_error(references, predictions), rel=1e-12)


@given(arrays(float, st.tuples(st.integers(1, 8), st.just(2)), elements=FINITE))
def test_smape_stays_between_0_and_2_and_does_not_mind_which_column_is_which(pairs):
    first, two = pairs.T
    smape = load("smape").compute(predictions=first, references=two)["smape"]
    assert 0 <= smape <= 2 + 1e-12
    assert smape == load("smape").compute(predictions=two, references=first)["smape"]


def test_mase_of_several_weights_divides_combined_errors():
    predictions, references, training = (
        [[0, 2], [-1, 2], [8, -5]],
        [[0.5, 1], [-1, 1], [7, -6]],
        [[0.5, 1], [-1, 1], [7, -6]],
    )
    mase = load("mase", "multilist")
    columns = {"predictions": predictions, "references": references, "training": training}
    assert mase.compute(**columns)["mase"] == pytest.approx(0.18181818181818182)
    assert mase.compute(**columns, multioutput=[0.3, 0.7])["mase"] == pytest.approx(0.21935483870967742)


def test_mase_with_a_season_compares_with_the_same_time_of_the_season_before():
    training = [1, 5, 2, 7, 4, 6]
    error = load("mae").compute(predictions=[3, 6], references=[5, 6.5])["mae"]
    naive = np.mean(np.abs(np.subtract(training[2:], training[:-2])))
    result = load("mase").compute(predictions=[3, 6], references=[5, 6.5], training=training, periodicity=2)
    assert result["mase"] == pytest.approx(error / naive)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs training"),
        ({"training": [1, 2], "periodicity": 2}, "less than the length of training"),
        ({"training": [1, 2], "periodicity": 0}, "at least 1"),
        ({"training": [1, 2, 3], "periodicity": 1.5}, "needs to be whole"),
        ({"training": [[1, 2], [3, 4]]}, "training has 2 series"),
        ({"training": [1, float("nan")]}, "training: row 1"),
    ],
)
def test_mase_says_what_is_wrong_with_its_training_series(options, message):
    with pytest.raises(ValueError, match=message):
        load("mase").compute(predictions=[1.0], references=[2.0], **options)


def test_a_constant_training_series_in_compatible_form_is_scaled_by_the_smallest_step():
    result = load("mase", compat=True).compute(predictions=[1.0], references=[2.0], training=[4, 4])
    assert result["mase"] == pytest.approx(1 / np.finfo(float).eps)


@pytest.mark.parametrize("name", NAMES)
def test_exact_predictions_have_no_error(name):
    assert load(name).compute(predictions=[1.5, -2], references=[1.5, -2])[name] == 0


@pytest.mark.parametrize("name", NAMES)
@given(arrays(float, st.tuples(st.integers(2, 9), st.just(3)), elements=st.floats(0.5, 100)), st.integers(1, 8))
def test_merged_batches_are_all_rows(name, rows, cut):
    module = load(name)
    columns = dict(zip(("predictions", "references", "sample_weight"), rows.T, strict=True))
    cut = min(cut, len(rows) - 1)
    parts = [
        module.state({key: column[part] for key, column in columns.items()})
        for part in (slice(0, cut), slice(cut, None))
    ]
    assert module.result(module.merge(*parts))[name] == pytest.approx(module.compute(**columns)[name])


def test_weights_are_as_good_as_repeated_rows():
    predictions, references, _ = drawn((20,))
    times = np.arange(20) % 3
    repeated = load("mse").compute(predictions=predictions.repeat(times), references=references.repeat(times))
    weighed = load("mse").compute(predictions=predictions, references=references, sample_weight=times)
    assert weighed["mse"] == pytest.approx(repeated["mse"])


def test_each_example_that_weighs_something_has_its_error():
    result = load("mse").compute(
        predictions=[1, 2, 5], references=[1, 4, 4], sample_weight=[0, 3, 1], squared=False, per_example=True
    )
    assert result["per_example"]["mse"] == [None, 2, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sample_weight": [1, -1]}, "row 1 is negative"),
        ({"sample_weight": [0, 0]}, "all examples weigh 0"),
        ({"sample_weight": [1]}, "sample_weight has 1"),
        ({"multioutput": "mean"}, "no multioutput 'mean'"),
        ({"multioutput": [1, 2]}, "a weight for each of 1 outputs"),
        ({"predictions": [1e200, -1e200]}, "more than a float can hold"),
        ({"predictions": [1, float("inf")]}, "row 1 is inf"),
    ],
)
def test_what_cannot_be_computed_is_told(columns, message):
    with pytest.raises(ValueError, match=message):
        load("mse").compute(**{"predictions": [1, 2], "references": [2, 3], **columns})


@pytest.mark.parametrize("method", ["BCa", "percentile", "basic"])
def test_the_interval_of_mae_is_that_of_scipy(method):
    predictions, references, _ = drawn((80,), 3)
    result = load("mae").compute(predictions=predictions, references=references, interval=0.9, method=method.lower())
    rng = np.random.default_rng(1)
    expected = stats.bootstrap(
        (np.abs(predictions - references),), np.mean, confidence_level=0.9, n_resamples=9999, method=method, rng=rng
    )
    ours = result["interval"]["mae"]
    assert (ours["low"], ours["high"]) == pytest.approx(expected.confidence_interval, abs=0.01)
    assert ours["standard_error"] == pytest.approx(expected.standard_error, rel=0.03)


def test_intervals_come_for_each_output():
    predictions, references, _ = drawn((50, 2))
    result = load("mse").compute(
        predictions=predictions, references=references, multioutput="raw_values", interval=0.95, resamples=500
    )
    span = result["interval"]["mse"]
    assert all(low < value < high for low, value, high in zip(span["low"], result["mse"], span["high"], strict=True))
