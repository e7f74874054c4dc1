"""Rules that compare an answer exactly: an expression in it, its words, or a number within a tolerance."""

import re
from functools import lru_cache
from math import inf, isfinite
from typing import Any, Literal

import regex
from pydantic import ValidationInfo, field_validator

from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field
from dynabench.tasks.fields.number import Number
from dynabench.tasks.rules.base import Rule, Unclaimed
from dynabench.tasks.section import Setting
from dynabench.tasks.words import answer_words, texts_of

SECONDS = 0.2
"""Processor time of one search; a pattern that needs more on 2,000 characters of a kind that it names is refused."""
PROBE = 2_000  # characters


class Matches(Unclaimed):
    """A regular expression is found in the model's answer, such as a word that it must never say; or is not found.

    The syntax is that of the `regex` package, a superset of Python's `re`. The claimed answer does not matter.
    """

    rule: Literal["matches"] = Setting("matches", description="Fooled when the answer matches a regular expression.")
    pattern: str = Setting(min_length=1, max_length=500, description="Regular expression; found anywhere in the text.")
    found: bool = Setting(True, description="Fooled when it is found; with false, when it is not.")
    ignore_case: bool = Setting(False, description="Upper and lower case are the same.")

    @field_validator("pattern")
    @classmethod
    def _quick(cls, pattern: str, info: ValidationInfo) -> str:
        try:
            _compiled(pattern)
        except (regex.error, RecursionError, OverflowError) as error:
            raise ValueError(_("This is not a regular expression: %(error)s.", error=error)) from None
        if not (info.context or {}).get("stored"):
            _probe(pattern)
        return pattern

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The pattern is found in one of the answer's texts. Raises Unavailable where looking for it takes too long."""
        return self.found == any(self._in(text) for text in texts_of(predicted))

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _(
            "An answer is right if %(pattern)s is %(value)sfound in it.",
            pattern=repr(self.pattern),
            value="not " if self.found else "",
        )

    def _in(self, text: str) -> bool:
        try:
            return _compiled(self.pattern, self.ignore_case).search(text, timeout=SECONDS, concurrent=True) is not None
        except TimeoutError:
            raise Unavailable(_("The task's pattern takes too long on this answer. Tell the task's owner.")) from None


@lru_cache(maxsize=200)
def _compiled(pattern: str, ignore_case: bool = False) -> "regex.Pattern[str]":
    return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)


@lru_cache(maxsize=200)
def _probe(pattern: str) -> None:
    """Raise ValueError for a pattern that takes too long: one that tries without end shows it on many of what it
    repeats. Only success is remembered, since on a busy machine an honest pattern may need more than its time."""
    compiled = _compiled(pattern)
    units = [*"a0 .-\n", *dict.fromkeys(re.findall(r"[^\W_]", pattern)), *re.findall(r"[^\W_]{2,}", pattern)]
    for unit in units[:60]:
        try:
            compiled.search(unit * (PROBE // len(unit)) + "\N{DEL}", timeout=SECONDS, concurrent=True)
        except TimeoutError:
            raise ValueError(_("This pattern can be very slow on long texts: avoid nested repetition.")) from None


class NotIn(Rule):
    """The answer is none of the claimed ones by exact match as in SQuAD (Rajpurkar et al. 2016, section 6.1): case,
    articles and punctuation aside."""

    rule: Literal["not_in"] = Setting("not_in", description="Fooled when the answer is none of the claimed ones.")

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The words of the answer are those of none."""
        accepted = {tuple(answer_words(claim)) for claim in texts_of(claimed)}
        return all(tuple(answer_words(answer)) not in accepted for answer in texts_of(predicted))

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _(
            "An answer is right if it contains the words of an accepted one, ignoring case, articles and punctuation."
        )


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
        distance = abs(predicted - claimed) if _number(predicted) and _number(claimed) else inf
        return distance > allowed + slack

    def unfit(self, field: Field) -> str:
        """Answers must be numbers."""
        return "" if isinstance(field, Number) else _("“outside” compares numbers. List the number fields in fields.")

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        allowed = f"{self.tolerance * 100:g} %" if self.relative else f"{self.tolerance:g}"
        return _("An answer is right if it differs from an accepted one by at most %(allowed)s.", allowed=allowed)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
