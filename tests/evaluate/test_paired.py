"""Several states resampled together, against draws of rows and against each state alone."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, ks_2samp, skew

from dynabench.evaluate import load
from dynabench.evaluate import paired_states as module
from dynabench.evaluate.paired_states import jackknife, paired_resamples
from dynabench.evaluate.states import Rows, Sums
from tests.evaluate.states_of import KINDS, state, statistic, systems


@pytest.fixture(params=["rows", "combinations"])
def way(request, monkeypatch):
    """Each of the two ways to draw, whatever the data would have chosen."""
    monkeypatch.setattr(module, "CHEAP", 0 if request.param == "combinations" else 10**9)


def drawn(states, seed, times):
    """The statistic of each state in each resample, shape (states, times)."""
    blocks = paired_resamples(states, np.random.default_rng(seed), times)
    return np.concatenate([np.stack([statistic(total) for total in block]) for block in blocks], 1)


@pytest.mark.usefixtures("way")
def test_three_rows_come_together_as_often_as_in_all_27_ways_to_draw_them():
    first, second = Sums(np.array([1, 0, 0])), Sums(np.array([5, 5, 2]))
    rows = np.array(list(itertools.product(range(3), repeat=3)))
    expected = Counter(zip(first.rows[rows, 0].sum(1), second.rows[rows, 0].sum(1), strict=True))
    blocks = paired_resamples([first, second], np.random.default_rng(0), 27_000)
    counter = Counter()
    for single, other in blocks:
        counter.update(zip(single[:, 0], other[:, 0], strict=True))
    assert set(counter) == set(expected)
    keys = sorted(expected)
    assert chisquare([counter[key] for key in keys], [1000 * expected[key] for key in keys]).pvalue > 1e-3


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_among_others_is_drawn_as_it_is_alone(kind):
    states = [state("few", 40, 1), state(kind, 40, 2), state("cells", 40, 3)]
    alone = np.concatenate([statistic(block) for block in states[1].resamples(np.random.default_rng(1), 4000)])
    together = drawn(states, 2, 4000)[1]
    assert ks_2samp(alone, together).pvalue > 1e-3


@given(systems(), st.integers(0, 2**32))
def test_means_of_resamples_centre_on_the_means_of_the_rows(states, seed):
    times = 500
    for first in states:
        if not isinstance(first, Sums):
            continue
        n, values = len(first), first.rows[:, 0].astype(float)
        result = drawn([*states, first], seed, times)[-1]
        assert abs(result.mean() - values.mean()) <= 6 * values.std() / np.sqrt(n * times) + 1e-12


@given(systems(), st.integers(0, 2**32))
def test_copies_of_a_system_never_differ(states, seed):
    result = drawn([*states, *states], seed, 50)
    assert np.array_equal(result[: len(states)], result[len(states) :])


@pytest.mark.usefixtures("way")
def test_rows_are_drawn_in_common():
    single, other = state("floats", 60, 1), state("bool", 60, 2)
    mixed = Sums(single.rows[:, 0] + other.rows[:, 0])
    first, second, both = drawn([single, other, mixed], 0, 500)
    assert both == pytest.approx(first + second, abs=1e-12)


def test_a_difference_varies_as_the_rows_differences_do():
    first, second = state("bool", 2000, 1), state("bool", 2000, 2)
    single, other = drawn([first, second], 0, 20_000)
    item = first.rows[:, 0].astype(float) - second.rows[:, 0]
    assert (single - other).std() == pytest.approx(item.std() / np.sqrt(2000), rel=0.03)


def test_millions_of_combinations_do_not_overflow_their_numbers():
    n = 5000
    states = [state("floats", n, seed) for seed in range(12)]
    kinds, counts = module.joint_atoms([first.atoms[0] for first in states])
    assert len(counts) == n
    assert all(np.array_equal(np.sort(kind), np.arange(n)) for kind in kinds)


def _chosen(state, rows):
    """The constructor's arguments for some rows of a state."""
    if isinstance(state, Rows):
        return (tuple(column[rows] for column in state.columns),)
    if isinstance(state, Sums):
        return (state.rows[rows],)
    return state.cells[rows], state.labels, None if state.weights is None else state.weights[rows]


@pytest.mark.parametrize("kind", KINDS)
def test_the_jackknife_leaves_out_each_row_in_turn(kind):
    first = state(kind, 25, 3)
    remaining = jackknife(first, statistic)
    for row in range(25):
        others = type(first)(*_chosen(first, np.delete(np.arange(25), row)))
        assert remaining[row] == pytest.approx(float(statistic(others.total())), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("states", [[], [Sums(np.ones(3)), Sums(np.ones(4))], [Sums(np.ones((0, 1)))]])
def test_states_of_different_rows_or_none_are_refused(states):
    with pytest.raises(ValueError, match="paired by row"):
        next(iter(paired_resamples(states, np.random.default_rng(0), 5)))


def test_skewed_rows_stay_skewed():
    """Drawing by counts keeps more than mean and spread: the third moment of a mean of few rows."""
    rare = Sums(np.arange(40) == 0)
    counts, rows = (drawn([rare, other], 0, 20_000)[0] for other in (rare, state("floats", 40, 1)))
    expected = (1 - 2 / 40) / np.sqrt(40 * (1 / 40) * (39 / 40))
    assert skew(counts) == pytest.approx(expected, abs=0.08)
    assert skew(rows) == pytest.approx(expected, abs=0.08)


@pytest.mark.parametrize("name", ["seqeval", "pearsonr", "spearmanr"])
def test_leaving_out_a_row_gives_one_value_for_each_row_though_some_are_alike(name):
    rng = np.random.default_rng(5)
    true, answer = ([[place, 1] for place in rng.integers(0, 3, 30)] for _ in range(2))
    tags = ["O", "B-A", "B-B"]
    if name == "seqeval":
        true, answer = ([[tags[place], tags[other]] for place, other in column] for column in (true, answer))
    else:
        true, answer = ([float(place) for place, _ in column] for column in (true, answer))
    loaded = load(name)
    its = loaded.card.outputs[0].name if name != "seqeval" else "overall_f1"
    stored = loaded.state({"predictions": answer, "references": true})
    result = jackknife(stored, lambda total: np.asarray(loaded.formula(total)[its], float))
    for row in range(30):
        rest = {"predictions": answer[:row] + answer[row + 1 :], "references": true[:row] + true[row + 1 :]}
        assert result[row] == pytest.approx(loaded.compute(**rest)[its], abs=1e-12)
