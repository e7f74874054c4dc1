"""Corrections of p values, against statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.multitest import multipletests

from dynabench.stats.p_values import CORRECTIONS, benjamini_hochberg, bonferroni, correct_p_values, holm

THEIRS = {"holm": "holm", "benjamini_hochberg": "fdr_bh", "bonferroni": "bonferroni"}
p_values = arrays(float, st.integers(1, 12), elements=st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]))


@pytest.mark.parametrize("name", THEIRS)
@given(p=p_values)
@settings(max_examples=12, deadline=None)  # their Holm collects all garbage in each call
def test_corrections_agree_with_statsmodels(name, p):
    assert correct_p_values(p, name) == pytest.approx(multipletests(p, method=THEIRS[name])[1], rel=1e-12, abs=1e-300)


@given(p_values)
def test_a_correction_never_lowers_a_p_value_nor_changes_the_order(p):
    for correct in CORRECTIONS.values():
        result = correct(p)
        assert np.all(result >= p)
        assert np.all(result <= 1)
        assert np.all(np.diff(result[np.argsort(p, kind="stable")]) >= 0)


@given(p_values)
def test_holm_finds_what_bonferroni_finds_and_benjamini_hochberg_what_holm_finds(p):
    assert np.all(benjamini_hochberg(p) <= holm(p) + 1e-12)
    assert np.all(holm(p) <= bonferroni(p))


def test_many_p_values_agree_with_statsmodels():
    p = np.random.default_rng(0).beta(0.5, 3, 500)
    for name, reference_value in THEIRS.items():
        assert correct_p_values(p, name) == pytest.approx(multipletests(p, method=reference_value)[1], rel=1e-12)


def test_no_test_needs_no_correction_and_one_stays_as_it_is():
    for name in CORRECTIONS:
        assert correct_p_values([], name).tolist() == []
        assert correct_p_values([0.04], name).tolist() == [0.04]


@pytest.mark.parametrize("wrong", [[0.5, float("nan")], [-0.1], [1.1], [[0.5]]])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        correct_p_values(wrong)


def test_an_unknown_correction_is_told_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"no correction 'sidak'.*holm"):
        correct_p_values([0.5], "sidak")
