"""A whole number on a short scale."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.number import Number
from dynabench.tasks.section import Line, Setting

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
