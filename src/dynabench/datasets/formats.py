"""The kinds of file that an export can be: JSON lines, CSV, Parquet, and a zip with the files that rows show."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import orjson

from dynabench.datasets.exports import NULL, Pages, Record, json_line, json_lines
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import ExportScope
from dynabench.kit import errors
from dynabench.kit.csv_tables import BOM, guarded
from dynabench.media.file_formats import ENDINGS, media_type_of
from dynabench.media.store import MediaStore
from dynabench.tasks import TaskConfig

GROUPS = {"context": "context", "initial": "input", "goal": "answer", "input": "input", "answer": "answer",
          "explanation": "ask"}  # fmt: skip
"""Member of a row -> group of the task's fields whose values it holds."""

JSON = ".json"
QUOTE = '"'


def column_schemas(configs: Sequence[TaskConfig], group: str) -> dict[str, dict[str, Any]]:
    """The fields of a group with their JSON Schemas, over all versions; `{}` where versions disagree on the kind."""
    schemas: dict[str, dict[str, Any]] = {}
    for config in configs:
        for field in config.fields(group):
            schema = field.json_schema()
            if field.name in schemas and schema_kind(schemas[field.name]) != schema_kind(schema):
                schema = {}
            schemas[field.name] = schema
    return schemas


def schema_kind(schema: dict[str, Any]) -> str:
    """Return the kind of a JSON Schema's values.

    It is `string`, `number`, `integer`, `boolean`, `array`, `object`, or `any`.
    """
    if "enum" in schema:
        return "string" if all(isinstance(option, str) for option in schema["enum"]) else "any"
    named = schema.get("type", "any")
    return named if isinstance(named, str) else "any"


def quote_cell(text: str) -> str:
    """A cell of CSV that may hold anything."""
    return f'"{text.replace(QUOTE, QUOTE + QUOTE)}"' if text else ""


class FlatColumns:
    """The columns of one member in a table without nesting: a column per field.

    Texts stand as they are (guarded), other values as JSON, in columns whose names say so; an empty cell is a value
    that is absent.
    """

    def __init__(self, configs: Sequence[TaskConfig], member: str) -> None:
        schemas = column_schemas(configs, GROUPS[member])
        self.names = list(schemas)
        self.plain = [schema_kind(schema) == "string" for schema in schemas.values()]
        self.pairs = list(zip(self.names, self.plain, strict=True))
        self.columns = [f"{member}.{name}{'' if plain else JSON}" for name, plain in self.pairs]
        self.empty = [""] * len(self.names)

    def cells(self, values: dict[str, Any]) -> list[str] | None:
        """One cell per column; None where the columns cannot hold these very values."""
        cells, held = [], 0
        for name, plain in self.pairs:
            value = values.get(name)
            if value is None:
                cells.append("")
            elif not plain:
                cells.append(quote_cell(orjson.dumps(value).decode()))
                held += 1
            elif isinstance(value, str):
                cells.append(quote_cell(guarded(value)))
                held += 1
            else:
                return None
        return cells if held == len(values) else None


@lru_cache(maxsize=10_000)
def string_text(member: str) -> str:
    """The text that a JSON string holds; names repeat, so most are known."""
    return str(orjson.loads(member))


def drop_nulls(value: Any) -> Any:
    """`value` without the members of objects that are null: what a struct's column lacks."""
    if isinstance(value, dict):
        return {name: drop_nulls(part) for name, part in value.items() if part is not None}
    return [drop_nulls(part) for part in value] if isinstance(value, list) else value


PLACE = {name: number for number, name in enumerate(COLUMNS)}
CONDITION = ("start", "arm", "share", "ensemble", "targets", "assistant", "inspired", "model_written")
EXACT = "exact"  # the column of the whole row as JSON, where the other columns cannot hold it


class CsvSheet:
    """Turns records into lines of CSV."""

    def __init__(self, scope: ExportScope) -> None:
        self.configs = scope.configs
        self.flat = {
            name: FlatColumns(scope.configs, name) for name in ("context", "initial", "goal", "input", "answer")
        }
        self.explanations = FlatColumns(scope.configs, "explanation")
        self.attributions = scope.attributions
        self.conditions: dict[str, list[str]] = {}

    @property
    def header(self) -> list[str]:
        """The columns' names."""
        flat = {name: columns.columns for name, columns in self.flat.items()}
        flat["context"] = [*flat["context"], "tag"]
        flat["condition"] = [f"condition.{name}" for name in CONDITION]
        flat["explanation"] = ["explanation.at", *self.explanations.columns]
        names = [column for member in COLUMNS for column in flat.get(member, [member])]
        return [*names, *(["attributions"] if self.attributions else []), EXACT]

    def line(self, record: Record) -> str:
        """One line; the cells of what never needs quotes have none."""
        loads = orjson.loads
        (uid, task, version, number, context, initial, goal, written, answer, fooled, author, source, condition, origin,
         distance, attempt, seconds, latency, at, predictions, validations, verdict, explanation, helped,
         program, *more) = record  # fmt: skip
        flat = self.flat
        held = loads(context)
        parts = (
            flat["context"].cells(held["values"]),
            flat["initial"].cells(loads(initial)) if initial != "{}" else flat["initial"].empty,
            (flat["goal"].cells(loads(goal)) if goal != "{}" else None) if goal != NULL else flat["goal"].empty,
            flat["input"].cells(loads(written)),
            flat["answer"].cells(loads(answer)),
            *self._explanation_cells(explanation),
        )
        exact = "" if None not in parts else json_line(record)
        empty = (flat["context"], flat["initial"], flat["goal"], flat["input"], flat["answer"])
        whole = [part if part is not None else columns.empty for part, columns in zip(parts, empty, strict=False)]
        cells = [
            quote_cell(guarded(string_text(uid))), task[1:-1], version, number,
            *whole[0], self._name(held["tag"]), *whole[1], *whole[2], *whole[3], *whole[4],
            "" if fooled == NULL else fooled, author[1:-1], source[1:-1],
            *(self.conditions.get(condition) or self._condition(condition)),
            "" if origin == NULL else quote_cell(guarded(string_text(origin))), "" if distance == NULL else distance,
            attempt, seconds, latency, at[1:-1], quote_cell(predictions), quote_cell(validations), verdict[1:-1],
            *(parts[5] or [""]),
            *(parts[6] or self.explanations.empty), "" if helped == NULL else quote_cell(helped),
            "" if program == NULL else quote_cell(program), *map(quote_cell, more), quote_cell(exact),
        ]  # fmt: skip
        return ",".join(map(str, cells))

    def _name(self, text: str) -> str:
        return quote_cell(guarded(text)) if text else ""

    def _explanation_cells(self, text: str) -> tuple[list[str], list[str] | None]:
        if text == NULL:
            return [""], self.explanations.empty
        explanation = orjson.loads(text)
        return [explanation["at"]], self.explanations.cells(explanation["values"])

    def _condition(self, text: str) -> list[str]:
        values = orjson.loads(text)
        share = "" if values["share"] is None else str(values["share"])
        targets = quote_cell(orjson.dumps(values["targets"]).decode())
        cells = [values["start"], self._name(values["arm"]), share, values["ensemble"], targets]
        cells += ["true" if values[name] else "false" for name in ("assistant", "inspired", "model_written")]
        self.conditions[text] = cells
        return cells


def csv_stream(pages: Iterable[list[Record]], scope: ExportScope) -> Iterator[bytes]:
    """A header and a line per record (RFC 4180), in UTF-8 with a byte order mark, which spreadsheets ask for."""
    sheet = CsvSheet(scope)
    yield f"{BOM}{','.join(map(quote_cell, sheet.header))}\r\n".encode()
    for page in pages:
        yield "".join([f"{sheet.line(record)}\r\n" for record in page]).encode()


ROWS, FOLDER = "rows.jsonl", "media/"
UNTOUCHED = (1980, 1, 1, 0, 0, 0)
REFERENCE = re.compile(rb'"media": ?"([0-9a-f]{64})"')


class ZipSink:
    """An output for a zip file: keeps the written parts until they are taken."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, part: bytes) -> int:
        """Keep a part."""
        self.parts.append(bytes(part))
        return len(part)

    def flush(self) -> None:
        """Nothing waits."""

    def take(self) -> bytes:
        """All parts since the last time."""
        parts, self.parts = self.parts, []
        return b"".join(parts)


def zip_stream(pages: Pages, scope: ExportScope) -> Iterator[bytes]:
    """The rows, then each file once. Rows alone say what leaves: hidden and retracted ones are not among them."""
    if scope.files is None:
        raise ValueError("an export with files needs to know where they are")
    sink, digests = ZipSink(), set[str]()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        with archive.open(zip_entry(ROWS), "w", force_zip64=True) as out:
            for page in pages:
                text = json_lines(page)
                digests.update(match.decode() for match in REFERENCE.findall(text))
                out.write(text)
                yield sink.take()
        for digest in sorted(digests):
            yield from _file(archive, scope.files, digest, sink)
    yield sink.take()


def _file(archive: zipfile.ZipFile, store: MediaStore, digest: str, sink: ZipSink) -> Iterator[bytes]:
    try:
        content = store.read(digest)
    except errors.NotFound:
        return
    archive.writestr(zip_entry(f"{FOLDER}{digest}.{ENDINGS[media_type_of(content)]}"), content, zipfile.ZIP_STORED)
    yield sink.take()


def zip_entry(name: str) -> zipfile.ZipInfo:
    """A file of a zip file that tells nothing of when it was written."""
    entry = zipfile.ZipInfo(name, UNTOUCHED)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


Format = Literal["jsonl", "csv", "parquet", "zip"]


@dataclass(frozen=True)
class FileFormat:
    """A file format: what its files end in, their media type, and what writes them."""

    ending: str
    media_type: str
    write: Callable[[Pages, ExportScope], Iterator[bytes]]


def _jsonl(pages: Pages, _: ExportScope) -> Iterator[bytes]:
    yield from (json_lines(page) for page in pages)


def _parquet(pages: Pages, scope: ExportScope) -> Iterator[bytes]:
    from dynabench.datasets import parquet  # Arrow is large, and most processes never need it

    return parquet.parquet_stream(pages, scope)


FORMATS: dict[str, FileFormat] = {
    "jsonl": FileFormat(".jsonl", "application/x-ndjson", _jsonl),
    "csv": FileFormat(".csv", "text/csv; charset=utf-8", csv_stream),
    "zip": FileFormat(".zip", "application/zip", zip_stream),
    "parquet": FileFormat(".parquet", "application/vnd.apache.parquet", _parquet),
}


def compress_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, compressed as they come."""
    squeeze = zlib.compressobj(6, wbits=31)
    for part in parts:
        if some := squeeze.compress(part):
            yield some
    yield squeeze.flush()
