"""Rows of datasets in files that are named after their content."""

import hashlib
from dataclasses import replace

import orjson
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.kit.settings import Settings

pytestmark = pytest.mark.slow

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
VALUES = st.dictionaries(
    TEXT, TEXT | st.integers(-(2**53), 2**53) | st.booleans() | st.lists(TEXT, max_size=2), max_size=3
)
ROW = st.builds(
    StoredRow, uid=TEXT, inputs=VALUES, answers=st.lists(VALUES, max_size=3).map(tuple),
    tags=st.lists(TEXT, max_size=3).map(tuple), original_uid=TEXT, transformation=TEXT,
)  # fmt: skip


@pytest.fixture
def home(tmp_path):
    settings = Settings(home=tmp_path)
    settings.folder.mkdir(exist_ok=True)
    return settings


@how(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(ROW, max_size=12))
def test_what_is_written_is_read_back_and_its_digest_is_that_of_the_rows(home, rows):
    written = stored.write_rows(home, iter(rows), twins=True)
    assert list(stored.read_rows(home, written.digest)) == rows
    assert written.digest == stored.rows_digest(rows)
    assert written.rows == len(rows)
    assert sum(written.tags.values()) == sum(len(row.tags) for row in rows)


@given(st.lists(ROW, max_size=6))
def test_the_digest_is_that_of_sorted_json_lines(rows):
    lines = [
        orjson.dumps([r.uid, r.inputs, list(r.answers), list(r.tags), r.original_uid, r.transformation],
                     option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
        for r in rows
    ]  # fmt: skip
    assert stored.rows_digest(rows) == hashlib.sha256(b"".join(lines)).hexdigest()


def test_the_digest_does_not_depend_on_how_many_rows_are_written_at_once(home, monkeypatch):
    rows = [StoredRow(str(i), {"text": f"row {i}"}, ({"label": "a"},), ("x",) if i % 3 else ()) for i in range(2_500)]
    whole = stored.write_rows(home, rows)
    assert whole.tags == {"x": 1_666}
    monkeypatch.setattr(stored, "SOME", 7)
    monkeypatch.setattr(stored, "GROUP_ROWS", 100)
    assert stored.write_rows(home, rows) == whole
    assert [row.uid for row in stored.read_rows(home, whole.digest, first=150, rows=120)] == [
        str(i) for i in range(150, 270)
    ]
    monkeypatch.setattr(stored, "LARGE", 1)
    assert stored.write_rows(home, rows).digest == whole.digest
    assert stored.write_rows(home, [*rows[:-1], replace(rows[-1], uid="other")]).digest != whole.digest
