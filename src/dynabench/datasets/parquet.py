"""Rows as Parquet with nested columns, a row group at a time: Arrow itself reads them from JSON lines."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

from dynabench.datasets.exports import Record, json_line, json_lines
from dynabench.datasets.formats import column_schemas, schema_kind
from dynabench.datasets.scopes import ExportScope
from dynabench.tasks import TaskConfig

GROUP = 4  # pages in a row group: more would be better for readers, and take more memory here
EXACT = "exact"
NOTHING = "_"  # Parquet holds no struct without members: where a task has no field in a group, this stands there
MOMENT = pa.timestamp("us", tz="UTC")
SCALARS = {"string": pa.string(), "number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_()}


def arrow_type(schema: dict[str, Any]) -> pa.DataType:
    """The Arrow type of the values that a JSON Schema describes; null's where it says too little."""
    named = schema_kind(schema)
    if named == "array":
        return pa.list_(arrow_type(schema.get("items", {})))
    if named == "object" and schema.get("properties"):
        return pa.struct([(name, arrow_type(part)) for name, part in schema["properties"].items()])
    return SCALARS.get(named, pa.null())


def group_struct(configs: Sequence[TaskConfig], group: str) -> pa.StructType:
    """The values of a group of fields."""
    members = [(name, arrow_type(schema)) for name, schema in column_schemas(configs, group).items()]
    members = [(name, held) for name, held in members if held != pa.null()]
    return pa.struct(members or [(NOTHING, pa.string())])


def label_struct(configs: Sequence[TaskConfig]) -> pa.StructType:
    """A probability for each option of the answer."""
    options = [option for held in column_schemas(configs, "answer").values() for option in held.get("enum", [])]
    members = [(option, pa.float64()) for option in dict.fromkeys(options) if isinstance(option, str)]
    return pa.struct(members or [(NOTHING, pa.float64())])


def export_schema(scope: ExportScope) -> pa.Schema:
    """The columns of an export, nested as rows are."""
    configs = scope.configs
    answer, text = group_struct(configs, "answer"), pa.string()
    target = pa.struct([("model", text), ("version", text)])
    prediction = pa.struct([
        ("model", text), ("version", text), ("answer", answer), ("probabilities", label_struct(configs)),
        ("fooled", pa.bool_()), ("latency_ms", pa.float64()),
    ])  # fmt: skip
    validation = pa.struct([
        ("validator", text), ("blind_answer", answer), ("blind", pa.bool_()), ("vote", text), ("by_owner", pa.bool_()),
        ("values", group_struct(configs, "validation")), ("weight", pa.float64()), ("at", MOMENT),
    ])  # fmt: skip
    condition = pa.struct([
        ("start", text), ("arm", text), ("share", pa.float64()), ("ensemble", text), ("targets", pa.list_(target)),
        ("assistant", pa.bool_()), ("inspired", pa.bool_()), ("model_written", pa.bool_()),
    ])  # fmt: skip
    assistance = pa.struct([
        ("shown", pa.int32()), ("outcome", text), ("distance", pa.int32()), ("provider", text), ("model", text),
        ("version", text), ("text", text),
    ])  # fmt: skip
    program = pa.struct([("name", text), ("version", text), ("queries", pa.int64()), ("cost", pa.float64())])
    types: dict[str, pa.DataType] = {
        "task_version": pa.int32(), "round": pa.int32(), "attempt": pa.int32(), "edit_distance": pa.int32(),
        "context": pa.struct([("values", group_struct(configs, "context")), ("tag", text)]),
        "initial": group_struct(configs, "input"), "goal": answer, "input": group_struct(configs, "input"),
        "answer": answer,
        "fooled": pa.bool_(), "condition": condition, "seconds": pa.float64(), "latency_ms": pa.float64(),
        "at": MOMENT, "predictions": pa.list_(prediction), "validations": pa.list_(validation),
        "explanation": pa.struct([("values", group_struct(configs, "ask")), ("at", MOMENT)]),
        "assistance": assistance, "program": program, "attributions": text,
    }  # fmt: skip
    return pa.schema([(name, types.get(name, text)) for name in (*scope.columns, EXACT)])


class _Pipe(io.RawIOBase):
    """A file that is only written: what was written is taken out as it comes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Keep a part."""
        self.parts.append(bytes(data))
        return len(self.parts[-1])

    def take(self) -> bytes:
        """All parts since the last time."""
        parts, self.parts = self.parts, []
        return b"".join(parts)


def parquet_stream(pages: Iterable[list[Record]], scope: ExportScope) -> Iterator[bytes]:
    """A Parquet file, group of rows by group of rows."""
    columns, pipe = export_schema(scope), _Pipe()
    with pq.ParquetWriter(pa.PythonFile(pipe, mode="w"), columns, compression="zstd") as writer:
        waiting: list[pa.Table] = []
        for page in pages:
            waiting.append(page_table(page, columns, scope.attributions))
            if len(waiting) == GROUP:
                writer.write_table(pa.concat_tables(waiting).combine_chunks())
                waiting.clear()
                yield pipe.take()
        if waiting:
            writer.write_table(pa.concat_tables(waiting).combine_chunks())
    yield pipe.take()


def page_table(page: list[Record], columns: pa.Schema, attributions: bool = False) -> pa.Table:
    """A page as a table. Rows that the columns cannot hold exactly stand in `exact`, as far as they can elsewhere."""
    if attributions:  # their fields are the model's own: a column of JSON
        page = [(*record[:-1], orjson.dumps(record[-1]).decode()) for record in page]
    try:
        return parse_lines(json_lines(page), columns)
    except pa.ArrowException:
        return parse_lines(b"".join(_fitted(record, columns, attributions) for record in page), columns)


def parse_lines(data: bytes, columns: pa.Schema) -> pa.Table:
    """JSON lines as a table; raises `pa.ArrowException` where the columns cannot hold what they say."""
    how = pyarrow.json.ParseOptions(explicit_schema=columns, unexpected_field_behavior="error")
    return pyarrow.json.read_json(
        io.BytesIO(data), pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1), how
    )


def _fitted(record: Record, columns: pa.Schema, attributions: bool) -> bytes:
    try:
        parse_lines(data := json_lines([record]), columns)
        return data
    except pa.ArrowException:
        exact = json_line(record if not attributions else (*record[:-1], orjson.loads(record[-1])))
        row = orjson.loads(json_line(record))
        fitted = {column.name: fit_value(row.get(column.name), column.type) for column in columns}
        return orjson.dumps(fitted | {EXACT: exact}, option=orjson.OPT_APPEND_NEWLINE)


def fit_value(value: Any, into: pa.DataType) -> Any:
    """As much of `value` as a column of this type holds."""
    if pa.types.is_struct(into):
        held = value if isinstance(value, dict) else None
        return held and {member.name: fit_value(held.get(member.name), member.type) for member in into}
    if pa.types.is_list(into):
        return [fit_value(part, into.value_type) for part in value] if isinstance(value, list) else None
    if pa.types.is_boolean(into):
        return value if isinstance(value, bool) else None
    if pa.types.is_integer(into) or pa.types.is_floating(into):
        number = isinstance(value, int if pa.types.is_integer(into) else int | float) and not isinstance(value, bool)
        return value if number else None
    return value if isinstance(value, str) else None
