"""Raw columns become clean ones, or a message says which row cannot."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import columns
from dynabench.evaluate.columns import Labels, LabelsOrSets, Numbers, Records, References, Texts, Tokens

nan = float("nan")
anything = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=3),
        st.binary(max_size=2),
        st.just(object()),
        st.complex_numbers(),
        st.sampled_from([np.float32(0.5), np.int8(3), np.str_("a"), np.datetime64("2020-01-01")]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner), st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=8,
)
KINDS = {
    "labels": Labels(),
    "labels or sets": LabelsOrSets(),
    "numbers": Numbers(),
    "rows of numbers": Numbers(wide=True, infinite=True),
    "texts": Texts(),
    "references": References(),
    "tokens": Tokens(),
    "records": Records(("id",)),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(values=st.one_of(anything, st.lists(anything, max_size=4)))
def test_anything_is_cleaned_or_refused_with_its_name(kind: Any, values: Any) -> None:
    refused = ""
    try:
        clean = kind.clean(values, "guesses")
    except ValueError as error:
        refused = str(error)
    assert refused.startswith("guesses: ") if refused else len(clean) == len(list(values))


class Tensor:
    """As a tensor of another library."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def detach(self) -> "Tensor":
        return self

    cpu = detach

    def numpy(self) -> Any:
        return self.values


class Series:
    """As a column of a table."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


@pytest.mark.parametrize("wrap", [list, tuple, np.array, Tensor, Series, iter, lambda values: np.array(values, object)])
def test_labels_may_come_in_any_array_like(wrap: Any) -> None:
    assert Labels().clean(wrap([3, 1, 2]), "said").tolist() == [3, 1, 2]
    assert Labels().clean(wrap([3.0, 1.0]), "said").tolist() == [3, 1]
    assert Labels().clean(wrap([True, False]), "said").tolist() == [1, 0]


@pytest.mark.parametrize("wrap", [list, tuple, np.array, Series, lambda values: np.array(values, object)])
def test_texts_as_labels_become_plain_texts(wrap: Any) -> None:
    clean = Labels().clean(wrap(["b", "a"]), "said")
    assert clean == ["b", "a"]
    assert {type(label) for label in clean} == {str}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 1.5], "row 1 is 1.5, which is no label"),
        ([1, nan], "row 1 is NaN"),
        ([1, float("inf")], "row 1 is inf, which is no label"),
        ([1, None], r"row 1 is missing \(None\)"),
        (["a", 1], "row 0 and row 1 mix text and other values"),
        ([1, 2, "a"], "row 0 and row 2 mix text and other values"),
        ([[1], [2]], r"not values of shape \(1,\)"),
        ([[1], [2, 3]], "rows have different lengths"),
        ([1, {}], r"row 1 is \{\}, not a number"),
        ([1j], "not a number"),
        (np.array(["2020-01-01"], "datetime64[D]"), "not datetime64"),
        (np.array("a"), "give a list"),
        (5, "give a list"),
        (None, "give a list"),
        ("abc", "give a list"),
        ({"a": 1}, "give a list"),
        (np.array(3), "give a list"),
    ],
)
def test_what_is_no_label_is_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Labels().clean(values, "said")


def test_numbers_beyond_integers_are_refused_not_wrapped() -> None:
    for values in ([2**63], [2**70], np.array([2**63], np.uint64), [1e30]):
        with pytest.raises(ValueError, match="said: row 0"):
            Labels().clean(values, "said")


def test_rows_of_zeros_and_ones_become_a_table() -> None:
    for rows in ([[0, 1], [1, 1]], np.array([[0, 1], [1, 1]], bool), [np.array([0.0, 1.0]), np.array([1.0, 1.0])]):
        clean = LabelsOrSets().clean(rows, "said")
        assert clean.dtype == np.int64
        assert clean.tolist() == [[0, 1], [1, 1]]
    for wrong in ([[0, 2]], [[0.5, 1]], [[0, 1], [1]], [[nan, 1]], [[[0]]]):
        with pytest.raises(ValueError, match=r"^said: "):
            LabelsOrSets().clean(wrong, "said")


def test_numbers_are_one_for_each_row_unless_rows_are_allowed() -> None:
    assert Numbers().clean([1, 2.5], "said").tolist() == [1, 2.5]
    assert Numbers(wide=True).clean([[1, 2], [3, 4]], "said").shape == (2, 2)
    assert Numbers(infinite=True).clean([float("inf")], "said").tolist() == [float("inf")]
    for kind, values in (
        (Numbers(), [[1.0]]),
        (Numbers(), [nan]),
        (Numbers(), [float("inf")]),
        (Numbers(infinite=True), [nan]),
        (Numbers(wide=True), [[[1.0]]]),
        (Numbers(), ["1.5"]),
        (Numbers(wide=True), [[1.0, nan]]),
    ):
        with pytest.raises(ValueError, match=r"^said: "):
            kind.clean(values, "said")


def test_texts_tokens_references_and_records_name_the_bad_row() -> None:
    for kind, values in (
        (Texts(), ["a", None]),
        (Tokens(), [["a"], "b"]),
        (References(), ["a", []]),
        (Records(("id",)), [{"id": 1}, {}]),
    ):
        with pytest.raises(ValueError, match=r"said: row 1"):
            kind.clean(values, "said")


def test_a_reference_is_one_text_or_several() -> None:
    assert References().clean(["a", ["b", "c"], ("d",)], "said") == [["a"], ["b", "c"], ["d"]]


def test_clean_columns_are_not_copied_without_need() -> None:
    labels, numbers = np.array([1, 2]), np.array([0.5, 1])
    assert np.shares_memory(Labels().clean(labels, "said"), labels)
    assert np.shares_memory(Numbers().clean(numbers, "said"), numbers)


def test_every_kind_says_what_it_is() -> None:
    for kind in KINDS.values():
        assert kind.text
        assert kind.dtype in repr(kind)
    assert columns.Column().clean((1, "a"), "said") == [1, "a"]


@pytest.mark.parametrize(
    "column",
    [
        lambda rows: (row for row in rows),
        lambda rows: [np.array(row) for row in rows],
        lambda rows: [Tensor(row) for row in rows],
        lambda rows: Series(_objects(rows)),
        lambda rows: _objects(rows),
        lambda rows: _objects([np.array(row) for row in rows]),
    ],
    ids=["generator", "arrays", "tensors", "series of lists", "objects", "objects of arrays"],
)
def test_rows_of_numbers_may_come_in_any_wrapping(column: Any) -> None:
    rows = [[0, 1, 1], [1, 0, 0]]
    assert LabelsOrSets().clean(column(rows), "x").tolist() == rows
    assert Numbers(wide=True).clean(column(rows), "x").tolist() == rows


def _objects(rows: Any) -> Any:
    held = np.empty(len(rows), object)
    held[:] = rows
    return held


def test_numbers_in_arrays_of_objects_and_tensors_alone_are_numbers() -> None:
    assert Numbers().clean(np.array([1, 0.5], object), "x").tolist() == [1, 0.5]
    assert Numbers().clean([Tensor(1.5), Tensor(2)], "x").tolist() == [1.5, 2]
    assert Labels().clean([Tensor(1), Tensor(2)], "x").tolist() == [1, 2]
    with pytest.raises(ValueError, match="x: row 1 is missing"):
        Numbers().clean(np.array([1, None], object), "x")


def test_small_floats_are_labels_without_a_warning() -> None:
    assert Labels().clean(np.array([0, 1, 2], np.float16), "x").tolist() == [0, 1, 2]


def test_tensors_in_a_format_that_numpy_lacks_are_widened() -> None:
    torch = pytest.importorskip("torch")
    assert Numbers().clean(torch.tensor([0.5, 2.0], dtype=torch.bfloat16, requires_grad=True), "x").tolist() == [0.5, 2]
    assert Numbers().clean([torch.tensor(0.5, requires_grad=True)], "x").tolist() == [0.5]


def test_whole_numbers_beyond_64_bits_are_told_to_be_too_large() -> None:
    with pytest.raises(ValueError, match="x: row 1 is too large for a label; give it as a text"):
        Labels().clean([1, 2**70], "x")
