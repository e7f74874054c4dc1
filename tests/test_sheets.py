"""Tables as CSV: read back by Python's own reader, they hold what went in, and nothing that a spreadsheet runs."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit import csv_tables
from dynabench.kit.api import csv_response

TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "'quoted'", "", "plain", "＝1"])
def test_a_spreadsheet_takes_no_text_for_a_formula(text):
    cell = csv_tables.guarded(text)
    assert csv_tables.unguarded(cell) == text
    assert not cell.startswith(RUN)
    assert cell, "an empty text is no empty cell"


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.lists(st.floats(-9, 9), max_size=5))
def test_a_sheet_is_read_back_as_it_was(texts, numbers):
    rows = [*texts, *((number, None) for number in numbers)]
    written = csv_tables.as_csv(["=first", "second"], rows).decode("utf-8")
    assert written.startswith("\ufeff")
    header, *result = csv.reader(io.StringIO(written.removeprefix("\ufeff"), newline=""))
    assert header == ["'=first", "second"]
    assert not any(cell.startswith(RUN) for row in result[: len(texts)] for cell in row)
    assert [tuple(map(csv_tables.unguarded, row)) for row in result[: len(texts)]] == texts
    assert [(float(number), rest) for number, rest in result[len(texts) :]] == [(number, "") for number in numbers]


def test_a_long_table_is_never_held_whole():
    claimed = []
    source = (claimed.append(number) or [str(number)] for number in range(10 * csv_tables.LINES))
    result = csv_tables.pieces(["n"], source)
    next(result)
    assert len(claimed) == csv_tables.LINES
    text = "".join(result)
    assert text.splitlines()[-1] == str(10 * csv_tables.LINES - 1)


def test_a_download_says_what_it_is():
    answer = csv_response("task-log.csv", ["a"], [])
    assert answer.headers["content-disposition"] == 'attachment; filename="task-log.csv"'
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
