"""Rows of a file of any kind that we read, one after the other; a bad row is named and the rest goes on.

Nothing here unpickles, follows a path in a file, or runs code that came with data.
"""

import codecs
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from dynabench import errors
from dynabench.datasets.imports import documents, packed
from dynabench.language import _
from dynabench.rounds import files
from dynabench.rounds.contexts import Row

KINDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".json", ".parquet")
MOST_ROWS = 256 * 1024**2  # bytes of a few hundred rows of Parquet
csv.field_size_limit(files.LONGEST)  # the predictions of an example are one cell


def kind(name: str) -> str:
    """What a file called `name` is: one of `KINDS`; `.gz` after it is allowed. Raises `Invalid` for others."""
    plain = name.lower().removesuffix(".gz")
    for ending in KINDS:
        if plain.endswith(ending):
            return ending
    raise errors.Invalid(
        {"file": _("Give a file that ends in %(kinds)s, or one of them with .gz.", kinds=", ".join(KINDS))}
    )


def rows(path: Path, name: str = "", at: Callable[[int], object] | None = None) -> Iterator[Row]:
    """The rows of a file, numbered from 1 (lines of JSONL, records of CSV and Parquet, members of a JSON list).

    `name` is what the file was called where `path` no longer says so. `at` is told how many bytes of it are read.
    """
    ending = kind(name or path.name)
    with packed.opened(path, name or path.name) as stream:
        refuse_utf16(stream)
        read = {".jsonl": files.objects, ".ndjson": files.objects, ".csv": files.csv_rows, ".tsv": _tsv,
                ".json": _json, ".parquet": _parquet}[ending]  # fmt: skip
        raw = getattr(stream, "raw_file", stream)
        for number, row in enumerate(read(stream), start=1):
            if at is not None and number % 500 == 0:
                at(raw.tell())
            yield row


def refuse_utf16(stream: Any) -> None:
    """Raises `Invalid` for a file that begins as UTF-16 does."""
    if stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise errors.Invalid({"file": _("This file is in UTF-16. Save it in UTF-8 and send it again.")})


def values(row: Row) -> dict[str, Any]:
    """A row as the file has it: readers take the column `tag` out, here it is back."""
    held = row.values if isinstance(row.values, dict) else {}
    return {**held, "tag": row.tag} if row.tag not in ("", None) else dict(held)


def _tsv(stream: BinaryIO) -> Iterator[Row]:
    return files.csv_rows(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def _json(stream: BinaryIO) -> Iterator[Row]:
    number = 0
    try:
        for one in documents.members(stream):
            number += 1
            tag = one.pop("tag", "") if isinstance(one, dict) else ""
            yield (
                Row(number, one, tag)
                if isinstance(one, dict)
                else Row(number, None, error=_("This is no JSON object."))
            )
    except (ValueError, RecursionError):
        yield Row(number + 1, None, error=_("From here on this is not valid JSON in UTF-8."))


def _parquet(stream: BinaryIO) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(stream, thrift_string_size_limit=50_000_000, thrift_container_size_limit=1_000_000)
        number = 0
        for batch in file.iter_batches(batch_size=250):
            if batch.nbytes > MOST_ROWS:
                raise errors.TooLarge(_("Rows from %(number)s on are too large to be read.", number=number + 1))
            for record in batch.to_pylist():
                number += 1
                yield Row(number, record)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        raise errors.Invalid({"file": f"This Parquet file cannot be read: {str(problem)[:200]}"}) from None
