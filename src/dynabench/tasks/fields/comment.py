"""A comment: free text, usually optional."""

from typing import Any, ClassVar, Literal

from dynabench.tasks.fields.text import Text
from dynabench.tasks.section import Setting


class Comment(Text):
    """Text over several lines that is optional unless `required`."""

    type: Literal["comment"] = "comment"  # type: ignore[assignment]
    required: bool = Setting(False, description="Comments are optional unless this is true.")
    max_length: int = Setting(5000, ge=1, le=100_000, description="Most characters (code points).")
    multiline: bool = Setting(True, description="Line breaks and tabs are allowed, and the field is drawn taller.")

    brief: ClassVar[bool] = False

    def samples(self) -> list[Any]:
        """None: a comment may stay empty."""
        return []
