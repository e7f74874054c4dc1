"""One of a fixed list of options."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import FieldError, JsonSchema, Values
from dynabench.tasks.fields.options import Option, OptionsField
from dynabench.tasks.section import Setting

__all__ = ["Choice", "Option"]


class Choice(OptionsField):
    """One of `options`; an answer's `goal` says whether annotators are assigned a value or choose one."""

    type: Literal["choice"] = "choice"
    goal: Literal["assigned", "chosen"] = Setting(
        "chosen", description="For answers: the annotator is assigned the value, or chooses it."
    )

    missing: ClassVar[str] = _("Choose one of the options.")
    no_answer: ClassVar[str] = "is none of the task's options"

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
        """Return the checked radio button; a list, which is refused, if a client sends several."""
        return list(texts) if len(texts) > 1 else super().from_form(texts)

    def from_text(self, text: str) -> object:
        """The text itself."""
        return text

    def is_answer(self, value: object) -> bool:
        """Return whether it is the value of an option."""
        return value in self.values

    def json_schema(self) -> JsonSchema:
        """The values, as an enumeration."""
        return {"enum": self.values}
