"""Several numbers that are set by sliders on one scale."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import FieldError, JsonSchema, Values
from dynabench.tasks.fields.choice import OptionsField
from dynabench.tasks.fields.slider import EMPTY, Slider
from dynabench.tasks.section import Line, Setting


class Sliders(OptionsField):
    """A number for each option: `{value: number}`, all of them or none."""

    type: Literal["sliders"] = "sliders"
    min: float = Setting(0, ge=-(2**53), le=2**53, description="Left end.")
    max: float = Setting(100, ge=-(2**53), le=2**53, description="Right end.")
    step: float = Setting(1, gt=0, description="Distance between two values; other numbers go to the nearest.")
    start: float | None = Setting(
        None, description="Where they stand at first, which then counts as an answer; without it people move each."
    )
    low: Line = Setting("", description="What the left end means.")
    high: Line = Setting("", description="What the right end means.")
    tolerance: float = Setting(0, ge=0, description="Answers are the same where no slider differs by more than this.")

    missing: ClassVar[str] = _("Move each slider, or press Space on it to keep the middle position.")
    brief: ClassVar[bool] = False

    @model_validator(mode="after")
    def _scale_fits(self) -> "Sliders":
        _ = self.scale  # which refuses what is no scale
        return self

    @cached_property
    def scale(self) -> Slider:
        """One of the sliders."""
        names = ("min", "max", "step", "start", "low", "high", "tolerance")
        return Slider(name=self.name, **{name: getattr(self, name) for name in names})

    def check(self, raw: object, beside: Values) -> dict[str, int | float] | None:
        """A number for each option."""
        if not isinstance(raw, dict) or any(key not in self.values for key in raw):
            raise FieldError(_("This must be an object with a number for each slider."))
        numbers = {value: number for value, number in raw.items() if number is not None}
        if not numbers:
            return None
        if unmoved := [self.label_of(value) for value in self.values if value not in numbers]:
            raise FieldError(_("Also move these sliders: %(left)s.", left=", ".join(unmoved)))
        positions: dict[str, int | float] = {}
        for value in self.values:
            try:
                number = self.scale.check(numbers[value], beside)
            except FieldError as error:
                raise FieldError(f"{self.label_of(value)}: {error}") from None
            if number is not None:
                positions[value] = number
        return positions

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From one number per option under `name.<value>`, unless the box `name.empty` is ticked."""
        if posted.get(f"{name}.{EMPTY}") and EMPTY not in self.values:
            return None
        posted_numbers = {value: self.scale.from_form(posted.get(f"{name}.{value}", ())) for value in self.values}
        return {value: number for value, number in posted_numbers.items() if number is not None} or None

    def at(self, value: object, option: str) -> Any:
        """The number that `value` has for an option, None where it has none."""
        return value.get(option) if isinstance(value, dict) else None

    def same(self, first: Any, second: Any) -> bool:
        """No slider differs by more than the tolerance."""
        first_values, second_values = self.said(first), self.said(second)
        if first_values is None or second_values is None:
            return first_values is second_values
        return all(self.scale.same(first_values[value], second_values[value]) for value in self.values)

    def in_words(self, value: Any) -> str:
        """Each label with its number."""
        numbers = value if isinstance(value, dict) else self.said(value)
        if not isinstance(numbers, dict):
            return str(value or "")
        return ", ".join(f"{self.label_of(name)} {self.scale.in_words(number)}" for name, number in numbers.items())

    def samples(self) -> list[Any]:
        """All at one place, three times."""
        return [dict.fromkeys(self.values, place) for place in self.scale.samples()]

    def comparable(self) -> Sequence[str] | None:
        """Nothing: several numbers are no one word."""
        return []

    def json_schema(self) -> JsonSchema:
        """An object with a number for each option."""
        return {
            "type": "object",
            "properties": {value: self.scale.json_schema() for value in self.values},
            "required": self.values,
            "additionalProperties": False,
        }
