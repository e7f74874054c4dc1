"""States of metrics: merging, weights, and resamples that are those of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dynabench.evaluate.confusion import Cells, Confusion
from dynabench.evaluate.label_states import WeightedRows, WeightedSample
from dynabench.evaluate.states import Rows, SummedState, Sums, block_sizes, multinomial

seeds = st.integers(0, 10**6)
sizes = st.integers(2, 25)


def cells(seed: int, n: int, weighted: bool = False) -> Cells:
    rng = np.random.default_rng(seed)
    true, answer = rng.integers(0, 3, (2, n))
    return Cells.of(true, answer, rng.integers(1, 4, n).astype(float) if weighted else None)


def sums(seed: int, n: int) -> Sums:
    return Sums(np.random.default_rng(seed).integers(0, 3, (n, 2)).astype(float))


def distinct_sums(seed: int, n: int) -> Sums:
    return Sums(np.random.default_rng(seed).random((n, 2)))


def hits(seed: int, n: int) -> Sums:
    return Sums(np.random.default_rng(seed).random(n) < 0.7)


def rows(seed: int, n: int) -> Rows:
    rng = np.random.default_rng(seed)
    return Rows((rng.random(n), rng.integers(0, 5, n)))


def weighted(seed: int, n: int) -> WeightedRows:
    rng = np.random.default_rng(seed)
    return WeightedRows(rng.integers(0, 4, (n, 2)).astype(float), rng.integers(1, 4, n).astype(float))


def flat(total: Any) -> Any:
    """A total as numbers that do not depend on the order of rows; blocks keep their leading axis."""
    if isinstance(total, Confusion):
        return total.counts.reshape(*total.counts.shape[:-2], -1).astype(float)
    if isinstance(total, WeightedSample):
        return np.concatenate([total.weights @ total.rows, total.weights.sum(-1)[..., None]], -1)
    if isinstance(total, tuple):
        return np.stack([column.sum(-1).astype(float) for column in total], -1)
    return np.asarray(total, float)


STATES: dict[str, Callable[[int, int], Any]] = {
    "cells": cells,
    "weighted cells": lambda seed, n: cells(seed, n, True),
    "sums of few kinds of rows": sums,
    "sums of rows that differ": distinct_sums,
    "hits": hits,
    "rows": rows,
    "weighted rows": weighted,
}
every_state = pytest.mark.parametrize("make", STATES.values(), ids=STATES)
additive = pytest.mark.parametrize(
    "make", [make for name, make in STATES.items() if name != "rows"], ids=[name for name in STATES if name != "rows"]
)


@every_state
@given(first=seeds, second=seeds, n=sizes, m=sizes)
def test_a_merge_holds_the_rows_of_both_in_order(make: Any, first: int, second: int, n: int, m: int) -> None:
    single, other = make(first, n), make(second, m)
    merged = single + other
    assert len(merged) == n + m
    both = np.arange(n + m)[None, :]
    assert np.allclose(flat(merged.at(both))[0], flat(merged.total()))
    if not isinstance(single, Cells) or single.labels == other.labels:
        assert np.allclose(flat(merged.at(both[:, :n]))[0], flat(single.total()))
        assert np.allclose(flat(merged.at(both[:, n:]))[0], flat(other.total()))


@every_state
@given(seed=seeds, n=sizes)
def test_leaving_out_each_row_equals_doing_so_one_by_one(make: Any, seed: int, n: int) -> None:
    state = make(seed, n)
    quick = sorted(
        tuple(np.round(value, 9))
        for block, counts in state.left_out()
        for value, times in zip(flat(block), counts, strict=True)
        for _ in range(times)
    )
    slow = sorted(tuple(np.round(flat(state.at(np.delete(np.arange(n), row)[None, :]))[0], 9)) for row in range(n))
    assert len(quick) == n
    assert np.allclose(quick, slow)


@every_state
def test_resamples_have_the_distribution_of_drawn_rows(make: Any) -> None:
    state, times = make(11, 8), 20_000
    quick = np.concatenate([flat(block) for block in state.resamples(np.random.default_rng(1), times)])
    drawn = np.random.default_rng(2).integers(0, 8, (times, 8))
    slow = flat(state.at(drawn))
    assert quick.shape == slow.shape
    scale = slow.std(0) + 1e-9
    assert np.all(np.abs(quick.mean(0) - slow.mean(0)) < 5 * scale / np.sqrt(times / 2) + 1e-6)
    assert np.allclose(np.cov(quick.T), np.cov(slow.T), atol=0.06 * float(scale.max()) ** 2)


def test_resampled_hits_are_binomial() -> None:
    state = Sums(np.array([True] * 3 + [False]))
    drawn = np.concatenate([block[:, 0] for block in state.resamples(np.random.default_rng(3), 40_000)])
    expected = np.array([1, 12, 54, 108, 81]) / 256 * 40_000
    assert chisquare(np.bincount(drawn.astype(int), minlength=5), expected).pvalue > 1e-3


@additive
@given(seed=seeds, n=sizes)
def test_atoms_hold_every_row(make: Any, seed: int, n: int) -> None:
    state = make(seed, n)
    kinds, counts = state.atoms
    assert counts.sum() == n
    assert np.array_equal(np.bincount(kinds, minlength=len(counts)), counts)
    assert np.allclose(flat(state.weighed(counts)), flat(state.total()))
    assert np.allclose(flat(state.weighed(counts[None, :].repeat(2, 0)))[1], flat(state.total()))


@given(seeds, sizes)
def test_a_weight_counts_a_row_again(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    true, answer, weight = rng.integers(0, 4, n), rng.integers(0, 4, n), rng.integers(1, 5, n)
    again = Cells.of(np.repeat(true, weight), np.repeat(answer, weight))
    assert np.array_equal(Cells.of(true, answer, weight.astype(float)).total().counts, again.total().counts)


def test_cells_of_other_labels_share_all_of_them() -> None:
    merged = Cells.of(["b", "c"], ["b", "b"]) + Cells.of(["a"], ["c"])
    assert merged.labels == ("a", "b", "c")
    assert merged.total().counts.tolist() == [[0, 0, 1], [0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("make", [Cells.of, lambda true, answer, weights: WeightedRows(np.ones((1, 2)), weights)])
def test_weighed_batches_do_not_merge_with_others(make: Any) -> None:
    first, other = make(np.array([1]), np.array([1]), np.array([2.0])), make(np.array([1]), np.array([1]), None)
    with pytest.raises(ValueError, match="weigh all batches or none"):
        _ = first + other


def test_texts_do_not_merge_with_numbers() -> None:
    with pytest.raises(ValueError, match="some labels are texts"):
        _ = Cells.of(["a"], ["a"]) + Cells.of(np.array([1]), np.array([1]))


def test_weighted_rows_take_the_labels_of_all_batches() -> None:
    first = WeightedRows(np.array([[0.0, 0.3]]), None, ("b",))
    second = WeightedRows(np.array([[0.0, 0.1], [1.0, 0.2]]), None, ("a", "b"))
    merged = first + second
    assert merged.labels == ("a", "b")
    assert merged.rows.tolist() == [[1, 0.3], [0, 0.1], [1, 0.2]]
    with pytest.raises(ValueError, match="batches have 2 and 3 columns"):
        _ = first + WeightedRows(np.zeros((1, 3)), None, ("a",))


def test_a_state_over_sums_hands_on_what_they_say() -> None:
    class Halves(SummedState):
        sums = Sums(np.array([[1.0], [2.0], [4.0]]))

        def wrapped(self, total: Any) -> Any:
            return total[..., 0] / 2

    state = Halves()
    assert len(state) == 3
    assert state.total() == 3.5
    assert state.at(np.array([[0, 0, 2], [1, 1, 1]])).tolist() == [3, 3]
    assert sorted(value for block, counts in state.left_out() for value in block) == [1.5, 2.5, 3]
    assert np.concatenate(list(state.resamples(np.random.default_rng(0), 10))).shape == (10,)


@given(st.integers(1, 10_000), st.integers(0, 10**8))
def test_blocks_add_up_and_stay_within_memory(times: int, width: int) -> None:
    if times / max((1 << 22) // max(width, 1), 1) > 1000:
        return
    parts = list(block_sizes(times, width))
    assert sum(parts) == times
    assert all(part == 1 or part * width <= 1 << 22 for part in parts)


@pytest.mark.parametrize("counts", [[1, 1, 1, 1], [2, 1, 1], [4]])
def test_each_draw_has_as_many_rows(counts: list[int]) -> None:
    drawn = multinomial(np.random.default_rng(0), np.array(counts), 3000)
    assert np.all(drawn.sum(1) == 4)
    assert drawn.mean(0) == pytest.approx(counts, abs=0.12)
