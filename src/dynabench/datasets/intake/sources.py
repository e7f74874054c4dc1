"""The rows of files, one after the other, as plain objects: quick, in flat memory, and with every bad row named."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from dynabench import errors
from dynabench.datasets.imports import folder, packed, reading
from dynabench.datasets.intake import zipped
from dynabench.language import _
from dynabench.rounds.files import LONGEST

AT_ONCE = 250  # rows of Parquet in memory
MOST_ROWS = 256 * 1024**2  # bytes of them
MOST_GROUP = 1024**3  # bytes of a row group, unpacked
TOLD = 5_000  # rows between two reports of progress


@dataclass(frozen=True)
class Line:
    """A row of a file by its number (a line of JSONL, a record of CSV...): its values, or why there are none."""

    number: int
    values: Mapping[str, Any] | None
    error: str = ""


def kind(name: str) -> str:
    """What a file is, by its name: one of `reading.KINDS` or `.zip`. Raises `Invalid` under `file`."""
    return ".zip" if name.lower().endswith(".zip") else reading.kind(name)


@contextmanager
def opened(path: Path, name: str, split: str = "", first: bool = False) -> Iterator[list[tuple[Path, str]]]:
    """The data files in a file: itself, or those of a zipped dataset's folder, unpacked for as long as this lasts.

    `first` unpacks only one of them.
    """
    if kind(name) != ".zip":
        yield [(path, name)]
        return
    with zipped.unpacked(path, split, first) as found:
        yield [(each, each.name) for each in found]


@contextmanager
def given(path: Path) -> Iterator[list[tuple[Path, str]]]:
    """The data files of a folder, or those in a file."""
    if path.is_dir():
        yield in_folder(path)
        return
    with opened(path, path.name) as files:
        yield files


def rows(path: Path, name: str, at: Callable[[int], object] | None = None) -> Iterator[Line]:
    """The rows of a file; `at` is told now and then how many of its bytes are read."""
    ending = reading.kind(name)
    if ending == ".parquet":
        yield from _parquet(path, name, at)
    elif ending in (".jsonl", ".ndjson"):
        with packed.opened(path, name) as stream:
            reading.refuse_utf16(stream)
            raw = getattr(stream, "raw_file", stream)
            for number, line in enumerate(_objects(stream), start=1):
                if at is not None and number % TOLD == 0:
                    at(raw.tell())
                yield line
    else:
        for row in reading.rows(path, name, at):
            yield Line(row.number, None, row.error) if row.error else Line(row.number, reading.values(row))


def _objects(stream: BinaryIO) -> Iterator[Line]:
    number, read, parse = 0, stream.readline, orjson.loads
    while text := read(LONGEST + 1):
        number += 1
        if len(text) > LONGEST:
            while text and not text.endswith(b"\n"):  # the rest of an endless line is thrown away
                text = read(LONGEST + 1)
            yield Line(number, None, _("The line is longer than %(longest)s bytes.", longest=f"{LONGEST:,}"))
            continue
        try:
            values = parse(text)
        except orjson.JSONDecodeError:
            plain = text.strip(b" \t\r\n\xef\xbb\xbf")
            if plain:
                yield _again(number, plain)
            continue
        yield Line(number, values) if type(values) is dict else Line(number, None, _("The line is not a JSON object."))


def _again(number: int, text: bytes) -> Line:
    """A line that is no JSON: the first may begin with a byte order mark."""
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            text.decode()
        except UnicodeDecodeError:
            return Line(number, None, _("The line is not valid UTF-8."))
        return Line(number, None, _("The line is not valid JSON."))
    return Line(number, values) if isinstance(values, dict) else Line(number, None, _("The line is not a JSON object."))


def _parquet(path: Path, name: str, at: Callable[[int], object] | None) -> Iterator[Line]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if name.lower().endswith(".gz"):
        raise errors.Invalid({"file": _("Parquet is compressed already: send it without .gz.")})
    size = path.stat().st_size
    try:
        with pq.ParquetFile(
            path, buffer_size=1024**2, thrift_string_size_limit=50_000_000, thrift_container_size_limit=1_000_000
        ) as file:
            groups = [file.metadata.row_group(each) for each in range(file.num_row_groups)]
            if any(group.total_byte_size > MOST_GROUP for group in groups):
                raise errors.TooLarge(_("A row group of this Parquet file is larger than 1 GiB. Write smaller ones."))
            number, total = 0, max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=AT_ONCE, use_threads=False):
                if batch.nbytes > MOST_ROWS:
                    raise errors.TooLarge(_("Rows from %(number)s on are too large to be read.", number=number + 1))
                names = batch.schema.names
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield Line(number, dict(zip(names, cells, strict=True)))
                if at is not None and number % TOLD < AT_ONCE:
                    at(size * number // total)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        raise errors.Invalid({"file": f"This Parquet file cannot be read: {str(problem)[:200]}"}) from None


def class_names(path: Path, name: str) -> dict[str, list[str]]:
    """The names of classes of columns that hold their numbers, as `datasets` writes them beside a Parquet schema."""
    if reading.kind(name) != ".parquet":
        return {}
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        said = (pq.read_schema(path).metadata or {}).get(b"huggingface", b"{}")
        features = orjson.loads(said)["info"]["features"]
        return {column: list(map(str, each["names"])) for column, each in features.items() if "names" in each}
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def in_folder(place: Path, config: str = "", split: str = "") -> list[tuple[Path, str]]:
    """The data files of a dataset's folder."""
    return [(path, path.name) for path in folder.local(place, config, split)]
