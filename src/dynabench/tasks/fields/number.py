"""A number, whole or not."""

from collections.abc import Sequence
from math import isclose, isfinite
from typing import Any, Literal

from pydantic import model_validator

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
            raise ValueError("min is above max.")
        return self

    def check(self, raw: object, beside: Values) -> int | float | None:
        """A finite number within the limits."""
        if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, float) and not isfinite(raw)):
            raise FieldError("Enter a number.")
        if not self.min <= raw <= self.max:
            raise FieldError(f"Enter a number from {self.min:g} to {self.max:g}.")
        if not self.integer:
            return raw
        if raw != int(raw):
            raise FieldError("Enter a whole number.")
        return int(raw)

    def from_form(self, texts: Sequence[str]) -> object:
        """From decimal digits; other text goes on to be refused."""
        text = texts[0].strip() if texts else ""
        try:
            return (float(text) if set(text) & set(".eE") else int(text)) if text else None
        except ValueError:
            return text[:60]

    def same(self, first: Any, second: Any) -> bool:
        """Within the tolerance."""
        return isclose(first, second, rel_tol=1e-9, abs_tol=self.tolerance)

    def json_schema(self) -> JsonSchema:
        """The kind of number and its limits."""
        return {"type": "integer" if self.integer else "number", "minimum": self.min, "maximum": self.max}
