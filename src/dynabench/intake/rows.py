"""Rows of files, those that were refused, and text files of them: JSON lines, CSV and TSV."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import orjson

from dynabench.kit import errors
from dynabench.kit.language import _

CELLS, CELL_LENGTH, NAME_LENGTH = 50, 500, 100
"""What is kept of the values of a refused row."""


@dataclass(frozen=True)
class BadRow:
    """A row that was left out: its number from 1 (0 for the whole file), the reason, and what stood in it."""

    number: int
    message: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class BadRowReport:
    """The outcome of a file: `rows` that can be used, and of `count` refused rows the first `limit` with reasons."""

    limit: int
    rows: int = 0
    count: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)

    def add(self, number: int, message: str, values: Mapping[str, Any] | None = None) -> None:
        """Note a refused row; 0 as its number means the whole file."""
        self.count += 1
        if len(self.bad_rows) < self.limit:
            self.bad_rows.append(BadRow(number, message, values or {}))

    def lines(self) -> list[str]:
        """Return the reasons in the order of the rows, each with its number, and how many more there are."""
        ordered = sorted(self.bad_rows, key=lambda row: (row.number, row.message))
        named = [f"line {row.number}: {row.message}" if row.number else row.message for row in ordered]
        return [*named, f"and {self.count - len(named):,} more"] if self.count > len(named) else named


def shorten_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row for a report: the first columns, long cells cut."""
    return {
        str(name)[:NAME_LENGTH]: value if isinstance(value, int | float) else str(value)[:CELL_LENGTH]
        for name, value in list(values.items())[:CELLS]
    }


LONGEST_LINE = 1_000_000
"""Bytes of one line, and characters of one cell."""
DELIMITERS = ",;\t"
FORMULA_STARTS = frozenset("=+-@\t\r\n")
BYTE_ORDER_MARK = "\ufeff"
csv.field_size_limit(LONGEST_LINE)


class FileRow(NamedTuple):
    """One row of a file: its number from 1 (of a line of text, of a member of a document, of a row of Parquet), its
    values by column, or None with the reason."""

    number: int
    values: dict[str, Any] | None
    error: str = ""


def read_json_lines(stream: BinaryIO, longest: int = LONGEST_LINE) -> Iterator[FileRow]:
    """Yield one row for each line, which is a JSON object of at most `longest` bytes; pass over empty lines."""
    for number, line in read_lines(stream, longest):
        if len(line) > longest:
            yield FileRow(number, None, _line_too_long(longest))
            continue
        try:
            values = orjson.loads(line)
        except orjson.JSONDecodeError:
            if line.strip(b" \t\r\n\xef\xbb\xbf"):
                yield _parse_again(number, line)
            continue
        yield FileRow(number, values) if type(values) is dict else _no_object(number)


def read_csv(stream: BinaryIO) -> Iterator[FileRow]:
    """Yield one row for each record, named by the line that it ends on; the header names the columns.

    The delimiter is the comma, semicolon or tab that the header has most of. Raises `Invalid` for a bad header.
    """
    lines = _TextLines(stream)
    return _read_records(lines, delimiter=guess_delimiter(lines.first))


def read_tsv(stream: BinaryIO) -> Iterator[FileRow]:
    """Yield one row for each line of cells that tabs separate; quotation marks are characters like others."""
    return _read_records(_TextLines(stream), delimiter="\t", quoting=csv.QUOTE_NONE)


def guess_delimiter(header: str) -> str:
    """Return the delimiter that a header has most of, the comma where it has none."""
    return max(DELIMITERS, key=lambda mark: (header.count(mark), mark == ","))


def read_lines(stream: BinaryIO, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers from 1; of an endless line only the first `longest` + 1 bytes."""
    number, read = 0, stream.readline
    while line := read(longest + 1):
        number += 1
        yield number, line
        while len(line) > longest and not line.endswith(b"\n"):
            line = read(longest + 1) or b"\n"


def _line_too_long(longest: int = LONGEST_LINE) -> str:
    return _("The line is longer than %(longest)s bytes.", longest=f"{longest:,}")


def _no_object(number: int) -> FileRow:
    return FileRow(number, None, _("The line is not a JSON object."))


def _parse_again(number: int, line: bytes) -> FileRow:
    # Python's parser takes what the quick one refuses and other programs write, such as NaN and a byte order mark.
    try:
        text = line.decode("utf-8-sig")
        values = json.loads(text)
    except UnicodeDecodeError:
        return FileRow(number, None, _("The line is not valid UTF-8."))
    except json.JSONDecodeError as problem:
        return FileRow(number, None, _("The line is not valid JSON (column %(column)s).", column=problem.colno))
    except (ValueError, RecursionError):
        return FileRow(number, None, _("The line is not valid JSON."))
    return FileRow(number, values) if isinstance(values, dict) else _no_object(number)


class _TextLines:
    """The lines of a text file for `csv`. Bytes that are not UTF-8 become surrogates; `cut` tells of a long line."""

    def __init__(self, stream: BinaryIO) -> None:
        self.cut = False
        self.lines = self._decode(stream)
        self.first = next(self.lines, "")
        self.waiting = [self.first] if self.first else []

    def _decode(self, stream: BinaryIO) -> Iterator[str]:
        for number, line in read_lines(stream):
            self.cut = self.cut or len(line) > LONGEST_LINE
            text = line.decode("utf-8", errors="surrogateescape")
            yield text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return self.waiting.pop() if self.waiting else next(self.lines)


def _read_records(lines: _TextLines, **dialect: Any) -> Iterator[FileRow]:
    reader = csv.reader(lines, strict=True, **dialect)
    header = _read_header(reader)
    while True:
        try:
            record = next(reader, None)
        except csv.Error as error:
            lines.cut = False
            yield FileRow(reader.line_num, None, _("The record cannot be read: %(error)s.", error=error))
            continue
        if record is None:
            return
        if lines.cut:
            lines.cut = False
            yield FileRow(reader.line_num, None, _line_too_long())
        elif record:
            yield _read_record(reader.line_num, header, record)


def _read_header(reader: Any) -> list[str]:
    try:
        header: list[str] = next(reader, [])
    except csv.Error as error:
        raise errors.Invalid({"file": _("The header cannot be read: %(error)s.", error=error)}) from None
    if not all(map(_is_utf8, header)):
        raise errors.Invalid({"file": _("The header is not valid UTF-8. Save the file as UTF-8 and upload it again.")})
    if len(set(header)) < len(header) or "" in header:
        raise errors.Invalid({"file": _("Each column of the header needs a unique name.")})
    return header


def _read_record(number: int, header: list[str], record: list[str]) -> FileRow:
    if len(record) != len(header):
        return FileRow(number, None, _("%(n)s columns, but the header has %(n2)s.", n=len(record), n2=len(header)))
    if not all(map(_is_utf8, record)):
        column = next(name for name, text in zip(header, record, strict=True) if not _is_utf8(text))
        return FileRow(number, None, _("The column %(column)s is not valid UTF-8.", column=column[:100]))
    return FileRow(number, {name: _without_guard(text) for name, text in zip(header, record, strict=True)})


def _without_guard(text: str) -> str:
    # Our own files put an apostrophe before what a spreadsheet would take for a formula.
    return text[1:] if text[:1] == "'" and text[1:2] in FORMULA_STARTS else text


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
