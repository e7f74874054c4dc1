"""A statement that people agree to by a tick."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import StringConstraints

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Setting


class Consent(Field):
    """True where the person ticked the box. Where it is required, the form cannot be sent without the tick."""

    type: Literal["consent"] = "consent"
    statement: Annotated[str, StringConstraints(max_length=5000)] = Setting(
        "", description="What people agree to, above the box; the label stands beside it."
    )

    missing: ClassVar[str] = _("Tick this box to continue.")

    def check(self, raw: object, beside: Values) -> bool | None:
        """True; false is the same as nothing."""
        if not isinstance(raw, bool):
            raise FieldError(self.missing)
        return raw or None

    def from_form(self, texts: Sequence[str]) -> object:
        """From the posted `yes`; an open box posts nothing."""
        return (
            {"yes": True, "true": True, "no": False, "false": False, "": None}.get(texts[0], texts[0][:60])
            if texts
            else None
        )

    def same(self, first: Any, second: Any) -> bool:
        """Both agree, or neither does."""
        return self.said(first) is self.said(second)

    def in_words(self, value: Any) -> str:
        """Agreed, or nothing."""
        return "agreed" if value is True else ""

    def comparable(self) -> Sequence[str] | None:
        """A tick is `yes`."""
        return ["yes"]

    def samples(self) -> list[Any]:
        """The tick."""
        return [True]

    def json_schema(self) -> JsonSchema:
        """True."""
        return {"const": True, "type": "boolean"}
