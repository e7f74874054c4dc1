"""What a row of a release looks like: the fields of the task side by side, and what exports tell of an example besides.

Reading a row back gives the very row of an export (`datasets.rows`), so that a release can be imported again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from dynabench.datasets import parquet
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import Scope
from dynabench.tasks import TaskConfig

FLAT = ("context", "input", "answer")
"""Groups whose fields are columns of their own."""
BESIDE = ("uid", "number", "context_tag", *(name for name in COLUMNS if name not in ("uid", *FLAT)))
EXACT, CANARY = "exact", "canary"
Row = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """The columns of a task's fields: the group, the field and the column of each."""

    columns: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, config: TaskConfig) -> "Layout":
        """A field's column is called like it; like `input_text` where another column is called so already."""
        taken, found = {*BESIDE, EXACT, CANARY}, []
        for group in FLAT:
            for field in config.fields(group):
                name = field.name if field.name not in taken else f"{group}_{field.name}"
                taken.add(name)
                found.append((group, field.name, name))
        return cls(tuple(found))

    def named(self, *groups: str) -> list[str]:
        """The columns of some groups."""
        return [column for group, _, column in self.columns if group in groups]

    def flat(self, row: Row, number: int, canary: str) -> Row:
        """A row of an export as one of a release, which is its round's `number`th that everybody may read."""
        made: Row = {}
        values = {"context": row["context"]["values"], "input": row["input"], "answer": row["answer"]}
        for group, field, column in self.columns:
            if field in values[group]:
                made[column] = values[group][field]
        made |= {"uid": row["uid"], "number": number, "context_tag": row["context"]["tag"]}
        made |= {name: row[name] for name in BESIDE if name in row and name != "uid"}
        if self.nested(made) != row:  # written under another version of the config, whose fields are others
            made[EXACT] = orjson.dumps(row).decode()
        return made | {CANARY: canary}

    def nested(self, row: Row) -> Row:
        """The row of an export that a row of a release was made of. Raises KeyError where a column is missing."""
        if row.get(EXACT):
            found: Row = orjson.loads(row[EXACT])
            return found
        values: dict[str, Row] = {group: {} for group in FLAT}
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


def schema(layout: Layout, what: Scope, canary: str) -> pa.Schema:
    """The columns of a Parquet file of a release."""
    own = parquet.schema(what)
    flat = [(column, _type(what, group, field)) for group, field, column in layout.columns]
    beside = [(name, own.field(name).type if name in COLUMNS else pa.string()) for name in BESIDE if name != "number"]
    more = [("number", pa.int32()), *beside, (EXACT, pa.string()), (CANARY, pa.string())]
    return pa.schema([*flat, *more], metadata={CANARY: canary})


def _type(what: Scope, group: str, field: str) -> pa.DataType:
    """The Arrow type of a field's values; text that holds JSON where its schema says too little."""
    named = [member for member in parquet.struct(what.configs, group) if member.name == field]
    return named[0].type if named else pa.string()


def table(rows: list[Row], layout: Layout, columns: pa.Schema) -> pa.Table:
    """Rows as a table. What a column cannot hold exactly stands in it as far as it can, and whole in `exact`."""
    texts = [orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in _as_text(rows, layout, columns)]
    plain = columns.remove_metadata()
    try:
        found = parquet.parsed(b"".join(texts), plain)
    except pa.ArrowException:
        fitted = (_fitted(text, layout.nested(row), plain) for text, row in zip(texts, rows, strict=True))
        found = parquet.parsed(b"".join(fitted), plain)
    return found.replace_schema_metadata(columns.metadata)


def _as_text(rows: list[Row], layout: Layout, columns: pa.Schema) -> Iterator[Row]:
    """Rows whose values are JSON where the column is text and the value is none."""
    names = [column for *_, column in layout.columns if columns.field(column).type == pa.string()]
    for row in rows:
        other = {name: row[name] for name in names if row.get(name) is not None and not isinstance(row[name], str)}
        yield row | {name: orjson.dumps(value).decode() for name, value in other.items()}


def _fitted(text: bytes, row: Row, columns: pa.Schema) -> bytes:
    try:
        parquet.parsed(text, columns)
    except pa.ArrowException:
        made = orjson.loads(text)
        fitted = {column.name: parquet.fit(made.get(column.name), column.type) for column in columns}
        return orjson.dumps(fitted | {EXACT: orjson.dumps(row).decode()}, option=orjson.OPT_APPEND_NEWLINE)
    return text
