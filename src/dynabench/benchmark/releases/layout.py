"""The rows of a release: a column for each field of the task, and the other columns of an export.

A row converts back to the exact row of an export (`datasets.rows`), so that a release can be imported again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from dynabench.datasets import parquet
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import ExportScope
from dynabench.tasks import TaskConfig

FLAT_GROUPS = ("context", "input", "answer")
"""Groups whose fields are columns of their own."""
OTHER_COLUMNS = ("uid", "number", "context_tag", *(name for name in COLUMNS if name not in ("uid", *FLAT_GROUPS)))
EXACT, CANARY = "exact", "canary"
ReleaseRow = dict[str, Any]


@dataclass(frozen=True)
class ReleaseLayout:
    """The columns of a task's fields: the group, the field and the column of each."""

    columns: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, config: TaskConfig) -> "ReleaseLayout":
        """Make the layout of a config: a column has its field's name, or `input_text` where another column has that
        name."""
        used_names, columns = {*OTHER_COLUMNS, EXACT, CANARY}, []
        for group in FLAT_GROUPS:
            for field in config.fields(group):
                name = field.name if field.name not in used_names else f"{group}_{field.name}"
                used_names.add(name)
                columns.append((group, field.name, name))
        return cls(tuple(columns))

    def named(self, *groups: str) -> list[str]:
        """Return the columns of some groups."""
        return [column for group, _, column in self.columns if group in groups]

    def flat(self, row: ReleaseRow, number: int, canary: str) -> ReleaseRow:
        """Return a row of an export as a row of a release, the `number`th public one of its round."""
        flat_values: ReleaseRow = {}
        values = {"context": row["context"]["values"], "input": row["input"], "answer": row["answer"]}
        for group, field, column in self.columns:
            if field in values[group]:
                flat_values[column] = values[group][field]
        flat_values |= {"uid": row["uid"], "number": number, "context_tag": row["context"]["tag"]}
        flat_values |= {name: row[name] for name in OTHER_COLUMNS if name in row and name != "uid"}
        if self.nested(flat_values) != row:  # written under another version of the config, whose fields are others
            flat_values[EXACT] = orjson.dumps(row).decode()
        return flat_values | {CANARY: canary}

    def nested(self, row: ReleaseRow) -> ReleaseRow:
        """Return the exported row that a row of a release was made of; raises KeyError where a column is missing."""
        if row.get(EXACT):
            exact: ReleaseRow = orjson.loads(row[EXACT])
            return exact
        values: dict[str, ReleaseRow] = {group: {} for group in FLAT_GROUPS}
        for group, field, column in self.columns:
            if column in row:
                values[group][field] = row[column]
        context = {"values": values["context"], "tag": row["context_tag"]}
        whole = (
            {"assistance": None, "program": None}
            | row
            | {"context": context, "input": values["input"], "answer": values["answer"]}
        )
        return {name: whole[name] for name in COLUMNS}


def release_schema(layout: ReleaseLayout, export_scope: ExportScope, canary: str) -> pa.Schema:
    """Return the schema of a release's Parquet files."""
    exported = parquet.export_schema(export_scope)
    flat = [(column, _type(export_scope, group, field)) for group, field, column in layout.columns]
    beside = [
        (name, exported.field(name).type if name in COLUMNS else pa.string())
        for name in OTHER_COLUMNS
        if name != "number"
    ]
    more = [("number", pa.int32()), *beside, (EXACT, pa.string()), (CANARY, pa.string())]
    return pa.schema([*flat, *more], metadata={CANARY: canary})


def _type(export_scope: ExportScope, group: str, field: str) -> pa.DataType:
    """The Arrow type of a field's values; text that holds JSON where its schema says too little."""
    named = [member for member in parquet.group_struct(export_scope.configs, group) if member.name == field]
    return named[0].type if named else pa.string()


def release_table(rows: list[ReleaseRow], layout: ReleaseLayout, columns: pa.Schema) -> pa.Table:
    """Return rows as a table. A value that its column cannot hold is stored approximately, and exactly in `exact`."""
    texts = [orjson.dumps(text_row, option=orjson.OPT_APPEND_NEWLINE) for text_row in _as_text(rows, layout, columns)]
    plain = columns.remove_metadata()
    try:
        arrow_table = parquet.parse_lines(b"".join(texts), plain)
    except pa.ArrowException:
        fitted = (_fitted(text, layout.nested(row), plain) for text, row in zip(texts, rows, strict=True))
        arrow_table = parquet.parse_lines(b"".join(fitted), plain)
    return arrow_table.replace_schema_metadata(columns.metadata)


def _as_text(rows: list[ReleaseRow], layout: ReleaseLayout, columns: pa.Schema) -> Iterator[ReleaseRow]:
    """Rows whose values are JSON where the column is text and the value is none."""
    names = [column for *_, column in layout.columns if columns.field(column).type == pa.string()]
    for row in rows:
        other = {name: row[name] for name in names if row.get(name) is not None and not isinstance(row[name], str)}
        yield row | {name: orjson.dumps(value).decode() for name, value in other.items()}


def _fitted(text: bytes, row: ReleaseRow, columns: pa.Schema) -> bytes:
    try:
        parquet.parse_lines(text, columns)
    except pa.ArrowException:
        values = orjson.loads(text)
        fitted = {column.name: parquet.fit_value(values.get(column.name), column.type) for column in columns}
        return orjson.dumps(fitted | {EXACT: orjson.dumps(row).decode()}, option=orjson.OPT_APPEND_NEWLINE)
    return text
