"""One of a fixed list of options, and the base of all fields with options."""

from abc import ABC
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, GetJsonSchemaHandler, StringConstraints, field_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Line, Section, Setting


class Option(Section):
    """One option: the value that is stored, what people read, and a hint."""

    value: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
    label: Line = ""
    description: Line = ""


def expand_option(raw: Any) -> Any:
    """Return an option that is written as a text alone, or without a label, as a mapping with its label."""
    if isinstance(raw, bool):
        raise ValueError(_("YAML reads a bare yes, no, on or off as true or false: put the option in quotes."))
    if isinstance(raw, int | float):
        raise ValueError(_("Options are text: put the number in quotes."))
    if isinstance(raw, str):
        return {"value": raw, "label": raw}
    return {**raw, "label": raw.get("label") or raw.get("value")} if isinstance(raw, dict) else raw


class AllowText:
    """Allows in the JSON Schema a text instead of the mapping."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Either of both."""
        return {"anyOf": [{"type": "string"}, handler(schema)]}


AnyOption = Annotated[Option, BeforeValidator(expand_option), AllowText()]


def refuse_duplicates(values: Sequence[str]) -> None:
    """Raise ValueError for duplicate values."""
    if duplicate := next((value for value in values if values.count(value) > 1), None):
        raise ValueError(_("The option “%(option)s” is listed twice.", option=duplicate))


class OptionsField(Field, ABC):
    """A field with a fixed list of options."""

    options: list[AnyOption] = Setting(
        min_length=2, max_length=200, description="Texts, or mappings of value, label and description."
    )

    @field_validator("options")
    @classmethod
    def _no_option_twice(cls, options: list[Option]) -> list[Option]:
        refuse_duplicates([option.value for option in options])
        return options

    @property
    def offered(self) -> list[Option]:
        """All options that a value may name, in order."""
        return list(self.options)

    @property
    def values(self) -> list[str]:
        """The values of all options, in order."""
        return [option.value for option in self.offered]

    def option(self, value: object) -> Option:
        """Return the option with this value; for an unknown value, an option labelled with it."""
        match = next((option for option in self.offered if option.value == value), None)
        return match or Option.model_construct(value=str(value), label=str(value), description="")

    def label_of(self, value: str) -> str:
        """Return the label that people read for `value`; the value itself where no option has it."""
        return self.option(value).label

    def comparable(self) -> Sequence[str] | None:
        """The options' values."""
        return self.values


class Choice(OptionsField):
    """One of `options`; an answer's `goal` says whether annotators are assigned a value or choose one."""

    type: Literal["choice"] = "choice"
    goal: Literal["assigned", "chosen"] = Setting(
        "chosen", description="For answers: the annotator is assigned the value, or chooses it."
    )

    missing: ClassVar[str] = _("Choose one of the options.")
    no_answer: ClassVar[str] = "is none of the task's options"

    def in_words(self, value: Any) -> str:
        """The option's label."""
        return "" if value is None else self.label_of(str(value))

    def check(self, raw: object, beside: Values) -> str | None:
        """The value of one option."""
        if raw == "":
            return None
        if not isinstance(raw, str) or raw not in self.values:
            raise FieldError(self.missing)
        return raw

    def from_form(self, texts: Sequence[str]) -> object:
        """Return the checked radio button; a list, which is refused, if a client sends several."""
        return list(texts) if len(texts) > 1 else super().from_form(texts)

    def from_text(self, text: str) -> object:
        """The text itself."""
        return text

    def is_answer(self, value: object) -> bool:
        """Return whether it is the value of an option."""
        return value in self.values

    def json_schema(self) -> JsonSchema:
        """The values, as an enumeration."""
        return {"enum": self.values}
