"""Exact match of texts."""

import re
import string
from collections.abc import Callable, Sequence

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class ExactMatch(Metric):
    """The share of texts that equal their reference."""

    card = Card(
        description=N_(
            "The share of predicted texts that equal the reference, after taking out what is to be ignored: first "
            "the regular expressions, then case, punctuation and digits."
        ),
        formula=r"\frac{1}{n} \sum_i [\hat y_i = y_i]",
        inputs={"predictions": "predicted texts", "references": "right texts"},
        options={
            "regexes_to_ignore": "list of regular expressions; what they match is taken out, in this order",
            "ignore_case": "True makes all lower case",
            "ignore_punctuation": "True takes out ASCII punctuation",
            "ignore_numbers": "True takes out the digits 0 to 9",
        },
        outputs=(Output("exact_match", "share of equal texts", 0, 1, "higher"),),
        examples=(
            Example(
                "One of four as they are",
                {
                    "predictions": ["cat?", "theater", "yelling", "agent"],
                    "references": ["the cat", "theater", "YELLING", "agent007"],
                },
                {"exact_match": 0.25},
            ),
            Example(
                "All four when enough is ignored",
                {
                    "predictions": ["cat?", "theater", "yelling", "agent"],
                    "references": ["the cat", "theater", "YELLING", "agent007"],
                },
                {"exact_match": 1.0},
                {
                    "regexes_to_ignore": ["the ", "yell", "YELL"],
                    "ignore_case": True,
                    "ignore_punctuation": True,
                    "ignore_numbers": True,
                },
            ),
            Example(
                "Nothing is left of two different numbers",
                {"predictions": ["12", "7"], "references": ["34", "7"]},
                {"exact_match": 0.5},
                {"ignore_numbers": True},
            ),
            Example(
                "An expression that is none",
                {"predictions": ["a"], "references": ["a"]},
                options={"regexes_to_ignore": ["("]},
                error="'(' is no regular expression",
            ),
        ),
        limits=(
            "All or nothing: a right answer in other words counts as wrong. White space always counts. Texts of "
            "which nothing is left match only where they were equal before. Only ASCII punctuation and digits are "
            "known to the options; use regexes_to_ignore for others."
        ),
        citation=(
            "Rajpurkar, Zhang, Lopyrev and Liang, SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
            "EMNLP 2016."
        ),
        tasks=("question-answering", "text-generation"),
    )
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
        """Whether each row matches."""
        equal = same(predictions, references)
        taken = string.punctuation * ignore_punctuation + string.digits * ignore_numbers
        if not (regexes_to_ignore or ignore_case or taken):
            return Sums(equal)
        bare = _stripper(regexes_to_ignore or (), ignore_case, taken)
        for row in np.flatnonzero(~equal):
            left = bare(predictions[row])
            equal[row] = left != "" and left == bare(references[row])
        return Sums(equal)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Matches / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}


def _stripper(expressions: Sequence[str], ignore_case: bool, taken: str) -> Callable[[str], str]:
    if isinstance(expressions, str):
        raise ValueError("regexes_to_ignore: give a list of regular expressions, not one text")
    patterns = [_compiled(one) for one in expressions]
    table = str.maketrans("", "", taken)

    def bare(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub("", text)
        return (text.lower() if ignore_case else text).translate(table)

    return bare


def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except (re.error, TypeError) as problem:
        raise ValueError(f"regexes_to_ignore: {expression!r} is no regular expression ({problem})") from None
