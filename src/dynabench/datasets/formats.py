"""The kinds of file that an export can be."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dynabench.datasets.exports import Pages, lines
from dynabench.datasets.scopes import Scope

Format = Literal["jsonl", "csv", "parquet", "zip"]


@dataclass(frozen=True)
class Kind:
    """A file format: what its files end in, their media type, and what writes them."""

    ending: str
    media_type: str
    write: Callable[[Pages, Scope], Iterator[bytes]]


def _jsonl(pages: Pages, _: Scope) -> Iterator[bytes]:
    yield from (lines(page) for page in pages)


def _csv(pages: Pages, what: Scope) -> Iterator[bytes]:
    from dynabench.datasets import sheets

    return sheets.stream(pages, what)


def _parquet(pages: Pages, what: Scope) -> Iterator[bytes]:
    from dynabench.datasets import parquet  # Arrow is large, and most processes never need it

    return parquet.stream(pages, what)


def _zip(pages: Pages, what: Scope) -> Iterator[bytes]:
    from dynabench.datasets import with_files

    return with_files.stream(pages, what)


FORMATS: dict[str, Kind] = {
    "jsonl": Kind(".jsonl", "application/x-ndjson", _jsonl),
    "csv": Kind(".csv", "text/csv; charset=utf-8", _csv),
    "zip": Kind(".zip", "application/zip", _zip),
    "parquet": Kind(".parquet", "application/vnd.apache.parquet", _parquet),
}


def gzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, compressed as they come."""
    squeeze = zlib.compressobj(6, wbits=31)
    for part in parts:
        if some := squeeze.compress(part):
            yield some
    yield squeeze.flush()
