"""Terms of a text as scikit-learn's vectorisers count them, each with the place that it stands at.

The names are scikit-learn's (`sklearn.feature_extraction.text`), whose counts, weights and norms these are.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

WORD = r"(?u)\b\w\w+\b"
_SPACE, _FILLED = re.compile(r"\s\s+"), re.compile(r"\S+")
_FLAGS = re.compile(r"\(\?[ui]+\)")
_PART = re.compile(
    r"(?P<atom>\\[bwWdDsS.'-]|\[\^?(?:\\.|[^\]\\])+\]|[^\\\[\](){}|+*?^$])(?P<times>[+*?]|\{\d{1,3}(?:,\d{0,3})?\})?"
)
WAYS = 100
"""In how many ways the bounded parts of a token pattern may match at one place."""

Span = tuple[int, int]


class Vectoriser(BaseModel):
    """The rule by which the texts of some fields, joined, become amounts of terms."""

    model_config = ConfigDict(extra="forbid")

    fields: list[str] = Field(min_length=1, max_length=8)
    separator: str = Field(" ", max_length=8, description="Stands between the fields' texts.")
    analyzer: Literal["word", "char", "char_wb"] = "word"
    ngrams: tuple[int, int] = Field((1, 1), description="The shortest and the longest n-grams.")
    lowercase: bool = True
    accents: Literal["ascii", "unicode"] | None = Field(None, description="Strip them, in one of two ways.")
    token_pattern: str = Field(WORD, max_length=200)
    stop_words: list[str] = Field([], max_length=10_000)
    binary: bool = Field(False, description="Whether a term is there, not how often.")
    sublinear_tf: bool = Field(False, description="1 + log of how often.")
    idf: bool = Field(False, description="Times the stored inverse document frequency.")
    norm: Literal["l1", "l2"] | None = None

    @field_validator("ngrams")
    @classmethod
    def _ordered(cls, ngrams: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= ngrams[0] <= ngrams[1] <= 15:
            raise ValueError("n-grams have 1 to 15 parts, the shortest first")
        return ngrams

    @field_validator("token_pattern")
    @classmethod
    def _quick(cls, pattern: str) -> str:
        check(pattern)
        return pattern


def check(pattern: str) -> None:
    """Raise ValueError for a token pattern that might take more than linear time on some text.

    Taken are rows of characters and classes, of which the last, alone, may repeat without bound; behind `\\w+` there
    may be a `\\b`, which never fails there.
    """
    rest = pattern[found.end() :] if (found := _FLAGS.match(pattern)) else pattern
    parts, at = [], 0
    while at < len(rest) and (part := _PART.match(rest, at)):
        parts.append(part)
        at = part.end()
    told = "a token pattern is a row of characters and classes such as [a-z], without groups and alternatives"
    if not parts or at < len(rest):
        raise ValueError(f"{told}; {rest[at:] or pattern!r} is not taken")
    try:
        re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise ValueError(f"the token pattern is none: {error}") from error
    if len(parts) > 1 and parts[-1].group() == r"\b" and parts[-2]["atom"] == r"\w":
        parts.pop()
    *before, _ = parts
    ways = math.prod(_ways(part["times"]) for part in before)
    if ways > WAYS:
        raise ValueError("only the last part of a token pattern may repeat without bound, the others {1,9} or so")


def _ways(times: str | None) -> float:
    if times is None:
        return 1
    if times in "+*" or times.endswith(",}"):
        return math.inf
    least, _, most = times.strip("{}").partition(",")
    return 2 if times == "?" else (int(most) - int(least) + 1 if most else 1)


def processed(text: str, how: Vectoriser) -> str:
    """The text that terms are looked for in."""
    text = text.lower() if how.lowercase else text
    if how.accents and not text.isascii():
        text = "".join(_bare(character, how) for character in text)
    return text if how.analyzer == "word" else _SPACE.sub(" ", text)


def origins(text: str, how: Vectoriser) -> list[int]:
    """For each character of the processed text the place of the one in `text` that it comes from."""
    places = list(range(len(text)))
    if how.lowercase:
        places = [at for at, character in enumerate(text) for _ in character.lower()]
        text = text.lower()
    if how.accents and not text.isascii():
        bare = [_bare(character, how) for character in text]
        places = [place for place, kept in zip(places, bare, strict=True) for _ in kept]
        text = "".join(bare)
    if how.analyzer != "word":
        dropped = {at for found in _SPACE.finditer(text) for at in range(found.start() + 1, found.end())}
        places = [place for at, place in enumerate(places) if at not in dropped]
    return places


def _bare(character: str, how: Vectoriser) -> str:
    parts = unicodedata.normalize("NFKD", character)
    if how.accents == "ascii":
        return parts.encode("ascii", "ignore").decode("ascii")
    return "".join(part for part in parts if not unicodedata.combining(part))


def occurrences(text: str, how: Vectoriser) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Every term of a processed text, with what it consists of."""
    shortest, longest = how.ngrams
    if how.analyzer == "char_wb":
        yield from chain.from_iterable(_within(found, shortest, longest) for found in _FILLED.finditer(text))
    elif how.analyzer == "char":
        for n in range(shortest, min(longest, len(text)) + 1):
            for at in range(len(text) - n + 1):
                yield text[at : at + n], ((at, at + n),)
    else:
        stopped = frozenset(how.stop_words)
        tokens = [found.span() for found in _compiled(how.token_pattern).finditer(text)]
        kept = [(text[start:end], (start, end)) for start, end in tokens if text[start:end] not in stopped]
        for n in range(shortest, min(longest, len(kept)) + 1):
            for at in range(len(kept) - n + 1):
                words, spans = zip(*kept[at : at + n], strict=True)
                yield " ".join(words), spans


def _within(found: re.Match[str], shortest: int, longest: int) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """N-grams of characters within a word that has a space at either end; a word shorter than n counts once."""
    start, end = found.span()
    padded = f" {found.group()} "
    for n in range(shortest, longest + 1):
        for at in range(max(1, len(padded) - n + 1)):
            first, last = max(start, start - 1 + at), min(end, start - 1 + at + n)
            yield padded[at : at + n], ((first, last) if first < last else (start, end),)
        if len(padded) <= n:
            break


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True)
class Terms:
    """A vectoriser with its vocabulary; `idf` has one entry a term, None where there is none."""

    how: Vectoriser
    column: Mapping[str, int]
    idf: NDArray[np.float64] | None

    def joined(self, inputs: Mapping[str, str]) -> str:
        """The text of the fields."""
        return self.how.separator.join(inputs[name] for name in self.how.fields)

    def counts(self, text: str) -> Counter[int]:
        """Return the number of occurrences of each known term in a text, by its column."""
        found = (self.column.get(term) for term, _ in occurrences(processed(text, self.how), self.how))
        return Counter(column for column in found if column is not None)

    def amounts(self, counts: Mapping[int, int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Columns (n,) and their amounts (n,)."""
        columns = np.fromiter(counts, np.int64, len(counts))
        values = np.fromiter(counts.values(), float, len(counts))
        if self.how.binary:
            values = np.ones(len(columns))
        if self.how.sublinear_tf:
            values = np.log(values) + 1
        if self.idf is not None:
            values = values * self.idf[columns]
        size = float(np.abs(values).sum() if self.how.norm == "l1" else np.sqrt((values**2).sum()))
        return columns, values / size if self.how.norm and size else values

    def shares(self, text: str, weights: NDArray[np.float64], owner: Sequence[int], sums: NDArray[np.float64]) -> None:
        """Add to `sums` (words,) what each word contributes when a term's amount is worth `weights` (terms,) each.

        `owner` has the word of each character of `text`. An occurrence of a term is split evenly among its words.
        """
        counts = self.counts(text)
        columns, amounts = self.amounts(counts)
        worth = {c: amount * weights[c] / counts[c] for c, amount in zip(columns.tolist(), amounts, strict=True)}
        place = origins(text, self.how)
        for term, spans in occurrences(processed(text, self.how), self.how):
            column = self.column.get(term)
            if column is not None:
                words = {owner[place[at]] for start, end in spans for at in range(start, end)} - {NOBODY}
                for word in words:
                    sums[word] += worth[column] / len(words)


NOBODY = -1
"""The owner of characters in a text without words."""
