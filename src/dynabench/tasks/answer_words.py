"""Words of answers, and the share of words in common."""

import re
import string
from collections import Counter
from typing import Any


def word_f1(predicted: str, claimed: str) -> float:
    """Return F1 over the words of two answers, from 0 to 1, as SQuAD defines it (Rajpurkar et al. 2016, section 6.1).

    Lower case, without ASCII punctuation and English articles; two answers without words are equal.
    """
    first, second = answer_words(predicted), answer_words(claimed)
    if not first or not second:
        return float(first == second)
    common = sum((Counter(first) & Counter(second)).values())
    return 2 * common / (len(first) + len(second))


def answer_words(text: str) -> list[str]:
    """Return the words of an answer that count: lower case, without ASCII punctuation and English articles."""
    bare = text.casefold().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def texts_of(value: Any) -> list[str]:
    """Return an answer as texts: itself, the members of a list, or the text of each span.

    No answer gives [].
    """
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    return [str(item["text"]) if isinstance(item, dict) and "text" in item else str(item) for item in items]
