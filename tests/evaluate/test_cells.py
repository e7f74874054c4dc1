"""Pasted text as columns: lines, CSV and JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate.columns import Column, Labels, Numbers, References, Texts, Tokens
from dynabench.evaluate.inputs import column_lines, parse_cells, parse_table, split_lines

TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\x85"), min_size=1)


@pytest.mark.parametrize(
    ("column", "cells", "values"),
    [
        (Labels(), ["1", "0"], [1, 0]),
        (Labels(), ["1", "cat"], ["1", "cat"]),
        (Labels(), ["0.9", "1"], [0.9, 1]),
        (Labels(), ["1", ""], [1, None]),
        (Numbers(wide=True), ["[0.5, 0.5]", "[1, 0]"], [[0.5, 0.5], [1, 0]]),
        (Numbers(), ["nan", "1"], ["nan", "1"]),
        (Texts(), ["1", "[a]", ""], ["1", "[a]", ""]),
        (References(), ["a cat", '["a cat", "one cat"]', "[sic]"], ["a cat", ["a cat", "one cat"], "[sic]"]),
        (Tokens(), ["B-PER O", '["New York"]'], [["B-PER", "O"], ["New York"]]),
        (Column(), ['{"id": 1}', "plain"], [{"id": 1}, "plain"]),
    ],
)
def test_a_cell_means_what_its_column_takes(column, cells, values):
    assert parse_cells(column, cells) == values


@given(st.lists(TEXT, min_size=1))
def test_texts_written_as_lines_are_read_back(texts):
    written = column_lines(Texts(), texts)
    assert written is None or parse_cells(Texts(), split_lines(written)) == texts


@given(st.lists(st.one_of(st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_numbers_written_as_lines_are_read_back(numbers):
    written = column_lines(Numbers(), numbers)
    assert written is not None
    assert parse_cells(Numbers(), split_lines(written)) == numbers


def test_what_no_lines_can_say_is_told():
    assert column_lines(Texts(), ["two\nlines"]) is None
    assert column_lines(Texts(), ["last is empty", ""]) is None
    assert column_lines(Labels(), ["1", "2"]) is None


@pytest.mark.parametrize(
    "text", ["a,b\n1,x\n2,y\n", "a;b\r\n1;x\r\n2;y", "a\tb\n1\tx\n2\ty\n\n", '\ufeff"a","b"\n1,x\n2,y']
)
def test_csv_with_any_usual_separator(text):
    assert parse_table(text, {"a": Labels()}) == {"a": [1, 2], "b": ["x", "y"]}


def test_cells_with_line_breaks_and_quotes():
    assert parse_table('a,b\n"x ""y""\nz",1\n', {"a": Texts()}) == {"a": ['x "y"\nz'], "b": [1]}


@given(st.text(max_size=200))
def test_any_text_is_a_table_or_a_value_error(text):
    try:
        table = parse_table(text, {"a": Labels()})
    except ValueError:
        return
    assert all(isinstance(column, list) for column in table.values())
