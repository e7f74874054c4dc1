"""Exact match of texts, and of mathematical answers.

After the rules by which the MATH data set compares answers: Hendrycks et al., Measuring Mathematical Problem Solving
With the MATH Dataset, NeurIPS Datasets and Benchmarks 2021.
"""

import re
import string
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio


class ExactMatch(Metric, name="exact_match"):
    """The share of texts that equal their reference."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(
        self,
        predictions: list[str],
        references: list[str],
        *,
        regexes_to_ignore: Sequence[str] | None = None,
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
    ) -> Sums:
        """Return for each row whether prediction and reference match."""
        equal = same(predictions, references)
        ignored = string.punctuation * ignore_punctuation + string.digits * ignore_numbers
        if not (regexes_to_ignore or ignore_case or ignored):
            return Sums(equal)
        strip_ignored = _stripper(regexes_to_ignore or (), ignore_case, ignored)
        for row in np.flatnonzero(~equal):
            stripped = strip_ignored(predictions[row])
            equal[row] = stripped != "" and stripped == strip_ignored(references[row])
        return Sums(equal)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Matches / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}


def _stripper(expressions: Sequence[str], ignore_case: bool, ignored: str) -> Callable[[str], str]:
    if isinstance(expressions, str):
        raise ValueError("regexes_to_ignore: give a list of regular expressions, not one text")
    patterns = [_compile(expression) for expression in expressions]
    table = str.maketrans("", "", ignored)

    def strip_ignored(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub("", text)
        return (text.lower() if ignore_case else text).translate(table)

    return strip_ignored


def _compile(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except (re.error, TypeError) as problem:
        raise ValueError(f"regexes_to_ignore: {expression!r} is no regular expression ({problem})") from None


GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
BARE = r"\\[a-zA-Z]+|[^{\\\s]"  # an argument without braces: one command or one character

# In this order: what is taken away or written in its long form.
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\n|\\!", ""),
        (r"\\\\", r"\\"),
        (r"\\[td]frac", r"\\frac"),
        (r"\\(left|right)(?![a-zA-Z])", ""),
        (r"\^(\{\\circ\}|\\circ)", ""),  # degrees
        (r"\\?\$", ""),
        (r"\\text\{ .*", ""),  # units on the right
        (r"\\?%", ""),
        (r"(?<!\d)\.(?=\d)", "0."),
        (r"^\s*[A-Za-z]{1,2}\s*=(?=[^=]*$)", ""),  # "k = 5"
        (rf"\\sqrt(?!\[)\s*({BARE})", r"\\sqrt{\g<1>}"),
        (rf"\\frac\s*({BARE})", r"\\frac{\g<1>}"),
        (rf"(\\frac{GROUP})\s*({BARE})", r"\g<1>{\g<2>}"),
        (r"\s", ""),
        (r"^0\.5$", r"\\frac{1}{2}"),
        (r"^(-?\d+)/(-?\d+)$", r"\\frac{\g<1>}{\g<2>}"),
    )
)


def canonical_answer(answer: str) -> str:
    """Return the answer without what does not change its value; equal texts are equal answers, others may still be."""
    for pattern, replacement in RULES:
        answer = pattern.sub(replacement, answer)
    return answer


class CompetitionMath(Metric, name="competition_math"):
    """The share of mathematical answers that equal the right one after normalising their LaTeX."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Return for each row whether its answer is right."""
        canonical_form = lru_cache(1 << 20)(canonical_answer)
        pairs = zip(predictions, references, strict=True)
        return Sums(
            np.array(
                [predicted == true or canonical_form(predicted) == canonical_form(true) for predicted, true in pairs],
                bool,
            )
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Right answers / rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1])}
