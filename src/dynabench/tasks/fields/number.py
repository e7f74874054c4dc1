"""A number, whole or not."""

from collections.abc import Sequence
from math import isclose, isfinite
from typing import Any, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Setting

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
