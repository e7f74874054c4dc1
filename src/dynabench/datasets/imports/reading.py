"""Rows of a file of any kind that we read, one after the other; a bad row is named and the rest goes on.

Nothing here unpickles, follows a path in a file, or runs code that came with data.
"""

import codecs
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dynabench import errors
from dynabench.rounds import files
from dynabench.rounds.contexts import Row

KINDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".json", ".parquet")
MOST_UNPACKED = 8 * 1024**3  # bytes of a compressed file, unpacked
MOST_JSON = 512 * 1024**2  # bytes of one JSON document, which is read at once
csv.field_size_limit(files.LONGEST)  # the predictions of an example are one cell


def kind(name: str) -> str:
    """What a file called `name` is: one of `KINDS`; `.gz` after it is allowed. Raises `Invalid` for others."""
    plain = name.lower().removesuffix(".gz")
    for ending in KINDS:
        if plain.endswith(ending):
            return ending
    raise errors.Invalid({"file": f"Give a file that ends in {', '.join(KINDS)}, or one of them with .gz."})


def rows(path: Path, name: str = "", at: Callable[[int], object] | None = None) -> Iterator[Row]:
    """The rows of a file, numbered from 1 (lines of JSONL, records of CSV and Parquet, members of a JSON list).

    `name` is what the file was called where `path` no longer says so. `at` is told how many bytes of it are read.
    """
    ending = kind(name or path.name)
    with _opened(path, name or path.name) as stream:
        read = {".jsonl": files.objects, ".ndjson": files.objects, ".csv": files.csv_rows, ".tsv": _tsv,
                ".json": _json, ".parquet": _parquet}[ending]  # fmt: skip
        raw = getattr(stream, "raw_file", stream)
        for number, row in enumerate(read(stream), start=1):
            if at is not None and number % 500 == 0:
                at(raw.tell())
            yield row


def values(row: Row) -> dict[str, Any]:
    """A row as the file has it: readers take the column `tag` out, here it is back."""
    held = row.values if isinstance(row.values, dict) else {}
    return {**held, "tag": row.tag} if row.tag not in ("", None) else dict(held)


class _Unpacked(io.BufferedReader):
    """A gzip file as it is read, up to a limit: a small file may hold a great deal of nothing."""

    def __init__(self, packed: BinaryIO) -> None:
        self.raw_file = packed
        super().__init__(_Limited(packed))


class _Limited(gzip.GzipFile):
    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed)
        self.seen = 0

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        self.seen += len(data)
        if self.seen > MOST_UNPACKED:
            raise errors.TooLarge("This file is too large unpacked. Split it.")
        return len(data)


@contextmanager
def _opened(path: Path, name: str) -> Iterator[BinaryIO]:
    with path.open("rb") as stream:
        if not name.lower().endswith(".gz"):
            yield stream
            return
        try:
            yield _Unpacked(stream)
        except (gzip.BadGzipFile, EOFError):
            raise errors.Invalid({"file": "This is no whole gzip file."}) from None


def _tsv(stream: BinaryIO) -> Iterator[Row]:
    reader = csv.DictReader(codecs.iterdecode(stream, "utf-8-sig", "replace"), delimiter="\t", quoting=csv.QUOTE_NONE)
    for record in reader:
        yield Row(reader.line_num, {name: value for name, value in record.items() if name and value is not None})


def _json(stream: BinaryIO) -> Iterator[Row]:
    data = stream.read(MOST_JSON + 1)
    if len(data) > MOST_JSON:
        raise errors.TooLarge("A JSON document may have 512 MiB. Send longer data as JSON lines.")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise errors.Invalid({"file": "This is not valid JSON in UTF-8."}) from None
    found = document.get("data", [document]) if isinstance(document, dict) else document
    for number, one in enumerate(found if isinstance(found, list) else [found], start=1):
        yield Row(number, one) if isinstance(one, dict) else Row(number, None, error="This is not a JSON object.")


def _parquet(stream: BinaryIO) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(stream, thrift_string_size_limit=50_000_000, thrift_container_size_limit=1_000_000)
        number = 0
        for batch in file.iter_batches(batch_size=500):
            for record in batch.to_pylist():
                number += 1
                yield Row(number, record)
    except (pa.ArrowException, OSError) as problem:
        raise errors.Invalid({"file": f"This Parquet file cannot be read: {str(problem)[:200]}"}) from None
