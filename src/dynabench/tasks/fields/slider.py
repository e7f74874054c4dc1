"""A number that is set by a slider."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import FieldError, JsonSchema, Values
from dynabench.tasks.fields.number import Number
from dynabench.tasks.section import Line, Setting

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
