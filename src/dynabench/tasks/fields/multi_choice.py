"""Several of a fixed list of options."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import FieldError, JsonSchema, Values
from dynabench.tasks.fields.choice import OptionsField
from dynabench.tasks.section import Setting


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
            raise FieldError(_("You chose %(n)s: choose %(how_many)s.", n=len(raw), how_many=self.how_many))
        return [value for value in self.values if value in raw] or None

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
        return bool(self.said(first) == self.said(second))

    def in_words(self, value: Any) -> str:
        """The options' labels."""
        selected = value if isinstance(value, list) else self.said(value)
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
