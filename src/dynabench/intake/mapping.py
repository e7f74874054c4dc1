"""The mapping of a file: which column becomes which field, and what its values mean here.

A mapping is a small document (YAML or JSON); `presets/` has those for the files that are best known.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dynabench.kit import errors
from dynabench.kit.language import _

PRESETS = ("anli", "dynasent", "dynahate", "hatemoji")
SINGLE = ("uid", "tag", "author", "round", "made_from", "source", "at", "edit_distance", "seconds", "attempt")
GROUPS = ("context", "input", "answer", "initial", "explanation")
_LISTED = re.compile(r"\['([^',]*)'\]")  # a list of one, as Python prints it
ShortText = Annotated[str, Field(max_length=200)]


class MappingPart(BaseModel):
    """A part of a mapping; what is not known is refused, so that a slip is noticed."""

    model_config = ConfigDict(extra="forbid")


def _short(raw: object) -> object:
    return {"column": raw} if isinstance(raw, str) else raw


class ColumnSource(MappingPart):
    """Source of a value: a column (the first of several that a row has), else `default`.

    The column `a.b` is the member `b` of the object `a`, where no column is called so.

    `values` says what values mean here; of several meanings the first that the field offers is taken. A value that
    it does not name stays as it is. With `when` it is read only from rows whose other columns have such values.
    """

    column: ShortText | list[ShortText] = ""
    values: dict[str, Any] = {}
    default: Any = None
    prefix: ShortText = ""
    when: dict[str, list[str]] = {}

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
    values: dict[str, Any] = {}


class ColumnMapping(MappingPart):
    """The way in which a foreign file is read. Fields are `context.NAME`, `input.NAME`, `answer.NAME`, `initial.NAME`,
    `explanation.NAME` (a number stands for the task's nth field) or one of `SINGLE`."""

    description: str = ""
    fields: dict[str, SourceOrColumn]
    predictions: list[PredictionColumns] = []
    votes: list[VoteColumns] = []
    skip: dict[str, list[str]] = {}

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
