"""Fields of numbers: typed, rated on a short scale, or set by one slider or several."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isclose, isfinite
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, UnfinishedValue, Values
from dynabench.tasks.fields.choice import OptionsField
from dynabench.tasks.section import Line, Setting

_LARGEST = 2**53  # whole numbers up to here survive every JSON reader


class Number(Field):
    """A number between `min` and `max`, both included."""

    type: Literal["number"] = "number"
    min: float = Setting(-_LARGEST, ge=-_LARGEST, le=_LARGEST, description="Smallest value.")
    max: float = Setting(_LARGEST, ge=-_LARGEST, le=_LARGEST, description="Largest value.")
    integer: bool = Setting(False, description="Only whole numbers.")
    tolerance: float = Setting(0, ge=0, description="Answers that differ by no more than this are the same.")

    @model_validator(mode="after")
    def _limits_in_order(self) -> "Number":
        if self.min > self.max:
            raise ValueError(_("min is above max."))
        return self

    def check(self, raw: object, beside: Values) -> int | float | None:
        """A finite number within the limits."""
        if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, float) and not isfinite(raw)):
            raise FieldError(_("Enter a number."))
        if not self.min <= raw <= self.max:
            raise FieldError(_("Enter a number from %(min)s to %(max)s.", min=f"{self.min:g}", max=f"{self.max:g}"))
        if not self.integer:
            return raw
        if raw != int(raw):
            raise FieldError(_("Enter a whole number."))
        return int(raw)

    def from_form(self, texts: Sequence[str]) -> object:
        """From decimal digits; other text goes on to be refused."""
        text = texts[0].strip() if texts else ""
        try:
            return (float(text) if set(text) & set(".eE") else int(text)) if text else None
        except ValueError:
            return text[:60]

    def number(self, value: object) -> int | float | None:
        """Return the number in a value or a model's text, within the limits or not; None for no number."""
        parsed = self.from_form([value]) if isinstance(value, str) else value
        if isinstance(parsed, bool) or not isinstance(parsed, int | float):
            return None
        return parsed if isfinite(parsed) else None

    def is_answer(self, value: object) -> bool:
        """Return whether it is a number; models may exceed the limits."""
        return self.number(value) is not None

    def same(self, first: Any, second: Any) -> bool:
        """Within the tolerance."""
        first_number, second_number = self.number(first), self.number(second)
        if first_number is None or second_number is None:
            return first_number is second_number
        return isclose(first_number, second_number, rel_tol=1e-9, abs_tol=self.tolerance)

    def in_words(self, value: Any) -> str:
        """The number as one writes it: no `.0` behind a whole one."""
        whole = isinstance(value, float) and abs(value) < 1e6 and value.is_integer()
        return f"{value:g}" if whole else super().in_words(value)

    def json_schema(self) -> JsonSchema:
        """The kind of number and its limits."""
        return {"type": "integer" if self.integer else "number", "minimum": self.min, "maximum": self.max}


_MOST = 21


class Rating(Number):
    """A whole number from `min` to `max`, each of which is a button; both ends may be named."""

    type: Literal["rating"] = "rating"  # type: ignore[assignment]
    min: float = Setting(1, ge=-1000, le=1000, description="Lowest mark, a whole number.")
    max: float = Setting(5, ge=-1000, le=1000, description="Highest mark, a whole number.")
    integer: Literal[True] = Setting(True, description="Ratings are whole numbers.")
    low: Line = Setting("", description="What the lowest mark means.")
    high: Line = Setting("", description="What the highest mark means.")

    missing: ClassVar[str] = _("Choose a rating.")

    @model_validator(mode="after")
    def _marks_fit(self) -> "Rating":
        if self.min != int(self.min) or self.max != int(self.max):
            raise ValueError(_("min and max of a rating must be whole numbers."))
        if not 2 <= self.max - self.min + 1 <= _MOST:
            raise ValueError(_("A rating has 2 to %(most)s levels.", most=_MOST))
        return self

    @property
    def marks(self) -> list[int]:
        """All marks from the lowest to the highest."""
        return list(range(int(self.min), int(self.max) + 1))

    def comparable(self) -> Sequence[str] | None:
        """The marks."""
        return [str(mark) for mark in self.marks]

    def samples(self) -> list[Any]:
        """All marks."""
        return self.marks


_STEPS = 10_000
EMPTY = "empty"


class Slider(Number):
    """A number from `min` to `max` in steps; without `start`, people have to move it."""

    type: Literal["slider"] = "slider"  # type: ignore[assignment]
    min: float = Setting(0, ge=-(2**53), le=2**53, description="Left end.")
    max: float = Setting(100, ge=-(2**53), le=2**53, description="Right end.")
    step: float = Setting(1, gt=0, description="Distance between two values; other numbers go to the nearest.")
    start: float | None = Setting(
        None, description="Where it stands at first, which then counts as an answer; without it people have to move it."
    )
    low: Line = Setting("", description="What the left end means.")
    high: Line = Setting("", description="What the right end means.")

    missing: ClassVar[str] = _("Move the slider, or press Space on it to keep the middle position.")

    @model_validator(mode="after")
    def _steps_fit(self) -> "Slider":
        if self.min >= self.max:
            raise ValueError(_("min must be below max."))
        if not 1 <= (self.max - self.min) / self.step <= _STEPS:
            raise ValueError(_("There must be 1 to %(steps)s steps between min and max.", steps=f"{_STEPS:,}"))
        if self.start is not None and not self.min <= self.start <= self.max:
            raise ValueError(_("start is outside min and max."))
        return self

    @property
    def whole(self) -> bool:
        """True where all its values are whole numbers."""
        return self.integer or (self.step == int(self.step) and self.min == int(self.min))

    def check(self, raw: object, beside: Values) -> int | float | None:
        """The value on the scale that is nearest to a number within the limits."""
        number = super().check(raw, beside)
        if number is None:
            return None
        if self.whole and number != int(number):
            raise FieldError(_("Enter a whole number."))
        steps = round((number - self.min) / self.step)
        steps -= self.min + steps * self.step > self.max + 1e-9 * self.step
        place = round(self.min + steps * self.step, 9)
        return int(place) if self.whole else place

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """The number, unless the box `name.empty` is ticked: without scripts a slider sends one in any case."""
        return None if posted.get(f"{name}.{EMPTY}") else super().read_form(posted, name)

    @property
    def middle(self) -> float:
        """The position of the handle before it is moved."""
        if self.start is not None:
            return self.start
        return self.min + self.step * round((self.max - self.min) / self.step / 2)

    def end(self, side: Literal["low", "high"]) -> str:
        """One end of the scale in words."""
        number, meaning = (self.min, self.low) if side == "low" else (self.max, self.high)
        return f"{self.in_words(number)} ({meaning})" if meaning else self.in_words(number)

    def json_schema(self) -> JsonSchema:
        """A number within the limits, whole where all values are."""
        return {**super().json_schema(), "type": "integer" if self.whole else "number"}

    def samples(self) -> list[Any]:
        """Both ends and the middle."""
        return [self.min, self.middle, self.max]


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
            raise UnfinishedValue(_("Also move these sliders: %(left)s.", left=", ".join(unmoved)))
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
        first_values, second_values = self.clean_answer(first), self.clean_answer(second)
        if first_values is None or second_values is None:
            return first_values is second_values
        return all(self.scale.same(first_values[value], second_values[value]) for value in self.values)

    def in_words(self, value: Any) -> str:
        """Each label with its number."""
        numbers = value if isinstance(value, dict) else self.clean_answer(value)
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
