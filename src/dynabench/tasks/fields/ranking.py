"""Options in an order of preference."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import FieldError, JsonSchema, Values
from dynabench.tasks.fields.choice import Option, OptionsField
from dynabench.tasks.section import Line, Setting


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
            raise FieldError(_("Give each a different position: 1, 2, 3 and so on."))
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
        return bool(self.said(first) == self.said(second))

    def in_words(self, value: Any) -> str:
        """The labels in order, numbered."""
        order = value if isinstance(value, list) else self.said(value)
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
