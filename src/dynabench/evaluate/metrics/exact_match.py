"""Exact match of texts."""

import re
import string
from collections.abc import Callable, Sequence

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class ExactMatch(Metric):
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
