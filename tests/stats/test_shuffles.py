"""Shuffles within strata against counts of many of them."""

import numpy as np
import pytest

from dynabench.stats import p_values


def test_groups_of_one_row_are_one_stratum():
    result = p_values.row_strata([7, 3, 7, 9, 4])
    assert result[0] == result[2] != result[1] == result[3] == result[4]


def test_labels_stay_within_their_stratum():
    rng = np.random.default_rng(0)
    labels, within = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 1, 0, 1, 1])
    for replicates in p_values.shuffle_within(labels, within, 50, rng):
        for item in (0, 1):
            assert sorted(replicates[within == item]) == sorted(labels[within == item])


def test_mean_and_variance_are_those_of_many_shuffles():
    rng = np.random.default_rng(1)
    within, labels = rng.integers(4, size=60), rng.integers(3, size=60)
    present = (rng.random((60, 5)) < 0.4).astype(float)
    onehot = np.eye(3)[labels]
    strata = np.stack([present[within == item].sum(0) for item in range(4)])
    mean, variance = p_values.expected_counts(strata, onehot, within)
    counts = np.stack([present.T @ np.eye(3)[item] for item in p_values.shuffle_within(labels, within, 8000, rng)])
    assert mean == pytest.approx(counts.mean(0), abs=0.1)
    assert variance == pytest.approx(counts.var(0), rel=0.12)


def test_what_was_seen_counts_among_the_shuffles():
    assert p_values.shuffle_p_value(3, [0, 1, 2]) == 0.25
    assert p_values.shuffle_p_value(0, [0, 1, 2]) == 1
