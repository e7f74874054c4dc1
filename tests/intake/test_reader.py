"""The one reader of files of rows: every kind of file, and files that are broken or meant to break something."""

import gzip
import io
import json
import math
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.intake import reader
from dynabench.intake.rows import FileRow
from dynabench.kit.errors import Invalid, TooLarge

ROWS = [{"text": "It rains.", "label": "wet"}, {"text": 'a "b", c', "label": "dry"}]
JSON_LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
CSV = b'text,label\nIt rains.,wet\n"a ""b"", c",dry\n'
TSV = b'text\tlabel\nIt rains.\twet\na "b", c\tdry\n'


def as_parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


@pytest.fixture
def read(tmp_path):
    def rows_of(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return list(reader.read_rows(path))

    return rows_of


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", JSON_LINES),
        ("a.NDJSON", b"\xef\xbb\xbf" + JSON_LINES),
        ("a.json", JSON_LINES),
        ("a.json", json.dumps(ROWS, indent=1).encode()),
        ("a.json", json.dumps({"version": 1, "data": ROWS}).encode()),
        ("a.json.gz", gzip.compress(json.dumps(ROWS).encode(), mtime=0)),
        ("a.csv", CSV),
        ("a.csv", b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n")),
        ("a.csv", b'text;label\nIt rains.;wet\n"a ""b"", c";dry\n'),
        ("a.csv", b'text\tlabel\nIt rains.\twet\n"a ""b"", c"\tdry\n'),
        ("a.csv.gz", gzip.compress(CSV, mtime=0)),
        ("a.tsv", TSV),
        ("a.parquet", as_parquet(pa.Table.from_pylist(ROWS))),
    ],
)
def test_the_same_rows_come_out_of_every_kind_of_file(read, name, content):
    assert [row.values for row in read(name, content)] == ROWS


def test_rows_have_the_numbers_of_their_lines(read):
    assert [row.number for row in read("a.jsonl", b'{"a": 1}\n\n \n{"a": 2}')] == [1, 4]
    assert [row.number for row in read("a.csv", b'a,b\n"two\nlines",x\n\ny,z\n')] == [3, 5]
    assert [row.number for row in read("a.json", b'[{"a": 1}, {"a": 2}]')] == [1, 2]


@pytest.mark.parametrize(
    ("name", "record", "reason"),
    [
        ("a.csv", "Es stürmt.,x".encode("latin-1"), "column text is not valid UTF-8"),
        ("a.tsv", "Es stürmt.\tx".encode("latin-1"), "column text is not valid UTF-8"),
        ("a.jsonl", '{"text": "Es stürmt."}'.encode("latin-1"), "not valid UTF-8"),
        ("a.csv", b"a,b,c", "3 columns, but the header has 2"),
        ("a.csv", b"a", "1 columns, but the header has 2"),
        ("a.tsv", b"a\tb\tc", "3 columns, but the header has 2"),
        ("a.csv", b"a" * 1_100_000 + b",x", "field larger"),
        ("a.csv", b"b" * 999_999 + b",x", "longer than 1,000,000 bytes"),
        ("a.tsv", b"a" * 1_100_000 + b"\tx", "field larger"),
        ("a.jsonl", b'{"text": "' + b"x" * 3_000_000 + b'"}', "longer than 1,000,000 bytes"),
        ("a.jsonl", b'{"text": "a" "b"}', r"not valid JSON \(column 14\)"),
        ("a.jsonl", b'{"text":' + b"[" * 3000 + b"]" * 3000 + b"}", "not valid JSON"),
        ("a.jsonl", b"\0", "not valid JSON"),
        ("a.jsonl", b"[1]", "not a JSON object"),
    ],
)
def test_a_bad_record_is_named_and_the_next_one_is_read(read, name, record, reason):
    header, good = {
        "a.csv": (b"text,label\n", b"It rains.,wet"),
        "a.tsv": (b"text\tlabel\n", b"It rains.\twet"),
        "a.jsonl": (b"\n", b'{"text": "It rains.", "label": "wet"}'),
    }[name]
    bad, next_row = read(name, header + record + b"\n" + good)
    assert (bad.number, bad.values) == (2, None)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(bad.error)
    assert next_row == FileRow(3, {"text": "It rains.", "label": "wet"})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "text,label\nEs stürmt.,b\n".encode("utf-16"), "in UTF-16"),
        ("a.jsonl", '{"a": 1}'.encode("utf-16"), "in UTF-16"),
        ("a.csv", "größe,b\n1,2\n".encode("latin-1"), "Save the file as UTF-8"),
        ("a.csv", b"a,b,a\n1,2,3\n", "needs a unique name"),
        ("a.csv", b"a,,b\n1,2,3\n", "needs a unique name"),
        ("a.csv", b"a" * 1_100_000, "header cannot be read"),
        ("a.exe", b"", "Upload a file that ends in .jsonl"),
        ("a.parquet", b"PAR1 but not really PAR1", "cannot be read"),
        ("a.parquet", as_parquet(pa.table({"when": pa.array([2**62], pa.timestamp("us"))})), "cannot be read"),
        ("a.parquet", as_parquet(pa.table([[1], [2]], ["a", "a"])), "needs a unique name"),
        ("a.parquet.gz", b"", "without .gz"),
        ("a.jsonl.gz", b"no gzip", "damaged or incomplete"),
        ("a.jsonl.gz", gzip.compress(JSON_LINES, mtime=0)[:-20], "damaged or incomplete"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_what_to_do(read, name, content, message):
    with pytest.raises(Invalid) as problem:
        read(name, content)
    assert message in problem.value.fields["file"]


@pytest.mark.release
def test_a_small_file_that_unpacks_to_a_great_deal_is_refused_early(read):
    with pytest.raises(TooLarge, match="too large when unpacked"):
        read("bomb.jsonl.gz", gzip.compress(b"\0" * 2 * reader.SUSPECT_BYTES))


def test_large_row_groups_and_rows_are_refused(read, monkeypatch):
    content = as_parquet(pa.table({"text": ["a" * 1000] * 10}))
    monkeypatch.setattr(reader, "BATCH_BYTES", 100)
    with pytest.raises(TooLarge, match="Rows from 1 on"):
        read("a.parquet", content)
    monkeypatch.setattr(reader, "GROUP_BYTES", 100)
    with pytest.raises(TooLarge, match="row group"):
        read("a.parquet", content)


def test_a_document_that_ends_early_gives_what_came_before(read):
    first, broken = read("a.json", json.dumps(ROWS).encode()[:-20])
    assert (first.values, broken.number, broken.values) == (ROWS[0], 2, None)
    assert "not valid JSON" in broken.error


def test_values_that_python_writes_are_read(read):
    [row] = read(
        "a.jsonl", b'{"share": NaN, "half": "\\ud800", "nul": "\\u0000", "big": 123456789012345678901234567890}'
    )
    assert math.isnan(row.values["share"])
    assert (row.values["half"], row.values["nul"]) == ("\ud800", "\0")


def test_the_mark_before_formulas_is_taken_away_again(read):
    [row] = read("a.csv", b"text,label\n'=1+1,'tis\n")
    assert row.values == {"text": "=1+1", "label": "'tis"}


def test_progress_is_in_bytes_of_the_file_and_ends_with_all_of_them(tmp_path):
    for name, content in (("a.csv.gz", gzip.compress(CSV * 9_000)), ("a.jsonl", JSON_LINES * 900)):
        path, positions = tmp_path / name, []
        path.write_bytes(content)
        for _row in reader.read_rows(path, progress=positions.append):
            pass
        assert positions == sorted(positions)
        assert (len(positions) > 3, positions[-1]) == (True, path.stat().st_size)


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.lists(JSONS, max_size=6),
    st.dictionaries(st.text(max_size=4), JSONS, max_size=3),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_document_read_in_pieces_is_the_document(members, beside, piece, wrapped):
    beside.pop("data", None)
    document = beside | {"data": members} if wrapped else members
    before = reader.PIECE
    reader.PIECE = piece
    try:
        rows = list(reader.read_members(io.BytesIO(json.dumps(document, indent=1).encode())))
    finally:
        reader.PIECE = before
    assert rows == members


def write_rows(path, count):
    """A million rows are written a thousand at a time."""
    some = [{"text": f"Row {number} of a large file.", "label": "wet"} for number in range(1000)]
    if path.suffix == ".parquet":
        with pq.ParquetWriter(path, pa.Table.from_pylist(some).schema) as writer:
            for _batch in range(count // 1000):
                writer.write_table(pa.Table.from_pylist(some))
        return
    lines = {
        ".csv": "".join(f"{row['text']},{row['label']}\n" for row in some),
        ".jsonl": "".join(json.dumps(row) + "\n" for row in some),
        ".json": ",".join(map(json.dumps, some)),
    }[path.suffix]
    before, between, after = {".csv": ("text,label\n", "", ""), ".json": ("[", ",", "]")}.get(path.suffix, ("", "", ""))
    with path.open("w") as file:
        file.write(before)
        for batch in range(count // 1000):
            file.write((between if batch else "") + lines)
        file.write(after)


@pytest.mark.slow
@pytest.mark.parametrize(
    "count", [pytest.param(20_000, id="quick"), pytest.param(1_000_000, id="million", marks=pytest.mark.release)]
)
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json", ".parquet"])
def test_a_large_file_is_read_in_constant_memory(tmp_path, ending, count):
    path = tmp_path / f"large{ending}"
    write_rows(path, count)
    for _row in reader.read_rows(path):  # what is imported and kept once does not count
        break
    tracemalloc.start()
    try:
        assert sum(row.values is not None for row in reader.read_rows(path)) == count
        assert tracemalloc.get_traced_memory()[1] < 12 * 1024**2
    finally:
        tracemalloc.stop()
