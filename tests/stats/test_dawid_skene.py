"""Dawid-Skene against crowd-kit, on simulated crowds with known ability and on published votes."""

import gzip
import json
import warnings
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.stats.dawid_skene import (
    HEAVIEST,
    VoteTable,
    fit_dawid_skene,
    fit_one_coin,
    vote_weight,
)
from tests.large_data import need_data

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import crowdkit.aggregation as crowdkit
    import pandas as pd

EXACT = -1e9  # a tolerance that no step stays under: all steps are made


def crowd(seed, accuracies, items=300, labels=3, votes=5):
    """Votes of raters with these accuracies, and the true labels of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, items)
    rows = []
    for item in range(items):
        for rater in rng.permutation(len(accuracies))[:votes]:
            wrong = (truth[item] + rng.integers(1, labels)) % labels
            rows.append((item, f"p{rater}", int(truth[item] if rng.random() < accuracies[rater] else wrong)))
    return rows, truth


def fit_reference(kind, rows, steps, true_labels=None):
    """Return crowd-kit's estimates after as many steps."""
    data = pd.DataFrame(rows, columns=["task", "worker", "label"])
    model = kind(n_iter=steps, tol=EXACT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data, true_labels=pd.Series(true_labels)) if true_labels else model.fit(data)


def agree(ours, theirs):
    table = ours.table
    probabilities = theirs.probas_.loc[list(table.item_names), list(table.label_names)].to_numpy()
    assert np.abs(ours.posterior - probabilities).max() < 1e-6
    assert np.abs(ours.prior - theirs.priors_[list(table.label_names)].to_numpy()).max() < 1e-6
    for (rater, vote), column in theirs.errors_.iterrows():
        place = table.rater_names.index(rater), slice(None), table.label_names.index(vote)
        assert np.abs(ours.confusion[place] - column[list(table.label_names)].to_numpy()).max() < 1e-6


@pytest.mark.release
@pytest.mark.parametrize("labels", [2, 4])
def test_both_models_agree_with_crowd_kit(labels):
    rows, _truth = crowd(labels, [0.95, 0.9, 0.8, 0.7, 0.6, 0.45, 0.35], labels=labels, votes=4)
    table = VoteTable.of(rows)
    agree(fit_dawid_skene(table, steps=60, tolerance=EXACT), fit_reference(crowdkit.DawidSkene, rows, 60))
    ours, theirs = fit_one_coin(table, steps=60, tolerance=EXACT), fit_reference(crowdkit.OneCoinDawidSkene, rows, 60)
    agree(ours, theirs)
    assert np.abs(ours.accuracy - theirs.skills_[list(table.rater_names)].to_numpy()).max() < 1e-6


@pytest.mark.release
def test_known_labels_agree_with_crowd_kit():
    rows, truth = crowd(5, [0.9, 0.7, 0.6, 0.4, 0.3])
    true_labels = {item: int(truth[item]) for item in range(0, 300, 4)}
    ours = fit_dawid_skene(VoteTable.of(rows), true_labels, steps=40, tolerance=EXACT)
    agree(ours, fit_reference(crowdkit.DawidSkene, rows, 40, true_labels))
    assert (ours.posterior[::4].max(1) == 1).all()


votes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=40)


@pytest.mark.release
@settings(deadline=None)
@given(votes)
def test_any_votes_agree_with_crowd_kit_and_raise_the_likelihood(rows):
    rows = list({(item, rater): (item, rater, label) for item, rater, label in rows}.values())
    table = VoteTable.of(rows)
    if len(table.label_names) > 1:
        agree(fit_dawid_skene(table, steps=5, tolerance=EXACT), fit_reference(crowdkit.DawidSkene, rows, 5))
    ours = fit_dawid_skene(table)
    assert np.allclose(ours.posterior.sum(1), 1)
    assert np.allclose(ours.confusion.sum(2), 1)
    assert np.diff(ours.log_likelihood).min(initial=0) > -1e-6
    weights = ours.weights()
    assert ((weights >= 0) & (weights <= HEAVIEST)).all()


def test_known_abilities_come_back_with_intervals_that_hold_them():
    """Over ten crowds of twelve: nine in ten intervals hold the rater's true ability, and the ranks come back."""
    accuracies, held = [0.95, 0.92, 0.9, 0.88, 0.85, 0.82, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4], []
    for seed in range(10):
        rows, truth = crowd(seed, accuracies, items=400)
        ours = fit_one_coin(VoteTable.of(rows))
        assert (ours.posterior.argmax(1) == [ours.table.label_names.index(label) for label in truth]).mean() > 0.93
        rates = dict(zip(ours.table.rater_names, ours.accuracy_rates(), strict=True))
        held += [rates[f"p{n}"].low <= accuracy <= rates[f"p{n}"].high for n, accuracy in enumerate(accuracies)]
        assert np.corrcoef([rates[f"p{n}"].value for n in range(12)], accuracies)[0, 1] > 0.95
    assert np.mean(held) >= 0.9


def test_no_votes_and_one_label_are_no_trouble():
    empty = fit_dawid_skene(VoteTable.of([], labels=("a", "b")))
    assert empty.posterior.shape == (0, 2)
    assert empty.accuracy_rates() == []
    same = fit_dawid_skene(VoteTable.of([(1, "p", "a"), (1, "q", "a")]))
    assert same.accuracy.tolist() == [1, 1]
    assert same.weights().tolist() == [0, 0]  # with one label there is nothing to tell apart
    with pytest.raises(ValueError, match="none of"):
        VoteTable.of([(1, "p", "c")], labels=("a", "b"))


def test_weights_are_log_odds_without_harm_from_chance():
    assert vote_weight(0.8, 3) == pytest.approx(log(8))
    assert vote_weight(1 / 3, 3) == vote_weight(0.1, 3) == 0
    assert vote_weight(1.0, 2) == HEAVIEST
    two = fit_one_coin(VoteTable.of([(1, "p", "a"), (1, "q", "a"), (2, "p", "b"), (2, "q", "b")]))
    assert max(two.weights(pseudo_votes=100)) <= max(two.weights(pseudo_votes=0.001))


@pytest.mark.release
@pytest.mark.large_data("anli_dev/verifier_labels.jsonl.gz")
def test_published_vote_lists_agree_with_crowd_kit_and_krippendorff():
    """ANLI's 29,803 vote lists name no verifier: the place in the list stands for one."""
    krippendorff = pytest.importorskip("krippendorff")
    with gzip.open(need_data("anli_dev/verifier_labels.jsonl.gz"), "rt", encoding="utf-8") as file:
        lists = [json.loads(line)["verifier labels"] for line in file]
    assert len(lists) == 29_803
    rows = [(item, place, label) for item, labels in enumerate(lists) for place, label in enumerate(labels)]
    table = VoteTable.of(rows)
    agree(fit_dawid_skene(table, steps=30, tolerance=EXACT), fit_reference(crowdkit.DawidSkene, rows, 30))
    grid = np.full((max(map(len, lists)), len(lists)), np.nan)
    grid[table.raters, table.items] = table.labels
    expected = krippendorff.alpha(grid, level_of_measurement="nominal")
    assert load("krippendorff_alpha").compute(ratings=lists)["krippendorff_alpha"] == pytest.approx(expected, abs=1e-6)
