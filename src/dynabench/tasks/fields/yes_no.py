"""A yes-or-no question."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values


class YesNo(Field):
    """True for yes, false for no."""

    type: Literal["yes_no"] = "yes_no"

    missing: ClassVar[str] = "Choose yes or no."

    def check(self, raw: object, beside: Values) -> bool | None:
        """A boolean."""
        if not isinstance(raw, bool):
            raise FieldError(self.missing)
        return raw

    def in_words(self, value: object) -> str:
        """Yes or no."""
        return {True: "yes", False: "no"}.get(value, "") if isinstance(value, bool) else ""

    def from_form(self, texts: Sequence[str]) -> object:
        """From the posted `yes` or `no`."""
        return {"yes": True, "no": False, "": None}.get(texts[0], texts[0]) if texts else None

    def json_schema(self) -> JsonSchema:
        """A boolean."""
        return {"type": "boolean"}
