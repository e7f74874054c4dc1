"""Evidence for and against an answer found in a passage: numbers that a small classifier weighs."""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynabench.models.backends.spans import Span, ranked

NAMES = (
    *("log_probability", "lead", "strength", "answers", "words_found", "words_missing", "words_beside"),
    *("numbers_missing", "capitals_missing", "negation", "no_person", "no_time", "no_number", "length"),
)
STEM = 5
"""Words that begin with so many common letters count as one."""
SENTENCE = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"[\w'’-]+")
NEGATIONS = frozenset("not never no none neither nor without cannot".split())
NUMBERS = dict(
    zip(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        ).split(),
        range(21),
        strict=True,
    )
)
NUMBER = re.compile(rf"\d[\d,.]*\d|\d|\b(?:{'|'.join(NUMBERS)}|hundred|thousand|million|billion|half)\b", re.IGNORECASE)
SMALL = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been being do does did has have had can "
    "could will would should may might must that this these those it its their his her they he she what which who "
    "whom whose when where why how many much long old often there than then into about after before between during "
    "name called kind type sort one".split()
)


def of(question: str, passage: str, found: Sequence[Span], strength: float) -> NDArray[np.float64]:
    """The numbers of `NAMES` (14,) for the best of the answers that were `found`, of which there is at least one.

    `strength` is the highest sum of start and end logits.
    """
    (_, (chosen, *_)), *_ = texts = ranked(found)
    shares = [sum(span.probability for span in group) for _, group in texts]
    others = sorted(shares[1:], reverse=True)
    first = math.log(max(shares[0], 1e-9))
    beside = _sentence(passage, chosen)
    asked = _stems(question)
    known, near = _stems(passage), _stems(beside)
    lacking = [stem for stem in asked if stem not in known]
    opening = question.lower()
    return np.array(
        [
            first,
            first - math.log(max(others[0] if others else 0.0, 1e-9)),
            strength,
            -sum(share * math.log(share) for share in shares if share > 0),
            1 - len(lacking) / max(len(asked), 1),
            len(lacking),
            sum(stem in near for stem in asked) / max(len(asked), 1),
            sum(number not in passage for number in re.findall(r"\d+", question)),
            sum(word.lower()[:STEM] not in known for word in _capitals(question)),
            float(_negated(question) != _negated(beside)),
            float(bool(re.match(r"who|whom|whose", opening)) and not any(c.isupper() for c in chosen.text)),
            float(bool(re.search(r"\bwhen\b|what year|what date|what day", opening)) and not _timely(chosen.text)),
            float(bool(re.search(r"\bhow (?:many|much|old|long)\b", opening)) and not NUMBER.search(chosen.text)),
            math.log1p(len(chosen.text.split())),
        ]
    )


def found_share(question: str, passage: str) -> float:
    """The share of a question's words that the passage has, from 0 to 1."""
    asked, known = _stems(question), _stems(passage)
    return sum(stem in known for stem in asked) / max(len(asked), 1)


def _stems(text: str) -> frozenset[str]:
    said = (word.lower().removesuffix("'s").removesuffix("’s") for word in WORD.findall(text))
    return frozenset(word[:STEM] for word in said if word not in SMALL)


def _capitals(question: str) -> list[str]:
    return [word for word in WORD.findall(question)[1:] if word[:1].isupper()]


def _negated(text: str) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in WORD.findall(text.lower()))


def _timely(text: str) -> bool:
    return bool(re.search(r"\d|day|month|year|century|decade|spring|summer|autumn|fall|winter|war", text.lower()))


def _sentence(passage: str, chosen: Span) -> str:
    """The sentence in which an answer begins."""
    ends = [match.end() for match in SENTENCE.finditer(passage)]
    start = max((end for end in ends if end <= chosen.start), default=0)
    return passage[start : min((end for end in ends if end > chosen.start), default=len(passage))]
