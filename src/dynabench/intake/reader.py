"""The reader of JSON and of files of rows."""

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import orjson

from dynabench.intake import rows
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _

BATCH_ROWS = 250
BATCH_BYTES = 256 * 1024**2
GROUP_BYTES = 1024**3
"""Bytes of a row group, unpacked."""


def read_parquet(path: Path, progress: Callable[[int], object]) -> Iterator[FileRow]:
    """Yield the rows of a Parquet file; `progress` is called with the share of its bytes that is read.

    Raises `Invalid` for what is no Parquet file, and `TooLarge` for row groups and rows that do not fit into memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size, number = path.stat().st_size, 0
    try:
        with pq.ParquetFile(
            path, buffer_size=1024**2, thrift_string_size_limit=50_000_000, thrift_container_size_limit=1_000_000
        ) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise errors.Invalid({"file": _("Each column of the header needs a unique name.")})
            groups = (file.metadata.row_group(place) for place in range(file.num_row_groups))
            if any(group.total_byte_size > GROUP_BYTES for group in groups):
                raise errors.TooLarge(_("A row group of this Parquet file is larger than 1 GiB. Write smaller ones."))
            total = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                if batch.nbytes > BATCH_BYTES:
                    raise errors.TooLarge(_("Rows from %(number)s on are too large to read.", number=number + 1))
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield FileRow(number, dict(zip(names, cells, strict=True)))
                progress(size * number // total)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        raise errors.Invalid({"file": f"This Parquet file cannot be read: {str(problem)[:200]}"}) from None


def read_class_names(path: Path) -> dict[str, list[str]]:
    """Return the names of the classes of each column that holds their numbers.

    The package `datasets` writes them beside the schema of a Parquet file, also of lists of numbers; a file without
    them has none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        document = (pq.read_schema(path).metadata or {}).get(b"huggingface", b"{}")
        features = orjson.loads(document)["info"]["features"]
        inner = {column: feature.get("feature", feature) if isinstance(feature, dict) else (feature or [{}])[0]
                 for column, feature in features.items()}  # fmt: skip
        return {column: list(map(str, feature["names"])) for column, feature in inner.items() if "names" in feature}
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


KINDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".json", ".parquet")
UNPACKED_BYTES = 8 * 1024**3
SUSPECT_BYTES, SUSPECT_RATIO = 64 * 1024**2, 200
"""Beyond so many bytes, no text packs 200 times smaller."""
PROGRESS_ROWS = 500
LONGEST_OBJECT = 64 * 1024**2


def read_json_document(stream: BinaryIO) -> Iterator[FileRow]:
    """Yield the rows of a document, numbered from 1; the last one tells where it is no JSON any more."""
    number = 0
    try:
        for member in read_members(stream):
            number += 1
            is_object = isinstance(member, dict)
            yield FileRow(number, member) if is_object else FileRow(number, None, _("This is not a JSON object."))
    except (ValueError, RecursionError):
        yield FileRow(number + 1, None, _("From here on, this is not valid JSON in UTF-8."))


TEXT_READERS: dict[str, Callable[[BinaryIO], Iterator[FileRow]]] = {
    ".jsonl": rows.read_json_lines,
    ".ndjson": rows.read_json_lines,
    ".csv": rows.read_csv,
    ".tsv": rows.read_tsv,
    ".json": read_json_document,
}


def kind_of_file(name: str) -> str:
    """Return the kind of a file from its name, one of `KINDS`; `.gz` may follow. Raises `Invalid` for others."""
    ending = PurePath(name.lower().removesuffix(".gz")).suffix
    if ending in KINDS:
        return ending
    raise errors.Invalid(
        {"file": _("Upload a file that ends in %(kinds)s, or one of these with .gz.", kinds=", ".join(KINDS))}
    )


def ending_of_file(name: str) -> str:
    """Return the ending that tells the kind of a file, with `.gz` where it is compressed. Raises `Invalid`."""
    return kind_of_file(name) + (".gz" if name.lower().endswith(".gz") else "")


def read_rows(path: Path, name: str = "", progress: Callable[[int], object] = lambda _: None) -> Iterator[FileRow]:
    """Yield the rows of a file.

    `name` is what the file was called where `path` no longer says so. `progress` is called with the number of its
    bytes that are read, every few hundred rows and at the end.
    """
    name = name or path.name
    kind = kind_of_file(name)
    if kind == ".parquet":
        if name.lower().endswith(".gz"):
            raise errors.Invalid({"file": _("Parquet is already compressed: upload it without .gz.")})
        yield from read_parquet(path, progress)
        return
    with open_text(path, name) as stream:
        packed = getattr(stream, "packed", stream)
        for count, row in enumerate(read_stream(stream, kind), start=1):
            if count % PROGRESS_ROWS == 0:
                progress(packed.tell())
            yield row
        progress(packed.tell())


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, plain or with .gz, with the numbers of their lines.

    This is for files of one's own, whose lines may be long. Raises `Invalid` at the first line that is no object.
    """
    with open_text(path, path.name) as stream:
        refuse_utf16(stream)
        for number, values, error in rows.read_json_lines(stream, LONGEST_OBJECT):
            if values is None:
                raise errors.Invalid({"file": _("Line %(number)s: %(error)s", number=number, error=error)})
            yield number, values


def read_stream(stream: Any, kind: str) -> Iterator[FileRow]:
    """Return the rows of an open text file of a kind in `TEXT_READERS`. Raises `Invalid` for a file in UTF-16."""
    refuse_utf16(stream)
    return TEXT_READERS[kind](stream)


def refuse_utf16(stream: Any) -> None:
    """Raise `Invalid` for an open file that begins as UTF-16 does."""
    if stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise errors.Invalid({"file": _("This file is in UTF-16. Save it as UTF-8 and upload it again.")})


@contextmanager
def open_text(path: Path, name: str) -> Iterator[BinaryIO]:
    """Open a text file, unpacked where its name ends in .gz."""
    with path.open("rb") as file:
        yield UnpackedFile(file) if name.lower().endswith(".gz") else file


class UnpackedFile(io.BufferedReader):
    """The content of a gzip file, whose file is `packed`. Raises `Invalid` or `TooLarge` while it is read."""

    def __init__(self, packed: BinaryIO) -> None:
        self.packed = packed
        super().__init__(_LimitedGzip(packed))


class _LimitedGzip(gzip.GzipFile):
    # A small file may hold a great deal of nothing.
    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed)
        self.packed, self.size = packed, 0

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.read(len(buffer))
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise errors.Invalid({"file": _("This gzip file is damaged or incomplete. Upload it again.")}) from None
        buffer[: len(data)] = data
        self.size += len(data)
        if self.size > UNPACKED_BYTES or (self.size > SUSPECT_BYTES and self.size > SUSPECT_RATIO * self.packed.tell()):
            raise errors.TooLarge(_("This file is too large when unpacked. Split it."))
        return len(data)


PIECE = 1024**2  # characters
LONGEST_MEMBER = 64 * 1024**2  # of one member, such as an article with all its questions
ROWS_MEMBER = "data"  # the member that holds the rows, in SQuAD and files like it
_SPACE = " \t\r\n"
_ENDS = frozenset(_SPACE + ",]}")  # what a number ends at


class _Text:
    """A document as far as it has been read."""

    def __init__(self, stream: BinaryIO) -> None:
        self.decoded = codecs.iterdecode(iter(lambda: stream.read(PIECE), b""), "utf-8-sig")
        self.text, self.at = "", 0
        self.decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Read on, as much again as is here, so that a long member is not tried too often; False at the end."""
        rest, expected = [self.text[self.at :]], max(len(self.text) - self.at, 1)
        if expected > LONGEST_MEMBER:
            raise errors.TooLarge(
                _("A member of this JSON document is longer than %(most)s characters.", most=f"{LONGEST_MEMBER:,}")
            )
        while expected > 0 and (some := next(self.decoded, "")):
            rest.append(some)
            expected -= len(some)
        grown = len(rest) > 1
        self.text, self.at = "".join(rest), 0
        return grown

    def peek(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _SPACE:
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def take(self, expected: str) -> bool:
        """Pass over a character, if it is the next one."""
        if self.peek() == expected:
            self.at += 1
            return True
        return False

    def value(self) -> Any:
        """The next value. Raises `ValueError` where there is none, `RecursionError` for one nested too deeply."""
        self.peek()
        while True:
            try:
                parsed, end = self.decoder.raw_decode(self.text, self.at)
            except ValueError:
                if not self.more():
                    raise
                continue
            if isinstance(parsed, int | float) and self.text[end : end + 1] not in _ENDS and self.more():
                continue  # the number may go on
            self.at = end
            return parsed


def read_members(stream: BinaryIO) -> Iterator[Any]:
    """Yield the rows of a document. Raises `ValueError` or `RecursionError` where it is no JSON any more."""
    text = _Text(stream)
    if text.peek() != "{":
        yield from _listed(text) if text.take("[") else [text.value()]
    else:
        while text.peek() == "{":  # files of JSON lines are also called .json
            yield from _of_object(text)
    if text.peek():
        raise ValueError("There is more after the document.")


def _listed(text: _Text) -> Iterator[Any]:
    while not text.take("]"):
        yield text.value()
        if not text.take(",") and text.peek() != "]":
            raise ValueError("A list ends early.")


def _of_object(text: _Text) -> Iterator[Any]:
    text.take("{")
    seen: dict[str, Any] = {}
    listed = False
    while not text.take("}"):
        name = text.value()
        if not isinstance(name, str) or not text.take(":"):
            raise ValueError("An object's member has no name.")
        if name == ROWS_MEMBER and text.take("["):
            listed = True
            yield from _listed(text)
        else:
            seen[name] = text.value()
        if not text.take(",") and text.peek() != "}":
            raise ValueError("An object ends early.")
    if not listed:
        yield seen
