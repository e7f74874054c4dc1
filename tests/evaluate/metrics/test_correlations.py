"""pearsonr, spearmanr and r_squared, against scipy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import r2_score

from dynabench.evaluate import load

PVALUES = {"pearsonr": "p-value", "spearmanr": "spearmanr_pvalue"}
ORACLES = {"pearsonr": stats.pearsonr, "spearmanr": stats.spearmanr}
PAIRS = arrays(float, st.tuples(st.integers(3, 12), st.just(2)), elements=st.integers(-5, 5).map(float))


def drawn(n, seed=0, places=None):
    rng = np.random.default_rng(seed)
    references = rng.normal(size=n)
    predictions = 0.6 * references + rng.normal(size=n)
    return (predictions, references) if places is None else (predictions.round(places), references.round(places))


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("places", [None, 0])
def test_correlation_and_p_value_are_those_of_scipy(name, places):
    predictions, references = drawn(60, places=places)
    result = load(name).compute(predictions=predictions, references=references, return_pvalue=True)
    expected = ORACLES[name](references, predictions)
    assert list(result) == [name, PVALUES[name]]
    assert result[name] == pytest.approx(expected.statistic, rel=1e-12)
    assert result[PVALUES[name]] == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("name", ORACLES)
@given(PAIRS)
def test_correlation_with_ties_is_that_of_scipy(name, pairs):
    assume((pairs.min(0) < pairs.max(0)).all())
    result = load(name).compute(predictions=pairs[:, 0], references=pairs[:, 1])[name]
    assert result == pytest.approx(ORACLES[name](*pairs.T).statistic, abs=1e-12)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(("n", "expected"), [(2, 1.0), (5, 0.0)])
def test_a_perfect_relation_has_a_p_value_at_its_end(name, n, expected):
    result = load(name).compute(predictions=range(n), references=range(n), return_pvalue=True)
    assert result == {name: 1.0, PVALUES[name]: expected}


def test_correlation_keeps_its_digits_far_from_zero():
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    y = x + rng.normal(size=200)
    far = load("pearsonr").compute(predictions=x + 1e7, references=y - 1e7)
    assert far["pearsonr"] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-8)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_neither_tiny_nor_huge_numbers_break_the_correlation(scale):
    x, y = drawn(30)
    result = load("pearsonr").compute(predictions=x * scale, references=y)
    assert result["pearsonr"] == pytest.approx(stats.pearsonr(x, y).statistic, rel=1e-9)


@pytest.mark.parametrize("name", ["pearsonr", "spearmanr", "r_squared"])
def test_a_constant_is_refused_by_name_even_if_its_mean_rounds(name):
    with pytest.raises(ValueError, match=r"references are all 0\.1"):
        load(name).compute(predictions=[1, 2, 3], references=[0.1, 0.1, 0.1])


@pytest.mark.parametrize("name", ORACLES)
def test_one_example_has_no_correlation(name):
    with pytest.raises(ValueError, match="at least two examples"):
        load(name).compute(predictions=[1], references=[1])


def test_errors_beyond_floats_are_told():
    with pytest.raises(ValueError, match="more than a float can hold"):
        load("r_squared").compute(predictions=[1e308, -1e308], references=[-1e308, 1e308])


@given(PAIRS)
def test_r_squared_is_that_of_scikit_learn(pairs):
    predictions, references = pairs.T
    assume(references.min() < references.max())
    r_squared = load("r_squared").compute(predictions=predictions, references=references)["r_squared"]
    assert r_squared == pytest.approx(r2_score(references, predictions), abs=1e-12, rel=1e-12)


def test_r_squared_keeps_its_digits_far_from_zero():
    predictions, references = drawn(100)
    far = load("r_squared").compute(predictions=predictions + 1e7, references=references + 1e7)
    assert far["r_squared"] == pytest.approx(r2_score(references, predictions), abs=1e-7)


def test_r_squared_in_compatible_form_is_a_bare_number_with_three_decimals():
    columns = {"predictions": [1, 2, 3, 4], "references": [0.9, 2.1, 3.2, 3.8]}
    assert load("r_squared", compat=True).compute(**columns) == 0.98


@pytest.mark.parametrize("name", ["pearsonr", "spearmanr", "r_squared"])
@given(PAIRS, st.integers(1, 11))
def test_merged_batches_are_all_rows(name, pairs, cut):
    assume((pairs.min(0) < pairs.max(0)).all())
    module = load(name)
    parts = [
        module.state({"predictions": part[:, 0], "references": part[:, 1]})
        for part in np.split(pairs, [cut])
        if len(part)
    ]
    merged = parts[0] if len(parts) == 1 else module.merge(*parts)
    whole = module.compute(predictions=pairs[:, 0], references=pairs[:, 1])
    assert module.result(merged) == pytest.approx(whole)


@pytest.mark.parametrize("name", ["pearsonr", "spearmanr", "r_squared"])
@pytest.mark.parametrize("places", [None, 0])
def test_blocks_of_resamples_are_what_each_resample_gives(name, places):
    predictions, references = drawn(25, 2, places)
    module = load(name)
    state = module.state({"predictions": predictions, "references": references})
    rows = np.random.default_rng(0).integers(0, 25, (40, 25))
    alone = [module.compute(predictions=predictions[row], references=references[row])[name] for row in rows]
    assert module.formula(state.at(rows))[name] == pytest.approx(np.array(alone))
    (block, counts), *_ = state.left_out()
    values = np.repeat(module.formula(block)[name], counts)
    without = [
        module.compute(predictions=np.delete(predictions, row), references=np.delete(references, row))[name]
        for row in range(25)
    ]
    assert np.sort(values) == pytest.approx(np.sort(without))


def along(x, y, axis):
    return stats.pearsonr(x, y, axis=axis).statistic


def ranked(x, y, axis):
    return along(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis)


@pytest.mark.parametrize("name", ["pearsonr", "spearmanr"])
def test_intervals_are_those_of_scipy(name):
    predictions, references = drawn(60, 4)
    result = load(name).compute(predictions=predictions, references=references, interval=0.95)["interval"][name]
    expected = stats.bootstrap(
        (predictions, references),
        along if name == "pearsonr" else ranked,
        paired=True,
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(1),
    )
    assert (result["low"], result["high"]) == pytest.approx(expected.confidence_interval, abs=0.015)
    assert result["standard_error"] == pytest.approx(expected.standard_error, rel=0.04)


def test_resamples_without_spread_are_left_out_of_the_interval():
    result = load("pearsonr").compute(predictions=[1, 2, 3], references=[1, 2, 2.5], interval=0.95, resamples=500)
    span = result["interval"]["pearsonr"]
    assert -1 <= span["low"] <= span["high"] <= 1
