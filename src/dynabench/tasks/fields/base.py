"""Base of all field types: a field checks values, names its templates and describes its values."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, model_validator

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _, join_messages
from dynabench.tasks import conditions
from dynabench.tasks.conditions import ConditionFacts
from dynabench.tasks.section import Line, Name, Section, Setting, did_you_mean, printable, refuse_keys

Values = Mapping[str, Any]
JsonSchema = dict[str, Any]
NOTHING: Values = {}
ANY_FIELD_SCHEMA: JsonSchema = {"$comment": "any field type"}  # `schema.py` puts a reference here


class FieldError(ValueError):
    """A value that a field cannot hold; the message stands beside the field and says what to do.

    An error of a group of fields has its messages in `within`, by the dotted name below the group's own name.
    """

    def __init__(self, message: str = "", within: Mapping[str, str] = NOTHING) -> None:
        super().__init__(message or join_messages(within.values()))
        self.within = within

    def messages(self, name: str) -> dict[str, str]:
        """Return the messages by the full names of the fields that they stand beside; `name` is that of this field."""
        return {f"{name}.{below}": message for below, message in self.within.items()} or {name: str(self)}


class UnfinishedValue(FieldError):
    """A value that lacks a part so far, such as the reason of an answer: a draft leaves it out."""


class FieldReference(NamedTuple):
    """A name in a config of another field: the dotted key below the field's own, the name, whether it must be text."""

    key: str
    name: str
    text: bool = True


class ValueSample(Section):
    """An example of a valid value, with a note."""

    value: Any = Setting(description="The value.")
    note: Line = Setting("", description="Why it would do.")


def _sample(raw: Any) -> Any:
    return raw if isinstance(raw, ValueSample | dict) and "value" in raw else {"value": raw}


class Field(Section, ABC):
    """One named value of a task. A subclass sets `type` to a literal and implements `check` and `json_schema`."""

    name: Name = Setting(description="Key of the value in the API, in models and in datasets.")
    type: str = Setting(description="Field type.")
    label: Line = Setting("", description="What people read above the field; made from the name when absent.")
    help: Line = Setting("", description="A hint below the label.")
    placeholder: Line = Setting("", description="Shown while the field is empty.")
    required: bool = Setting(True, description="Context, input and answer fields are required unless this is false; "
                             "fields under `ask` are optional unless this is true.")  # fmt: skip
    when: Annotated[list[str], BeforeValidator(conditions.parse_conditions)] = Setting(
        [],
        description="Ask only then: fooled, not_fooled, correct, incorrect, flagged, or field == value; any of a list.",
    )

    examples: list[Annotated[ValueSample, BeforeValidator(_sample)]] = Setting(
        [],
        max_length=10,
        description="Values that would do, shown on demand: plain, or mappings of value and note.",
    )

    missing: ClassVar[str] = _("This field is required.")
    no_answer: ClassVar[str] = "is nothing that the field can hold"
    brief: ClassVar[bool] = True  # whether `in_words` says a value in a line
    MOST_KEYS: ClassVar[int] = 10  # options that a page shows as keys; more are a list to choose from
    templates: ClassVar[Path] = Path(__file__).parent.parent / "templates" / "fields"

    @model_validator(mode="before")
    @classmethod
    def _label_from_name(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and not raw.get("label") and isinstance(raw.get("name"), str):
            return {**raw, "label": raw["name"].replace("_", " ").capitalize()[:60]}
        return raw

    @model_validator(mode="after")
    def _examples_would_do(self) -> "Field":
        if self.references():
            return self  # they depend on a text that is not known here
        for index, sample in enumerate(self.examples):
            try:
                self.check(sample.value, NOTHING)
            except FieldError as error:
                refuse_keys({f"examples.{index}": str(error)})
        return self

    def references(self) -> Sequence[FieldReference]:
        """Return the fields of context or input that this field refers to."""
        return ()

    @property
    def chips(self) -> bool:
        """Tell whether the field is a short row of options, which needs no place of its own."""
        return False

    @property
    def drawn_over(self) -> Sequence[str]:
        """Names of the fields that this field's form shows itself, so that they need not stand beside it."""
        return ()

    @property
    def stands_in(self) -> str:
        """Name of the context field that this field's form replaces where both are shown; "" for none."""
        return ""

    def clean(self, raw: object, beside: Values = NOTHING) -> Any:
        """Return the value as it is stored, None where an optional field is left empty.

        `beside` holds the values of the fields that this one may refer to. Raises FieldError.
        """
        value = None if raw is None else self.check(raw, beside)
        if value is None and self.required:
            raise FieldError(self.missing)
        return value

    def clean_draft(self, raw: object, beside: Values = NOTHING) -> Any:
        """Return the value as it is stored in a draft, in which every field may be left empty or unfinished.

        An unfinished value counts as none. Raises FieldError.
        """
        with suppress(UnfinishedValue):
            return None if raw is None else self.check(raw, beside)
        return None

    def is_finished(self, value: object, beside: Values = NOTHING) -> bool:
        """Return whether a clean value of a draft lacks nothing. Most fields keep no unfinished values."""
        return value is not None

    @abstractmethod
    def check(self, raw: object, beside: Values) -> Any:
        """Return the stored form of `raw`, which is not None; None for an empty value. Raises FieldError."""

    @abstractmethod
    def json_schema(self) -> JsonSchema:
        """JSON Schema (2020-12) of the values that the field holds."""

    def told_examples(self) -> list[tuple[str, str]]:
        """Return the examples of valid values as people read them, each with its note."""
        return [(self.in_words(sample.value), sample.note) for sample in self.examples]

    def from_form(self, texts: Sequence[str]) -> object:
        """Return the raw value for `clean` from the texts that an HTML form posted under the field's name."""
        return texts[0] if texts else None

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """Return the raw value for `clean` from a whole HTML form in which `name` is this field's full name.

        Fields that post several inputs read those named `name.…`; all others get the texts under `name`.
        """
        return self.from_form(posted.get(name, ()))

    def from_text(self, text: str) -> object:
        """Return the raw value for `clean` from a cell of a table or a model's text: JSON for a list or an object."""
        if text.lstrip()[:1] in ("[", "{"):
            with suppress(ValueError, RecursionError):
                return json.loads(text)
        return self.from_form([text])

    def serialise(self, value: Any) -> Any:
        """Return the value as models get it; an empty optional field becomes None."""
        return value

    def same(self, first: Any, second: Any) -> bool:
        """Return whether two clean values are the same answer."""
        return bool(first == second)

    def clean_answer(self, answer: object) -> Any:
        """Return the clean value of an answer by a model or a person; None where the answer is invalid."""
        try:
            return self.check(self.from_text(answer) if isinstance(answer, str) else answer, NOTHING)
        except FieldError:
            return None

    def is_answer(self, value: object) -> bool:
        """Return whether a model's answer is valid."""
        return self.clean_answer(value) is not None

    def comparable(self) -> Sequence[str] | None:
        """Return the words that a condition may compare the field with; None for any."""
        return None

    def samples(self) -> list[Any]:
        """Return some values to try models out with; [] where nothing is known."""
        return []

    def in_words(self, value: Any) -> str:
        """Return a value as people read it in a sentence, also an invalid one of a model; "" for none."""
        return "" if value is None else str(value)

    def template(self, view: str) -> str:
        """Return the path of the template that draws the field: `view` is `create`, `read` or `judge`."""
        return f"tasks/fields/{self.type}/{view}.html"

    def public(self) -> dict[str, Any]:
        """Return everything that a client needs to offer the field."""
        described = self.model_dump(mode="json", exclude_defaults=True)
        described |= {"name": self.name, "type": self.type, "label": self.label, "required": self.required}
        return {**described, "schema": self.json_schema()}


_UNKNOWN = 20  # told at most


def clean_fields(
    fields: Sequence[Field],
    values: object,
    beside: Values = NOTHING,
    facts: ConditionFacts | None = None,
    *,
    draft: bool = False,
) -> dict[str, Any]:
    """Return the stored form of `values`, without empty optional fields and fields that do not apply.

    `beside` holds the values of other fields that these may refer to, `facts` further facts for their conditions. Of a
    `draft`, required fields may still be empty.
    Raises FieldError with the messages by name.
    """
    if not isinstance(values, Mapping):
        raise FieldError(_("This must be an object with one value per field."))
    names = [field.name for field in fields]
    problems = {
        printable(key): _("There is no such field.") + did_you_mean(key, names)
        for key in [key for key in values if key not in names][:_UNKNOWN]
    }
    cleaned: dict[str, Any] = {}
    base_facts = facts or ConditionFacts()
    for field in fields:
        if field.when and not conditions.any_condition_holds(
            field.when, replace(base_facts, values={**base_facts.values, **cleaned})
        ):
            continue
        clean = field.clean_draft if draft else field.clean
        try:
            value = clean(values.get(field.name), {**beside, **cleaned})
        except FieldError as error:
            problems |= error.messages(field.name)
        else:
            if value is not None:
                cleaned[field.name] = value
    if problems:
        raise FieldError(within=problems)
    return cleaned


def clean_group(
    group: str,
    fields: Sequence[Field],
    values: object,
    beside: Values | None = None,
    facts: ConditionFacts | None = None,
    *,
    draft: bool = False,
) -> dict[str, Any]:
    """Return the stored form of `values`, without empty optional fields and fields that do not apply.

    `group` is `context`, `input`, `answer`, `ask` or `validation`; problems are raised as Invalid with keys such as
    `input.hypothesis`. `beside` holds the values that spans refer to.
    """
    try:
        return clean_fields(fields, values, beside or {}, facts, draft=draft)
    except FieldError as error:
        raise Invalid(error.messages(group)) from None


def same_answer(first: Any, second: Any, field: Field) -> bool:
    """Return whether two answers of a field mean the same; a missing answer is the same as none."""
    return first is second if first is None or second is None else field.same(first, second)


def read_group_form(group: str, fields: Sequence[Field], items: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Return the raw values of a group from an HTML form with names such as `input.hypothesis`."""
    posted: dict[str, list[str]] = {}
    for name, text in items:
        if isinstance(text, str):
            posted.setdefault(name, []).append(text)
    return {field.name: field.read_form(posted, f"{group}.{field.name}") for field in fields}


def impossible_reason(condition: str, named: Mapping[str, Field]) -> str:
    """Return the reason why `condition` can never hold where `named` are the fields to compare; "" if it can."""
    comparison = conditions.parse_comparison(condition)
    if not comparison:
        return _(
            "“%(condition)s” cannot be used here: compare an earlier field, such as: kind == other",
            condition=condition,
        )
    name, value = comparison
    if name not in named:
        return _("There is no field “%(name)s” to compare.", name=name) + did_you_mean(name, named)
    values = named[name].comparable()
    if values is not None and value not in values:
        return _("“%(value)s” is not an option of %(name)s.", value=value[:60], name=name) + did_you_mean(value, values)
    return ""
