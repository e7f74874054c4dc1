"""One of a fixed list of options."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, StringConstraints, field_validator

from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Line, Section, Setting, did_you_mean


class Option(Section):
    """One option: the value that is stored, what people read, and a hint."""

    value: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
    label: Line = ""
    description: Line = ""


def option(raw: Any) -> Any:
    """What a config may write for an option, as a mapping."""
    if isinstance(raw, bool):
        raise ValueError("YAML reads a bare yes, no, on or off as true or false: put the option in quotes.")
    if isinstance(raw, int | float):
        raise ValueError("Options are text: put the number in quotes.")
    if isinstance(raw, str):
        return {"value": raw, "label": raw}
    return {**raw, "label": raw.get("label") or raw.get("value")} if isinstance(raw, dict) else raw


def refuse_twice(options: list[Option]) -> list[Option]:
    """The options, no two of which have one value. Raises ValueError."""
    values = [each.value for each in options]
    if twice := next((value for value in values if values.count(value) > 1), None):
        raise ValueError(f"The option “{twice}” stands here twice.")
    return options


class Choice(Field):
    """One of `options`; an answer's `goal` says whether annotators are assigned a value or choose one."""

    type: Literal["choice"] = "choice"
    options: list[Annotated[Option, BeforeValidator(option)]] = Setting(
        min_length=2, max_length=200, description="Texts, or mappings of value, label and description."
    )
    goal: Literal["assigned", "chosen"] = Setting(
        "chosen", description="For answers: the annotator is assigned the value, or chooses it."
    )

    missing: ClassVar[str] = "Choose one of the options."

    @field_validator("options")
    @classmethod
    def _no_option_twice(cls, options: list[Option]) -> list[Option]:
        return refuse_twice(options)

    @property
    def values(self) -> list[str]:
        """The values of all options, in order."""
        return [option.value for option in self.options]

    def label_of(self, value: str) -> str:
        """What people read for `value`; the value itself where no option has it."""
        return next((option.label for option in self.options if option.value == value), value)

    def in_words(self, value: Any) -> str:
        """The option's label."""
        return "" if value is None else self.label_of(str(value))

    def never(self, value: str) -> str:
        """Whether there is such an option."""
        if value in self.values:
            return ""
        return f"“{value[:60]}” is no option of {self.name}." + did_you_mean(value, self.values)

    def unfit(self, said: Any) -> str:
        """Whether it is an option."""
        return "" if said in self.values else "is none of the task's options"

    def check(self, raw: object, beside: Values) -> str | None:
        """The value of one option."""
        if raw == "":
            return None
        if not isinstance(raw, str) or raw not in self.values:
            raise FieldError(self.missing)
        return raw

    def from_form(self, texts: Sequence[str]) -> object:
        """The checked radio button; a list, which is refused, if somebody sends several."""
        return list(texts) if len(texts) > 1 else super().from_form(texts)

    def json_schema(self) -> JsonSchema:
        """The values, as an enumeration."""
        return {"enum": self.values}
