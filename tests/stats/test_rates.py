from math import sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from dynabench.stats.rates import clustered_rate, human_model_gap, wilson

cells = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
tables = st.lists(cells, min_size=2, max_size=30)


@settings(deadline=None)
@given(cells, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels(cell, level):
    k, n = cell
    rate = wilson(k, n, level)
    low, high = proportion_confint(k, n, alpha=1 - level, method="wilson")
    assert rate.value == k / n
    assert rate.low == pytest.approx(low, abs=1e-12)
    assert rate.high == pytest.approx(high, abs=1e-12)


def test_wilson_by_hand():
    """3 of 10 at z = 1.959964: centre 0.35548, half-width 0.24772."""
    rate = wilson(3, 10)
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.1078, 0.6032)
    assert (wilson(0, 5).low, wilson(5, 5).high) == (0.0, 1.0)


def test_no_examples_have_no_rate():
    for rate in (
        wilson(0, 0),
        clustered_rate([], []),
        clustered_rate([0, 0], [0, 0]),
        human_model_gap([], [], [], []).difference,
    ):
        assert (rate.value, rate.low, rate.high, rate.n) == (None, None, None, 0)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)
    with pytest.raises(ValueError, match="0 <= k <= n"):
        clustered_rate([k, 1], [n, 1])


def test_counts_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="shape"):
        clustered_rate([1, 2], [3])


@settings(deadline=None)
@given(tables)
def test_a_clustered_interval_holds_its_rate_and_stays_within_0_and_1(table):
    k, n = zip(*table, strict=True)
    rate = clustered_rate(k, n)
    assert rate.n == sum(n)
    assert rate.value == pytest.approx(sum(k) / sum(n))
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.low < rate.high


@settings(deadline=None)
@given(tables)
def test_a_clustered_interval_is_never_narrower_than_one_over_independent_examples(table):
    k, n = zip(*table, strict=True)
    rate, plain = clustered_rate(k, n), wilson(sum(k), sum(n))
    assert rate.high - rate.low >= (plain.high - plain.low) - 1e-12


def test_the_order_of_clusters_and_empty_clusters_do_not_matter():
    item, other = clustered_rate([1, 5, 0], [4, 9, 2]), clustered_rate([0, 0, 5, 1], [2, 0, 9, 4])
    assert (item.value, item.low, item.high) == pytest.approx((other.value, other.low, other.high))


def _solves_wilsons_equation(rate, variance, freedom):
    """Compare both limits with those of Wilson's interval at the effective sample size that `variance` implies."""
    effective = rate.value * (1 - rate.value) / variance
    return [
        abs(rate.value - limit) / sqrt(limit * (1 - limit) / effective) for limit in (rate.low, rate.high)
    ] == pytest.approx([t.ppf(0.975, freedom)] * 2)


def test_the_variance_is_that_of_leaving_out_one_annotator_at_a_time():
    rng = np.random.default_rng(4)
    n = rng.integers(2, 60, size=15)
    k = rng.binomial(n, rng.beta(2, 3, size=15))
    without = [(k.sum() - k[i]) / (n.sum() - n[i]) for i in range(15)]
    variance = 14 / 15 * sum((value - k.sum() / n.sum()) ** 2 for value in without)
    assert _solves_wilsons_equation(clustered_rate(k, n), variance, 14)


def test_with_equal_clusters_the_variance_is_the_cluster_robust_one_of_statsmodels():
    rng = np.random.default_rng(5)
    n = np.full(25, 12)
    k = rng.binomial(n, rng.beta(3, 6, size=25))
    outcome = np.concatenate([np.repeat([1.0, 0.0], [a, b - a]) for a, b in zip(k, n, strict=True)])
    groups = np.repeat(np.arange(25), n)
    fit = sm.OLS(outcome, np.ones_like(outcome)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    variance = float(fit.bse[0]) ** 2
    assert _solves_wilsons_equation(clustered_rate(k, n), variance, 24)


def test_one_annotator_says_nothing_about_others():
    rate = clustered_rate([30], [100])
    assert (rate.value, rate.low, rate.high, rate.n) == (0.3, 0.0, 1.0, 100)


def test_where_nobody_ever_succeeds_an_annotator_counts_once():
    rate = clustered_rate([0] * 10, [50] * 10)
    assert rate.low == 0
    assert rate.high > wilson(0, 10).high > wilson(0, 500).high


def test_intervals_cover_where_annotators_differ_and_plain_wilson_does_not():
    rng = np.random.default_rng(11)
    runs, clusters, p, spread = 2000, 25, 0.3, 6.0
    hits = plain = 0
    for _ in range(runs):
        n = 1 + rng.geometric(1 / 20, size=clusters)
        k = rng.binomial(n, rng.beta(p * spread, (1 - p) * spread, size=clusters))
        rate, independent = clustered_rate(k, n), wilson(int(k.sum()), int(n.sum()))
        hits += rate.low <= p <= rate.high
        plain += independent.low <= p <= independent.high
    assert 0.93 <= hits / runs <= 0.98
    assert plain / runs < 0.85


def test_intervals_of_rare_events_over_few_annotators_cover():
    rng = np.random.default_rng(12)
    runs, p = 2000, 0.03
    hits = 0
    for _ in range(runs):
        n = rng.integers(5, 40, size=12)
        rate = clustered_rate(rng.binomial(n, p), n)
        hits += rate.low <= p <= rate.high
    assert hits / runs >= 0.93


def test_the_gap_compares_people_and_models_on_the_same_mix_of_items():
    """Item 1: one of one person right, no model. Item 2: two of four people, both models. Item 3 has no person."""
    result = human_model_gap([1, 2, 0], [1, 4, 0], [0, 2, 2], [2, 2, 2])
    assert result.human.value == pytest.approx(3 / 5)
    assert result.model.value == pytest.approx((1 * 0 + 4 * 1) / 5)
    assert result.difference.value == pytest.approx(-1 / 5)
    assert result.difference.n == 2


def test_the_gap_turns_its_sign_when_people_and_models_change_places():
    rng = np.random.default_rng(2)
    n = np.full(40, 3)
    people, models = rng.binomial(n, 0.9), rng.binomial(n, 0.4)
    present, back = human_model_gap(people, n, models, n).difference, human_model_gap(models, n, people, n).difference
    assert present.value == pytest.approx(-back.value)
    assert present.low == pytest.approx(-back.high)
    assert present.high == pytest.approx(-back.low)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=30))
def test_a_gap_lies_within_its_interval_and_between_minus_one_and_one(items):
    people, models = zip(*items, strict=True)
    difference = human_model_gap(people, [3] * len(items), models, [2] * len(items)).difference
    assert -1 <= difference.low <= difference.value + 1e-12
    assert difference.value - 1e-12 <= difference.high <= 1


@pytest.mark.parametrize(("human", "model"), [(0.92, 0.35), (0.97, 0.9), (0.7, 0.7)])
def test_the_interval_of_the_gap_covers_where_hard_items_are_hard_for_both(human, model):
    rng = np.random.default_rng(17)
    runs, items, hits = 300, 60, 0
    truth = _mean(human, 0.02) - _mean(model, 0.1)
    for _ in range(runs):
        ease = rng.normal(size=items)
        n = rng.integers(1, 4, size=items)
        for_people = np.clip(human + 0.02 * ease, 0, 1)
        for_models = np.clip(model + 0.1 * ease, 0, 1)
        result = human_model_gap(
            rng.binomial(n, for_people), n, rng.binomial(2, for_models), np.full(items, 2)
        ).difference
        hits += result.low <= truth <= result.high
    assert hits / runs >= 0.92


def _mean(centre, scale):
    ease = np.random.default_rng(0).normal(size=200_000)
    return float(np.clip(centre + scale * ease, 0, 1).mean())


items_answered = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 2)).filter(lambda row: row[0] <= row[1]),
    min_size=2,
    max_size=6,
)


@given(items_answered, st.sampled_from([0.5, 0.95]))
def test_the_gap_joins_both_intervals_by_what_leaving_out_an_item_does_to_both(rows, level):
    right, n, model = (np.array(column, float) for column in zip(*rows, strict=True))
    result = human_model_gap(right, n, model, np.full(len(rows), 2), level)
    first, second = result.human, result.model
    parts = [n * 0 + values.sum() / n.sum() for values in (right, n * model / 2)]
    others = [
        np.array([np.delete(v, i).sum() / np.delete(n, i).sum() for i in range(len(n))]) for v in (right, n * model / 2)
    ]
    x, y = (whole - part for whole, part in zip(parts, others, strict=True))
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    together = float(x @ y / lengths) if lengths > 1e-12 else 0.0
    down, up = first.value - first.low, first.high - first.value
    other_down, other_up = second.value - second.low, second.high - second.value
    low = np.sqrt(max(down**2 + other_up**2 - 2 * together * down * other_up, 0))
    high = np.sqrt(max(up**2 + other_down**2 - 2 * together * up * other_down, 0))
    gap = result.difference
    assert gap.value == pytest.approx(first.value - second.value)
    assert gap.low == pytest.approx(max(gap.value - low, -1), abs=1e-6)
    assert gap.high == pytest.approx(min(gap.value + high, 1), abs=1e-6)
