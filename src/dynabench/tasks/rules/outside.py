"""Fooled when a number is too far off."""

from math import inf, isfinite
from typing import Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field
from dynabench.tasks.fields.number import Number
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Setting


class OutsideRule(Rule):
    """A number outside of a tolerance around the claimed one, absolute or relative to its size.

    Relative to 0 everything but 0 is too far. ChartQA's relaxed accuracy (Masry et al. 2022) is
    `tolerance: 0.05, relative: true`.
    """

    rule: Literal["outside"] = Setting("outside", description="Fooled when a number is too far off.")
    tolerance: float = Setting(ge=0, le=2**53, description="How far off an answer may be; just so far is still right.")
    relative: bool = Setting(False, description="The tolerance is a share of the claimed number's size.")

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The distance is above the tolerance; what is no number is too far."""
        allowed = self.tolerance * (abs(claimed) if self.relative and _number(claimed) else 1)
        slack = 1e-12 * max((abs(value) for value in (predicted, claimed) if _number(value)), default=0)
        return _distance(predicted, claimed) > allowed + slack

    def unfit(self, field: Field) -> str:
        """Answers must be numbers."""
        return "" if isinstance(field, Number) else _("“outside” compares numbers. Name the number fields in fields.")

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        allowed = f"{self.tolerance * 100:g} %" if self.relative else f"{self.tolerance:g}"
        return _("An answer is right if it is no more than %(allowed)s off an accepted one.", allowed=allowed)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _distance(first: Any, second: Any) -> float:
    return abs(first - second) if _number(first) and _number(second) else inf
