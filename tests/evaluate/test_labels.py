"""Labels as codes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate.labels import DENSE, encode_labels, merge_labels, recode_labels, same

small = st.lists(st.integers(-5, 5), max_size=20)
sparse = st.lists(st.one_of(st.integers(-5, 5), st.integers(-(2**62), 2**62)), max_size=20)
texts = st.lists(st.text(max_size=3), max_size=20)


def decoded(labels: Any, codes: Any) -> list[Any]:
    return [labels[code] for code in codes]


@given(st.one_of(st.lists(small, min_size=1, max_size=3), st.lists(sparse, min_size=1, max_size=3)))
def test_codes_of_numbers_give_the_numbers_back(columns: list[list[int]]) -> None:
    labels, codes = encode_labels(*(np.array(column, np.int64) for column in columns))
    assert labels == tuple(sorted(set().union(*columns)))
    assert all(type(label) is int for label in labels)
    assert [decoded(labels, code) for code in codes] == columns


@given(st.lists(texts, min_size=1, max_size=3))
def test_codes_of_texts_give_the_texts_back(columns: list[list[str]]) -> None:
    labels, codes = encode_labels(*columns)
    assert labels == tuple(sorted(set().union(*columns)))
    assert [decoded(labels, code) for code in codes] == columns


def test_numbers_far_apart_and_near_code_alike() -> None:
    near = np.array([3, 1, 2, 3])
    far = near * DENSE
    assert encode_labels(near)[1][0].tolist() == encode_labels(far)[1][0].tolist() == [2, 0, 1, 2]


def test_the_ends_of_the_integers_are_labels() -> None:
    ends = np.array([-(2**63), 2**63 - 1, 0], np.int64)
    labels, (codes,) = encode_labels(ends)
    assert labels == (-(2**63), 0, 2**63 - 1)
    assert codes.tolist() == [0, 2, 1]


def test_coding_leaves_its_columns_as_they_are() -> None:
    column = np.array([5, 6, 9])
    encode_labels(column)
    assert column.tolist() == [5, 6, 9]


def test_texts_beside_numbers_are_refused() -> None:
    for call in (
        lambda: encode_labels(["a"], np.array([1])),
        lambda: same(["a"], np.array([1])),
        lambda: merge_labels(("a",), (1,)),
    ):
        with pytest.raises(ValueError, match="some labels are texts and some numbers"):
            call()


def test_an_empty_column_goes_with_either_kind() -> None:
    assert encode_labels([], np.array([1]))[0] == (1,)
    assert encode_labels(np.zeros(0, np.int64), np.zeros(0, np.int64)) == ((), [pytest.approx([]), pytest.approx([])])


@given(texts, texts)
def test_equal_rows_are_told(first: list[str], second: list[str]) -> None:
    n = min(len(first), len(second))
    assert same(first[:n], second[:n]).tolist() == [
        single == other for single, other in zip(first, second, strict=False)
    ]


@given(small, small)
def test_codes_move_to_more_labels(first: list[int], second: list[int]) -> None:
    old, (codes,) = encode_labels(np.array(first, np.int64))
    new = merge_labels(old, tuple(sorted(set(second))))
    assert decoded(new, recode_labels(old, new)[codes]) == first
