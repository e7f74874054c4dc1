"""Fooled when the answer has what a pattern looks for."""

import re
from functools import lru_cache
from typing import Any, Literal

import regex
from pydantic import ValidationInfo, field_validator

from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.tasks.answer_words import texts_of
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Unclaimed
from dynabench.tasks.section import Setting

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
            raise ValueError(_("This is no regular expression: %(error)s.", error=error)) from None
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
            raise Unavailable(
                _("The task's pattern takes too long on this answer. Tell the owner of the task.")
            ) from None


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
            raise ValueError(
                _("This pattern tries too many ways on a long text: avoid repetition inside of a repetition.")
            ) from None
