"""Contexts from files, read as a stream: a bad row is named by its line and the rest goes on."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dynabench import errors
from dynabench.db import Database
from dynabench.language import _
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import Row, Upload

if TYPE_CHECKING:  # which imports this module
    from dynabench.rounds.mapping import Columns

LONGEST = 1_000_000  # bytes in one line
MARKED = frozenset("=+-@\t\r\n")
WRAPPERS = ("values", "context")  # members that hold a row's fields; `context` is the older platform's


def upload(
    db: Database, task_id: str, file: Path, progress: Callable[[int], object], columns: "Columns | None" = None
) -> Upload:
    """Store a file's contexts, a batch per transaction; `progress` is told the bytes read so far.

    Lines are counted from 1 (in CSV the header is line 1). Raises `Invalid` for a file of another kind.
    """
    config = db.read(service.newest_config, task_id)
    read, result = reader(file), Upload()
    with file.open("rb") as stream:
        for batch in contexts.batches(columns.apply(row) if columns else row for row in read(stream)):
            result += db.write(contexts.add, task_id, config, batch)
            progress(stream.tell())
    db.write(service.act, None, "contexts.uploaded", task=task_id, created=result.created)
    return result


def reader(file: Path) -> Callable[[BinaryIO], Iterator[Row]]:
    """What reads files with this name; raises `Invalid` for a file of another kind."""
    read = {".jsonl": jsonl, ".ndjson": jsonl, ".csv": csv_rows}.get(file.suffix.lower())
    if read is None:
        raise errors.Invalid({"file": _("Give a file that ends in .jsonl, .ndjson or .csv.")})
    return read


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LONGEST + 1):
        number += 1
        yield number, line
        while len(line) > LONGEST and not line.endswith(b"\n"):  # the rest of an endless line is thrown away
            line = stream.readline(LONGEST + 1) or b"\n"


def jsonl(stream: BinaryIO) -> Iterator[Row]:
    """One row of a context per line; its fields may be wrapped in `values`."""
    for row in objects(stream):
        wrapped = (row.values.get(name) for name in WRAPPERS) if row.values else ()
        yield next((replace(row, values=values) for values in wrapped if isinstance(values, dict)), row)


def objects(stream: BinaryIO) -> Iterator[Row]:
    """One object per line, without its `tag`; empty lines are passed over."""
    for number, line in _lines(stream):
        if len(line) > LONGEST:
            yield Row(number, None, error=_("The line is longer than %(longest)s bytes.", longest=f"{LONGEST:,}"))
        elif line.strip(b" \t\r\n\xef\xbb\xbf"):
            yield _parsed(number, line)


def _parsed(number: int, line: bytes) -> Row:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Row(number, None, error=_("The line is not valid UTF-8."))
    except (ValueError, RecursionError):
        return Row(number, None, error=_("The line is not valid JSON."))
    if not isinstance(row, dict):
        return Row(number, None, error=_("The line is not a JSON object."))
    tag = row.pop("tag", "")
    return Row(number, row, tag)


def csv_rows(stream: BinaryIO, **dialect: Any) -> Iterator[Row]:
    """One row per record, named by the line that it ends on; a header names the fields. `dialect` is for `csv`."""
    cut: list[int] = []
    reader = csv.reader(_text(stream, cut), strict=True, **dialect)
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise errors.Invalid({"file": _("The header cannot be read: %(error)s.", error=error)}) from None
    if not all(map(_encoded, header)):
        raise errors.Invalid({"file": _("The header is not valid UTF-8. Save the file in UTF-8 and send it again.")})
    if len(set(header)) < len(header) or "" in header:
        raise errors.Invalid({"file": _("Each column of the header needs a name of its own.")})
    while True:
        try:
            record = next(reader, None)
        except csv.Error as error:
            cut.clear()
            yield Row(reader.line_num, None, error=_("The record cannot be read: %(error)s.", error=error))
            continue
        if record is None:
            return
        if cut:
            cut.clear()
            yield Row(
                reader.line_num, None, error=_("The line is longer than %(longest)s bytes.", longest=f"{LONGEST:,}")
            )
        elif record:
            yield _record(reader.line_num, header, record)


def _text(stream: BinaryIO, cut: list[int]) -> Iterator[str]:
    """The lines of a file; what is no UTF-8 is marked, and the numbers of lines that were cut are put into `cut`."""
    for number, line in _lines(stream):
        if len(line) > LONGEST:
            cut.append(number)
        text = line.decode("utf-8", errors="surrogateescape")
        yield text.removeprefix("\ufeff") if number == 1 else text


def _freed(text: str) -> str:
    """A text without the apostrophe that keeps spreadsheets from taking it for a formula, as our own files have it."""
    return text[1:] if text[:1] == "'" and text[1:2] in MARKED else text


def _encoded(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _record(number: int, header: list[str], record: list[str]) -> Row:
    if len(record) != len(header):
        return Row(number, None, error=_("%(n)s columns where the header has %(n2)s.", n=len(record), n2=len(header)))
    if not all(map(_encoded, record)):
        return Row(number, None, error=_("The record is not valid UTF-8."))
    values: dict[str, Any] = {name: _freed(text) for name, text in zip(header, record, strict=True)}
    return Row(number, values, values.pop("tag", ""))
