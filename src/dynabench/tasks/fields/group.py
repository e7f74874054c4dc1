"""Named fields within a field: one object, or a list of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, SerializeAsAny, WithJsonSchema, model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields import base
from dynabench.tasks.fields.base import ANY_FIELD_SCHEMA, NOTHING, Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.fields.image_region import ImageRegion
from dynabench.tasks.fields.media import Image
from dynabench.tasks.section import Setting, did_you_mean, refuse_keys

INITIAL_ROWS = 3
"""Rows that a form offers from the start, where scripts do not add them as they are wanted."""


def _build(raw: Any) -> Any:
    from dynabench.tasks.fields import build_field

    return build_field(raw)


Inner = Annotated[SerializeAsAny[Field], BeforeValidator(_build), WithJsonSchema(ANY_FIELD_SCHEMA)]


class Group(Field):
    """An object with a value for each of `fields`, or with `repeat` a list of up to so many such objects.

    A condition (`when`) within it is about the fields that stand before it in the same object; regions are of a picture
    before them there, or of one in context or input.
    """

    type: Literal["group"] = "group"
    fields: list[Inner] = Setting(min_length=1, max_length=20, description="The fields within; no groups.")
    repeat: int = Setting(0, ge=0, le=50, description="Most objects of a list; 0 for one object and no list.")
    at_least: int = Setting(1, ge=1, le=50, description="With repeat: fewest objects of a list.")

    no_answer: ClassVar[str] = "is not made of the group's fields"
    brief: ClassVar[bool] = False

    @model_validator(mode="after")
    def _hangs_together(self) -> "Group":
        problems: dict[str, str] = {}
        for index, field in enumerate(self.fields):
            before = {earlier.name: earlier for earlier in self.fields[:index]}
            if field.name in before:
                problems[f"fields.{index}.name"] = _("Another field already has the name “%(name)s”.", name=field.name)
            if isinstance(field, Group):
                problems[f"fields.{index}.type"] = _("A group cannot contain groups.")
            if isinstance(field, ImageRegion) and field.of in self.own and not isinstance(before.get(field.of), Image):
                message = _("There is no such image field earlier in the group.")
                images = [name for name, earlier in before.items() if isinstance(earlier, Image)]
                problems[f"fields.{index}.of"] = message + did_you_mean(field.of, images)
            if getattr(field, "goal", "") == "assigned":
                problems[f"fields.{index}.goal"] = _("Only an answer can be a goal.")
            if reasons := [why for condition in field.when if (why := base.impossible_reason(condition, before))]:
                problems[f"fields.{index}.when"] = reasons[0]
        if self.repeat and self.at_least > self.repeat:
            problems["at_least"] = _("at_least is above repeat.")
        if problems:
            refuse_keys(problems)
        return self

    def references(self) -> Sequence[FieldReference]:
        """Those of the fields within, but for the ones that stand beside them."""
        return [
            reference._replace(key=f"fields.{index}.{reference.key}")
            for index, field in enumerate(self.fields)
            for reference in field.references()
            if reference.name not in self.own
        ]

    @property
    def own(self) -> frozenset[str]:
        """The names of the fields within."""
        return frozenset(field.name for field in self.fields)

    def beside(self, around: Values, row: Values = NOTHING) -> Values:
        """Return the values that the fields of an object may refer to.

        These are the values of the object, and those of `around` that have other names.
        """
        return {name: value for name, value in around.items() if name not in self.own} | dict(row)

    def check(self, raw: object, beside: Values) -> Any:
        """Return the object, or the list; the keys of error messages name the place of each error."""
        beside = self.beside(beside)
        if not self.repeat:
            return self._object(raw, beside)
        return self._objects(raw, beside, self.at_least)

    def clean_draft(self, raw: object, beside: Values = NOTHING) -> Any:
        """Return what is written so far: objects may lack values, and a list may have too few objects."""
        if raw is None:
            return None
        beside = self.beside(beside)
        if not self.repeat:
            return base.clean_fields(self.fields, raw, beside, draft=True) or None
        return self._objects(raw, beside, 0, draft=True)

    def is_finished(self, value: object, beside: Values = NOTHING) -> bool:
        """Return whether no object of a draft lacks a value, and the list has enough of them."""
        try:
            return self.check(value, beside) is not None
        except FieldError:
            return False

    def _object(self, raw: object, beside: Values) -> dict[str, Any] | None:
        if isinstance(raw, Mapping) and not self.required and is_blank(raw):
            return None
        return base.clean_fields(self.fields, raw, beside) or None

    def _objects(self, raw: object, beside: Values, least: int, *, draft: bool = False) -> list[dict[str, Any]] | None:
        if not isinstance(raw, list):
            raise FieldError(_("This must be a list of objects."))
        if not raw:
            return None
        if not least <= len(raw) <= self.repeat:
            least, most = self.at_least, self.repeat
            raise FieldError(
                _("There are %(n)s entries; %(least)s to %(most)s are needed.", n=len(raw), least=least, most=most)
            )
        rows: list[dict[str, Any]] = []
        problems: dict[str, str] = {}
        for index, row in enumerate(raw):
            try:
                rows.append(base.clean_fields(self.fields, row, beside, draft=draft))
            except FieldError as error:
                problems |= error.messages(str(index))
        if problems:
            raise FieldError(within=problems)
        return rows if any(rows) else None

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From inputs `name.field`, or `name.0.field` and so on; rows with nothing in them are left out."""
        if not self.repeat:
            return self._row(posted, name) if _below(posted, name) else self.from_form(posted.get(name, ()))
        places = sorted({int(match[1]) for key in _below(posted, name) if (match := _ROW.match(key[len(name) :]))})
        if not places:
            return self.from_form(posted.get(name, ()))
        rows = [self._row(posted, f"{name}.{place}") for place in places]
        return [row for row in rows if not is_blank(row)]

    def _row(self, posted: Mapping[str, Sequence[str]], name: str) -> dict[str, object]:
        return {field.name: field.read_form(posted, f"{name}.{field.name}") for field in self.fields}

    def rows(self, value: object) -> list[Values]:
        """Return the objects in `value`, which may be anything."""
        items = value if isinstance(value, list) else [value]
        return [row for row in items if isinstance(row, Mapping)]

    def offered(self, value: object) -> list[Values]:
        """Return the objects that a form shows: those in `value`, and blank ones to fill in."""
        rows = self.rows(value)
        if not self.repeat:
            return rows[:1] or [{}]
        return rows + [{}] * (min(self.repeat, max(len(rows) + 1, self.at_least, INITIAL_ROWS)) - len(rows))

    def in_row(self, field: Field, index: int = 0) -> Field:
        """Return the field as a form draws it: the browser must not require a field whose whole object is optional."""
        if field.when or not self.required or index >= self.at_least:
            return field.model_copy(update={"required": False})
        return field

    def serialise(self, value: Any) -> Any:
        """The same, with each value as its field has it for models."""
        if value is None:
            return [] if self.repeat else {}
        objects = [
            {field.name: field.serialise(row.get(field.name)) for field in self.fields} for row in self.rows(value)
        ]
        return objects if self.repeat else objects[0]

    def same(self, first: Any, second: Any) -> bool:
        """Field by field; of lists, object by object in order."""
        rows, others = self.rows(first), self.rows(second)
        return len(rows) == len(others) and all(
            base.same_answer(row.get(field.name), other.get(field.name), field)
            for row, other in zip(rows, others, strict=True)
            for field in self.fields
        )

    def is_answer(self, value: object) -> bool:
        """Return whether it is an object, or with `repeat` a list of objects."""
        container = list if self.repeat else Mapping
        return isinstance(value, container) and len(self.rows(value)) == (len(value) if self.repeat else 1)

    def in_words(self, value: Any) -> str:
        """Labels and values; objects parted by semicolons."""
        return "; ".join(self._row_in_words(row) for row in self.rows(value))

    def _row_in_words(self, row: Values) -> str:
        return ", ".join(f"{f.label}: {f.in_words(row[f.name])}" for f in self.fields if row.get(f.name) is not None)

    def json_schema(self) -> JsonSchema:
        """An object, or a list of objects; what a condition asks for is not required here."""
        row = {
            "type": "object",
            "properties": {field.name: field.json_schema() for field in self.fields},
            "required": [field.name for field in self.fields if field.required and not field.when],
            "additionalProperties": False,
        }
        if not self.repeat:
            return row | {"minProperties": 1}
        return {
            "type": "array",
            "items": row,
            "minItems": self.at_least,
            "maxItems": self.repeat,
            "contains": {"minProperties": 1},
        }

    def public(self) -> dict[str, Any]:
        """With what clients need to offer each field within."""
        return super().public() | {"fields": [field.public() for field in self.fields]}


def innermost(fields: Iterable[Field]) -> Iterator[Field]:
    """The fields with those within groups in the groups' place."""
    for field in fields:
        yield from field.fields if isinstance(field, Group) else [field]


_ROW = re.compile(r"\.([0-9]{1,3})\.")


def _below(posted: Iterable[str], name: str) -> list[str]:
    return [key for key in posted if key.startswith(f"{name}.")]


def is_blank(raw: object) -> bool:
    """Return whether a raw value is empty: no text, no member, at any depth."""
    if isinstance(raw, str):
        return not raw.strip()
    if isinstance(raw, Mapping):
        return all(is_blank(part) for part in raw.values())
    return raw is None or (isinstance(raw, list) and all(is_blank(part) for part in raw))
