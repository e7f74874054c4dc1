"""Fields with a fixed list of options: one of them, several, all in order, or one out of a tree."""

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, GetJsonSchemaHandler, StringConstraints, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, UnfinishedValue, Values
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


_MOST, _DEEPEST = 500, 8


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
        min_length=2, max_length=_MOST, description="Texts, or mappings of value, label and description."
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
    MOST_LISTED: ClassVar[int] = 50  # options that a page lists to choose from; more are searched by typing

    @property
    def keys(self) -> list[str]:
        """Return the key that chooses each option: the value itself where all are one character, else 1, 2, … and 0."""
        if all(len(value) == 1 for value in self.values):
            return [value.lower() for value in self.values]
        return [str(place % 10) for place in range(1, len(self.options) + 1)]

    @property
    def chips(self) -> bool:
        """Tell whether the options fit into a row."""
        return self.type == "choice" and len(self.options) <= self.MOST_KEYS

    @property
    def searched(self) -> bool:
        """Tell whether the options are so many that people type and choose from those that match."""
        return self.type == "choice" and len(self.options) > self.MOST_LISTED

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
        """Return the chosen value, of a typed label its option's; a list, which is refused, of several texts."""
        if len(texts) > 1 or not self.searched:
            return list(texts) if len(texts) > 1 else super().from_form(texts)
        typed = " ".join(texts[0].split()) if texts else ""
        by_label = {option.label.casefold(): option.value for option in self.options}
        return typed if typed in self.values else by_label.get(typed.casefold(), typed)

    def from_text(self, text: str) -> object:
        """The text itself."""
        return text

    def is_answer(self, value: object) -> bool:
        """Return whether it is the value of an option."""
        return value in self.values

    def json_schema(self) -> JsonSchema:
        """The values, as an enumeration."""
        return {"enum": self.values}


class MultiChoice(OptionsField):
    """A list of options, in the order in which the config names them."""

    type: Literal["multi_choice"] = "multi_choice"
    min: int = Setting(1, ge=1, le=200, description="Fewest options of a filled field.")
    max: int | None = Setting(None, ge=1, le=200, description="Most options; as many as there are without it.")

    missing: ClassVar[str] = _("Choose at least one of the options.")

    @model_validator(mode="after")
    def _limits_fit(self) -> "MultiChoice":
        if self.most > len(self.options):
            raise ValueError(_("max is above the number of options."))
        if self.min > self.most:
            raise ValueError(_("min is above max, or above the number of options."))
        return self

    @property
    def most(self) -> int:
        """Most options that may be chosen."""
        return len(self.options) if self.max is None else self.max

    def check(self, raw: object, beside: Values) -> list[str] | None:
        """The values of some options, each once."""
        if not isinstance(raw, list) or not all(isinstance(value, str) and value in self.values for value in raw):
            raise FieldError(_("Choose from the options."))
        if len(set(raw)) < len(raw):
            raise FieldError(_("An option is listed twice."))
        if raw and not self.min <= len(raw) <= self.most:
            unfit = UnfinishedValue if len(raw) < self.min else FieldError
            raise unfit(_("You chose %(n)s: choose %(how_many)s.", n=len(raw), how_many=self.how_many))
        return [value for value in self.values if value in raw] or None

    @property
    def chips(self) -> bool:
        """Tell whether the options fit into a row."""
        return len(self.options) <= self.MOST_KEYS

    @property
    def how_many(self) -> str:
        """The number of options to choose, in words."""
        if self.min == self.most:
            return f"exactly {self.min}"
        if self.max is None:
            return f"at least {self.min}"
        return f"at most {self.most}" if self.min == 1 else f"{self.min} to {self.most}"

    def from_form(self, texts: Sequence[str]) -> object:
        """The ticked boxes."""
        return [text for text in texts if text]

    def same(self, first: Any, second: Any) -> bool:
        """The same options in any order."""
        return bool(self.clean_answer(first) == self.clean_answer(second))

    def in_words(self, value: Any) -> str:
        """The options' labels."""
        selected = value if isinstance(value, list) else self.clean_answer(value)
        return (
            ", ".join(self.label_of(option_value) for option_value in selected)
            if isinstance(selected, list)
            else str(value or "")
        )

    def samples(self) -> list[Any]:
        """The first few options, and the last ones."""
        return [self.values[: self.min], self.values[-self.most :]]

    def json_schema(self) -> JsonSchema:
        """A list of different options."""
        return {
            "type": "array",
            "items": {"enum": self.values},
            "uniqueItems": True,
            "minItems": self.min,
            "maxItems": self.most,
        }


class RankingField(OptionsField):
    """All options, the first is the best."""

    type: Literal["ranking"] = "ranking"
    first: Line = Setting("", description="What the first place means, such as best.")
    last: Line = Setting("", description="What the last place means, such as worst.")

    missing: ClassVar[str] = _("Put all of them in order; 1 is the first.")
    brief: ClassVar[bool] = False

    def check(self, raw: object, beside: Values) -> list[str] | None:
        """The values of all options, each once."""
        if isinstance(raw, dict):
            unfit = FieldError if all(raw.values()) else UnfinishedValue
            raise unfit(_("Give each a different position: 1, 2, 3 and so on."))
        if not isinstance(raw, list) or not all(isinstance(value, str) and value in self.values for value in raw):
            raise FieldError(_("This must be a list of the options in order."))
        if raw and (len(set(raw)) < len(raw) or len(raw) < len(self.values)):
            raise FieldError(_("Use each option exactly once."))
        return list(raw) or None

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From one number per option under `name.<value>`; the texts as they are where they make no order."""
        texts = {value: next(iter(posted.get(f"{name}.{value}", ())), "").strip() for value in self.values}
        if not any(texts.values()):
            return None
        places = {value: int(text) for value, text in texts.items() if text.isascii() and text.isdecimal()}
        if len(set(places.values())) < len(self.values):
            return {value: text[:20] for value, text in texts.items()}
        return sorted(places, key=lambda value: places[value])

    def order(self, value: object) -> list[Option]:
        """Return the options in the order of `value`, else in that of the config."""
        values = value if isinstance(value, list) and sorted(map(str, value)) == sorted(self.values) else self.values
        return [self.option(option_value) for option_value in values]

    def place(self, value: object, option: Option) -> str:
        """Return the content of the option's box: its place, or the text that the person entered."""
        if isinstance(value, dict):
            return str(value.get(option.value, ""))
        return str(value.index(option.value) + 1) if isinstance(value, list) and option.value in value else ""

    def same(self, first: Any, second: Any) -> bool:
        """The same order."""
        return bool(self.clean_answer(first) == self.clean_answer(second))

    def in_words(self, value: Any) -> str:
        """The labels in order, numbered."""
        order = value if isinstance(value, list) else self.clean_answer(value)
        if not isinstance(order, list):
            return str(value or "")
        return ", ".join(f"{place}. {self.label_of(option_value)}" for place, option_value in enumerate(order, start=1))

    def samples(self) -> list[Any]:
        """Two orders."""
        return [self.values, self.values[::-1]]

    def comparable(self) -> Sequence[str] | None:
        """Nothing: no order is one word."""
        return []

    def json_schema(self) -> JsonSchema:
        """A list of all options."""
        count = len(self.values)
        items: JsonSchema = {"enum": self.values}
        return {"type": "array", "items": items, "uniqueItems": True, "minItems": count, "maxItems": count}


PATH = " › "
"""Between the steps of a path, as in menus."""


class Branch(Option):
    """An option that may have narrower ones below it."""

    children: "list[AnyBranch]" = Setting([], max_length=200, description="Narrower options, written like options.")


AnyBranch = Annotated[Branch, BeforeValidator(expand_option), AllowText()]
Branch.model_rebuild()


class TreeChoice(Choice):
    """One option of a tree: any, or only those that have none below them."""

    type: Literal["tree_choice"] = "tree_choice"  # type: ignore[assignment]
    options: list[AnyBranch] = Setting(  # type: ignore[assignment]
        min_length=1, max_length=200, description="Texts, or mappings of value, label, description and children."
    )
    pick: Literal["leaves", "any"] = Setting(
        "leaves", description="leaves: only an option without children; any: those with children as well."
    )

    @field_validator("options")
    @classmethod
    def _no_option_twice(cls, options: list[Branch]) -> list[Branch]:  # type: ignore[override]
        tree_options = [step for step, *_ in _paths(options)]
        if len(tree_options) > _MOST:
            raise ValueError(_("A tree has at most %(most)s options.", most=_MOST))
        refuse_duplicates([option.value for option in tree_options])
        return options

    @model_validator(mode="after")
    def _something_to_choose(self) -> "TreeChoice":
        if len(self.offered) < 2:
            raise ValueError(_("A tree needs at least 2 selectable options."))
        return self

    @property
    def offered(self) -> list[Option]:
        """The options that can be chosen, in the order of the tree."""
        return [option for option, *_ in _paths(self.options) if self.can_be_chosen(option)]

    def can_be_chosen(self, option: Branch) -> bool:
        """Return whether people may choose the option."""
        return self.pick == "any" or not option.children

    def path(self, value: object) -> list[Option]:
        """Return the options from the top down to the one with this value.

        For an unknown value it is one option labelled with it.
        """
        upward_path = next((steps for steps in _paths(self.options) if steps[0].value == value), None)
        return [*reversed(upward_path)] if upward_path else [self.option(value)]

    def label_of(self, value: str) -> str:
        """The labels on the way to `value`."""
        return PATH.join(option.label for option in self.path(value))

    def opens(self, option: Branch, value: object) -> bool:
        """Return whether the branch below `option` contains the chosen `value`."""
        return any(below.value == value for below, *_ in _paths(option.children))


def _paths(options: Sequence[Branch], above: tuple[Branch, ...] = ()) -> Iterator[tuple[Branch, ...]]:
    """Each option of a tree, in order, with those above it, the nearest first."""
    if len(above) >= _DEEPEST and options:
        raise ValueError(_("A tree has at most %(deepest)s levels.", deepest=_DEEPEST))
    for option in options:
        yield (option, *above)
        yield from _paths(option.children, (option, *above))
