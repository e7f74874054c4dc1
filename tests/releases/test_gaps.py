"""Rates at which clean models and leaked ones are flagged as having seen a public part."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from dynabench.benchmark.releases.views import LEVEL, corrected_p
from dynabench.stats.p_values import random_split_p_value


def test_the_test_is_fisher_s_exact_one_sided_one():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows, others = (int(n) for n in rng.integers(1, 60, 2))
        right, wrong = int(rng.integers(0, rows + 1)), int(rng.integers(0, others + 1))
        table = [[right, rows - right], [wrong, others - wrong]]
        assert random_split_p_value(right, rows, wrong, others) == pytest.approx(
            fisher_exact(table, "greater")[1], abs=1e-9
        )
    assert random_split_p_value(0, 5, 5, 5) == 1
    assert random_split_p_value(990, 1000, 600, 1000) < 1e-50
    with pytest.raises(ValueError, match="no counts"):
        random_split_p_value(3, 2, 0, 1)


def test_rows_that_cannot_be_counted_are_not_corrected_for():
    assert corrected_p([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert corrected_p([None]) == [None]


def flags(rng, seen):
    """Return for each of ten models if it is flagged on each of three rounds of 120 public and 80 hidden rows.

    Models resemble each other: a row is hard for all of them or for none. The first model answers the share `seen` of
    the first round's public rows right because it has learnt them.
    """
    ability = rng.uniform(0.5, 0.9, 10)
    p = []
    for at in range(3):
        hard = rng.normal(0, 1, 200)
        right = (np.log(ability / (1 - ability))[:, None] - 1.5 * hard + rng.logistic(size=(10, 200))) > 0
        if at == 0:
            right[0, :120] |= rng.random(120) < seen
        counts = zip(right[:, :120].sum(1), right[:, 120:].sum(1), strict=True)
        p += [random_split_p_value(int(public), 120, int(hidden), 80) for public, hidden in counts]
    return np.array(corrected_p(p), float) <= LEVEL


@pytest.mark.release
def test_a_clean_task_has_a_false_flag_in_at_most_one_of_twenty_and_planted_contamination_is_seen():
    rng = np.random.default_rng(7)
    false = np.mean([flags(rng, 0.0).any() for _ in range(600)])
    assert false <= 0.05, false
    result = np.array([flags(rng, 0.9) for _ in range(200)])
    assert result[:, 0].mean() >= 0.8, "a model that learnt nine in ten of the public rows"
    assert result[:, 1:].any(1).mean() <= 0.05
