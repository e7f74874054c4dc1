"""Rows of others' files as rows of ours: which column becomes which field, and what its values mean here.

A mapping is a small document (YAML or JSON); `presets/` has those for the files that are best known.
"""

import re
from collections.abc import Mapping as MappingType
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dynabench import errors
from dynabench.language import _

PRESETS = ("anli", "dynasent", "dynahate", "hatemoji")
SINGLE = ("uid", "tag", "author", "round", "made_from", "source", "at", "edit_distance", "seconds", "attempt")
GROUPS = ("context", "input", "answer", "initial", "explanation")
_LISTED = re.compile(r"\['([^',]*)'\]")  # a list of one, as Python prints it
Text = Annotated[str, Field(max_length=200)]


class Strict(BaseModel):
    """A part of a mapping; what is not known is refused, so that a slip is noticed."""

    model_config = ConfigDict(extra="forbid")


def _short(raw: object) -> object:
    return {"column": raw} if isinstance(raw, str) else raw


class Source(Strict):
    """Where a value comes from: a column (the first of several that a row has), else `default`.

    `values` says what values mean here; of several meanings the first that the field offers is taken. A value that
    it does not name stays as it is. With `when` it is read only from rows whose other columns have such values.
    """

    column: Text | list[Text] = ""
    values: dict[str, Any] = {}
    default: Any = None
    prefix: Text = ""
    when: dict[str, list[str]] = {}

    def of(self, row: MappingType[str, Any]) -> Any:
        """The value in a row, before `values` is asked; None where there is none."""
        if any(_key(row.get(name)) not in wanted for name, wanted in self.when.items()):
            return self.default
        for name in [self.column] if isinstance(self.column, str) else self.column:
            if name and row.get(name) not in (None, ""):
                return row[name]
        return self.default


From = Annotated[Source, BeforeValidator(_short)]


class Said(Strict):
    """A model's answer: what it is called, and the columns of its answer and probabilities."""

    model: Text
    version: Annotated[str, Field(max_length=64)] = "imported"
    answer: dict[str, From]
    probabilities: From | None = None


class Votes(Strict):
    """Votes in a column: `labels` (a list of answers), `counts` ({answer: number}) or `people` ({answer: [names]})."""

    column: Text | list[Text]
    kind: Literal["labels", "counts", "people"]
    values: dict[str, Any] = {}


class Mapping(Strict):
    """How a foreign file is read. Fields are `context.NAME`, `input.NAME`, `answer.NAME`, `initial.NAME`,
    `explanation.NAME` (a number stands for the task's nth field) or one of `SINGLE`."""

    description: str = ""
    fields: dict[str, From]
    predictions: list[Said] = []
    votes: list[Votes] = []
    skip: dict[str, list[str]] = {}

    @classmethod
    def parse(cls, document: object) -> "Mapping":
        """From a document or its text. Raises `Invalid` under `mapping`."""
        try:
            raw = yaml.safe_load(document) if isinstance(document, str) else document
            made = cls.model_validate(raw)
        except yaml.YAMLError as problem:
            raise errors.Invalid({"mapping": f"This is not valid YAML: {problem}"[:500]}) from None
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise errors.Invalid({"mapping": f"{where}: {first['msg']}"[:500]}) from None
        for name in made.fields:
            group, _dot, field = name.partition(".")
            if name not in SINGLE and not (group in GROUPS and field):
                raise errors.Invalid({"mapping": _("%(name)s is no field of a row.", name=repr(name[:60]))})
        return made


@cache
def preset(name: str) -> Mapping:
    """A mapping that is shipped, by name. Raises `Invalid`."""
    if name not in PRESETS:
        raise errors.Invalid(
            {"format": _("Choose one of %(value)s, or give a mapping.", value=", ".join(("own", "squad", *PRESETS)))}
        )
    text = (files(__package__) / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    return Mapping.parse(text)


def meant(value: Any, values: MappingType[str, Any], options: list[str]) -> Any:
    """What a value means in a field that offers `options` (none: anything)."""
    key = _key(value)
    found = values.get(key, values.get(key.casefold(), value))
    if found is not value and isinstance(found, list):
        return next((one for one in found if one in options), found[0] if found else None)
    return found


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    listed = _LISTED.fullmatch(value) if isinstance(value, str) else None
    return listed[1] if listed else str(value)
