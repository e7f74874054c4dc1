"""Columns of files: listed from the first rows, suggested for fields, chosen by a person; and rows made of them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field, ValidationError

from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.storable import printable

PRESETS = ("anli", "dynasent", "dynahate", "hatemoji")
SINGLE = ("uid", "tag", "author", "round", "made_from", "source", "at", "edit_distance", "seconds", "attempt")
GROUPS = ("context", "input", "answer", "initial", "explanation")
_LISTED = re.compile(r"\['([^',]*)'\]")  # a list of one, as Python prints it
ShortText = Annotated[str, Field(max_length=200)]


class MappingPart(StrictModel):
    """A part of a mapping; what is not known is refused, so that a slip is noticed."""


def _short(raw: object) -> object:
    return {"column": raw} if isinstance(raw, str) else raw


class ColumnSource(MappingPart):
    """Source of a value: a column (the first of several that a row has), else `default`.

    The column `a.b` is the member `b` of the object `a`, where no column is called so.

    `values` says what values mean here; of several meanings the first that the field offers is taken. A value that
    it does not name stays as it is. With `when` it is read only from rows whose other columns have such values.
    """

    column: ShortText | list[ShortText] = ""
    values: dict[str, Any] = Field({})
    default: Any = None
    prefix: ShortText = ""
    when: dict[str, list[str]] = Field({})

    def read(self, row: Mapping[str, Any]) -> Any:
        """Return the value in a row, before `values` is asked; None where there is none."""
        if any(_plain_key(value_at(row, name)) not in allowed for name, allowed in self.when.items()):
            return self.default
        for name in [self.column] if isinstance(self.column, str) else self.column:
            if (value := value_at(row, name)) not in (None, ""):
                return value
        return self.default


SourceOrColumn = Annotated[ColumnSource, BeforeValidator(_short)]


class PredictionColumns(MappingPart):
    """A model's answer: what it is called, and the columns of its answer and probabilities."""

    model: ShortText
    version: Annotated[str, Field(max_length=64)] = "imported"
    answer: dict[str, SourceOrColumn]
    probabilities: SourceOrColumn | None = None


class VoteColumns(MappingPart):
    """Votes in a column: `labels` (a list of answers), `counts` ({answer: number}) or `people` ({answer: [names]})."""

    column: ShortText | list[ShortText]
    kind: Literal["labels", "counts", "people"]
    values: dict[str, Any] = Field({})


class ColumnMapping(MappingPart):
    """The way in which a foreign file is read. Fields are `context.NAME`, `input.NAME`, `answer.NAME`, `initial.NAME`,
    `explanation.NAME` (a number stands for the task's nth field) or one of `SINGLE`."""

    description: str = ""
    fields: dict[str, SourceOrColumn]
    predictions: list[PredictionColumns] = Field([])
    votes: list[VoteColumns] = Field([])
    skip: dict[str, list[str]] = Field({})

    @classmethod
    def of_context(cls, columns: Mapping[str, str], tag: str = "", fixed_tag: str = "") -> "ColumnMapping":
        """Return the mapping that reads the fields of a context, and its tag, by default `fixed_tag`."""
        fields = {f"context.{field}": ColumnSource(column=column) for field, column in columns.items()}
        if tag or fixed_tag:
            fields["tag"] = ColumnSource(column=tag, default=fixed_tag or None)
        return cls(fields=fields)

    def context_columns(self) -> dict[str, str]:
        """Return the column of each field of the context that has one."""
        prefix = "context."
        sources = {name.removeprefix(prefix): source for name, source in self.fields.items() if name.startswith(prefix)}
        return {name: source.column for name, source in sources.items() if isinstance(source.column, str)}

    def tag_source(self) -> ColumnSource:
        """Return where the tag comes from."""
        return self.fields.get("tag", ColumnSource())

    def read_context(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """Return the values of the context's fields in a row, and its tag."""
        columns = self.context_columns()
        values = {name: self.fields[f"context.{name}"].read(row) for name in columns}
        tag = self.tag_source().read(row)
        return {name: value for name, value in values.items() if value is not None}, "" if tag is None else tag

    @classmethod
    def parse(cls, document: object) -> "ColumnMapping":
        """From a document or its text. Raises `Invalid` under `mapping`."""
        try:
            raw = yaml.safe_load(document) if isinstance(document, str) else document
            mapping = cls.model_validate(raw)
        except yaml.YAMLError as problem:
            raise errors.Invalid({"mapping": f"This is not valid YAML: {problem}"[:500]}) from None
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise errors.Invalid({"mapping": f"{where}: {first['msg']}"[:500]}) from None
        for name in mapping.fields:
            group, _dot, field = name.partition(".")
            if name not in SINGLE and not (group in GROUPS and field):
                raise errors.Invalid({"mapping": _("%(name)s is not a field of a row.", name=repr(name[:60]))})
        return mapping


@cache
def read_preset(name: str) -> ColumnMapping:
    """A mapping that is shipped, by name. Raises `Invalid`."""
    if name not in PRESETS:
        raise errors.Invalid(
            {"format": _("Choose one of %(value)s, or give a mapping.", value=", ".join(("own", "squad", *PRESETS)))}
        )
    text = (files(__package__) / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    return ColumnMapping.parse(text)


def translate_value(value: Any, values: Mapping[str, Any], options: list[str]) -> Any:
    """Return what a value means in a field that offers `options` (none: anything)."""
    key = _plain_key(value)
    meaning = values.get(key, values.get(key.casefold(), value))
    if meaning is not value and isinstance(meaning, list):
        return next((option for option in meaning if option in options), meaning[0] if meaning else None)
    return meaning


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """Return what stands in a column; `a.b` is the member `b` of the object `a`. None where there is nothing."""
    if not column:
        return None
    if column in row or "." not in column:
        return row.get(column)
    value: Any = row
    for name in column.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def value_key(value: Any) -> str:
    """Return a value as the text that documents name it by: `1.0` is `1`, true is `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _plain_key(value: Any) -> str:
    listed = _LISTED.fullmatch(value) if isinstance(value, str) else None
    return listed[1] if listed else value_key(value)


FIRST_ROWS = 200
"""Rows that columns are listed from and suggestions are made from."""
MOST_COLUMNS = 200
TAG_NAMES = ("tag", "tags", "category", "topic", "genre")


@dataclass(frozen=True)
class FilePreview:
    """The beginning of a file: its columns and its first rows, unreadable ones with their `error`."""

    columns: list[str]
    rows: list[FileRow]

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows that can be read."""
        return [row.values for row in self.rows if row.values is not None]

    def require_rows(self) -> "FilePreview":
        """Return this preview. Raises `Invalid` under `file` where none of its rows can be read."""
        if not self.rows:
            raise errors.Invalid({"file": _("There are no rows in this file.")})
        if not self.values:
            why = f" Row {self.rows[0].number}: {self.rows[0].error}"
            raise errors.Invalid({"file": _("No row of this file can be read.") + why})
        return self


def preview_rows(rows: Iterable[FileRow], count: int = FIRST_ROWS) -> FilePreview:
    """Return the preview of the first `count` rows."""
    first = list(islice(rows, count))
    return FilePreview(list_columns(row.values for row in first if row.values is not None), first)


def list_columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns of some rows, with those of nested objects, two levels deep, by dotted names."""
    columns: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            columns[printable(str(name))] = None
            if isinstance(value, Mapping):
                for inner, member in value.items():
                    columns[printable(f"{name}.{inner}")] = None
                    if isinstance(member, Mapping):
                        columns |= {printable(f"{name}.{inner}.{deepest}"): None for deepest in member}
    return list(columns)[:MOST_COLUMNS]


def find_column(columns: Iterable[str], *names: str) -> str:
    """Return the column that has the first of these names, whatever its case; the empty text where none has."""
    by_name = {column.casefold(): column for column in reversed(list(columns))}
    return next((by_name[name.casefold()] for name in names if name.casefold() in by_name), "")


def suggest_columns(columns: Sequence[str], fields: Sequence[str]) -> ColumnMapping:
    """Return the likely columns of a context's fields, and of its tag.

    A field gets the column of the same name, else of the same letters, else one whose name contains the other; a
    single field without one gets the single column that is left.
    """
    candidates = [column for column in columns if bare_letters(column) not in TAG_NAMES or column in fields]
    suggested: dict[str, str] = {}
    for alike in _LIKENESS:
        for field in fields:
            match = (
                next((column for column in candidates if alike(column, field)), "") if field not in suggested else ""
            )
            if match:
                suggested[field] = match
                candidates.remove(match)
    missing = [field for field in fields if field not in suggested]
    if len(missing) == 1 and len(candidates) == 1:
        suggested[missing[0]] = candidates[0]
    free = [column for column in columns if column not in suggested.values()]
    tags = [column for name in TAG_NAMES for column in free if bare_letters(column) == name]
    return ColumnMapping.of_context(suggested, tags[0] if tags else "")


def choose_columns(columns: Sequence[str], fields: Sequence[str], picked: Mapping[str, str]) -> ColumnMapping:
    """Return the choice of a person: `picked` maps `field.<name>` and `tag` to a column, `fixed_tag` to a text.

    Raises `Invalid` under those names where a column is not in the file or is taken twice.
    """
    wrong: dict[str, str] = {}
    chosen: dict[str, str] = {}
    for field in fields:
        column = picked.get(f"field.{field}", "")
        if column and column not in columns:
            wrong[f"field.{field}"] = _("The file has no such column.")
        elif column in chosen.values():
            wrong[f"field.{field}"] = _("This column is already used for another field.")
        elif column:
            chosen[field] = column
    tag, fixed = picked.get("tag", ""), picked.get("fixed_tag", "").strip()
    if tag and tag not in columns:
        wrong["tag"] = _("The file has no such column.")
    if len(fixed) > 100 or not fixed.isprintable():
        wrong["fixed_tag"] = _("Give up to 100 printable characters.")
    if wrong:
        raise errors.Invalid(wrong)
    return ColumnMapping.of_context(chosen, tag, fixed)


def bare_letters(name: str) -> str:
    """Return the letters and digits of a name, in small letters: what remains the same in other ways to write it."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _contains(column: str, field: str) -> bool:
    first, second = bare_letters(column), bare_letters(field)
    return min(len(first), len(second)) > 2 and (first in second or second in first)


_LIKENESS: tuple[Callable[[str, str], bool], ...] = (
    lambda column, field: column == field,
    lambda column, field: bare_letters(column) == bare_letters(field),
    _contains,
)
