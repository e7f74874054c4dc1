"""An edit of a text that the annotator is given."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import NOTHING, Values
from dynabench.tasks.fields.text import Text
from dynabench.tasks.section import Name, Setting
from dynabench.tasks.words import DiffPiece, word_differences


class EditField(Text):
    """The text of the field `of` after an edit: stored whole, shown as a difference."""

    type: Literal["edit"] = "edit"  # type: ignore[assignment]
    of: Name = Setting(description="Name of the text field that is edited.")
    unchanged: Literal["refused", "allowed"] = Setting(
        "refused", description="Whether the text may stay as it is; where the field is optional, that leaves it empty."
    )
    max_length: int = Setting(10_000, ge=1, le=100_000, description="Most characters (code points).")
    multiline: bool = Setting(True, description="Line breaks and tabs are allowed, and the field is drawn taller.")

    missing: ClassVar[str] = _("Change the text: it is still the original.")
    brief: ClassVar[bool] = False

    def check(self, raw: object, beside: Mapping[str, object] = NOTHING) -> str | None:
        """Return the normalised text; None for an unchanged text where that is refused."""
        text = super().check(raw, beside)
        return None if self.unchanged == "refused" and text == self.given(beside) else text

    def given(self, beside: Values) -> str | None:
        """Return the text to be edited, None where it is not known."""
        text = beside.get(self.of)
        return text if isinstance(text, str) else None

    def pieces(self, beside: Values, value: object) -> tuple[DiffPiece, ...]:
        """Return the kept, removed and added pieces; the text alone where the original is not known."""
        text, original = value if isinstance(value, str) else "", self.given(beside)
        return word_differences(original, text) if original is not None else (DiffPiece("same", text),)
