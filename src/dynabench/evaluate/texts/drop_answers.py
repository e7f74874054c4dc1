"""Answers of one or several parts, with numbers among them: DROP's comparison of two answers.

Source: Dua et al., DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs, NAACL
2019, section 5, with its evaluation script.
"""

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from dynabench.evaluate.columns import Column, as_list

SEPARATOR = ";"
PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = frozenset(("a", "an", "the"))
TOKEN = re.compile(r" |-")
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
SPELT = {word: str(number) for number, word in enumerate(WORDS.split())}


class AnswerPart(NamedTuple):
    """One part of an answer: its words without repetition, and the numbers among them."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]


Parts = tuple[str, ...]


class MultiPartAnswers(Column):
    """For each question an answer: a text with parts separated by semicolons, or the list of its parts."""

    dtype = "string or list of strings"
    text = "answer to each question: a text, its parts separated by semicolons, or a list of its parts"

    def clean(self, values: Any, name: str) -> list[Parts]:
        """Return the parts of each answer. Raises ValueError for anything but texts."""
        return [_parts(item, f"{name}: row {row}") for row, item in enumerate(as_list(values, name))]


class RightMultiPartAnswers(MultiPartAnswers):
    """For each question the right answers, of which the nearest counts: a list of them, or one text."""

    dtype = "string, or list of strings or of lists of strings"
    text = "right answers to each question, each a text or a list of its parts; or one text"

    def clean(self, values: Any, name: str) -> list[tuple[Parts, ...]]:  # type: ignore[override]
        """Return the right answers. Raises ValueError for a question without any."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(as_list(values, name))]

    def _row(self, item: Any, where: str) -> tuple[Parts, ...]:
        answers = [item] if isinstance(item, str) else item
        if not isinstance(answers, Sequence | np.ndarray) or not len(answers):
            raise ValueError(f"{where} is {item!r}; give a text or a list of right answers, one at least")
        return tuple(_parts(answer, where) for answer in answers)


def _parts(item: Any, where: str) -> Parts:
    if isinstance(item, str):
        parts = tuple(part.strip() for part in item.split(SEPARATOR) if part.strip())
        return parts or (item.strip(),)
    if not isinstance(item, Sequence) or not all(isinstance(part, str) for part in item):
        raise ValueError(f"{where} has the answer {item!r}; give a text or a list of texts")
    return tuple(item) or ("",)


@lru_cache(1 << 16)  # reference answers repeat
def parse_part(text: str, spelt: bool) -> AnswerPart:
    """Return a part of an answer as it is compared: lower case, no punctuation, no articles, numbers as numbers.

    With `spelt`, English words from zero to twenty are numbers, too.
    """
    words = [word for token in TOKEN.split(text) if (word := _word(token, spelt))]
    joined = " ".join(words)
    word_set = frozenset(joined.split())
    return AnswerPart(joined, word_set, frozenset(filter(_is_number, word_set)))


def _word(token: str, spelt: bool) -> str:
    low = token.lower()
    bare = low if _is_number(low) else low.translate(PUNCTUATION)
    if spelt:
        bare = SPELT.get(bare.strip(), bare)
    if _is_number(bare):
        bare = str(float(bare))
    return " ".join(word for word in bare.split() if word not in ARTICLES)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def compare_answers(predicted: Parts, right: Parts, spelt: bool) -> tuple[float, float]:
    """Return whether two answers are equal, and the mean F1 of their parts, paired so that it is highest."""
    ours, theirs = [parse_part(part, spelt) for part in predicted], [parse_part(part, spelt) for part in right]
    same = {part.text for part in ours} == {part.text for part in theirs} and len(ours) == len(theirs)
    table = np.array([[_f1(our_part, other) for other in theirs] for our_part in ours])
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    return float(same), float(best) / max(len(ours), len(theirs))


def _f1(predicted: AnswerPart, right: AnswerPart) -> float:
    """F1 of the words of two parts; 0 where the right one has numbers of which none was said."""
    if right.numbers and not right.numbers & predicted.numbers:
        return 0.0
    common = len(predicted.words & right.words)
    precision = common / len(predicted.words) if predicted.words else 1.0
    recall = common / len(right.words) if right.words else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
