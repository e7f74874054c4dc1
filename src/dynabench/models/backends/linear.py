"""Linear models over counted terms, as scikit-learn fits them, without pickle and without scikit-learn."""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends.base import Alone, check_explained, exact_attribution, label_contrast, softmax
from dynabench.models.protocol import Attribution, Inputs, ModelCard, ModelOutput
from dynabench.models.words import Word, words

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
        check_pattern(pattern)
        return pattern


def check_pattern(pattern: str) -> None:
    """Raise ValueError for a token pattern that might take more than linear time on some text.

    Taken are rows of characters and classes, of which the last, alone, may repeat without bound; behind `\\w+` there
    may be a `\\b`, which never fails there.
    """
    rest = pattern[flags.end() :] if (flags := _FLAGS.match(pattern)) else pattern
    parts, at = [], 0
    while at < len(rest) and (part := _PART.match(rest, at)):
        parts.append(part)
        at = part.end()
    rule = "a token pattern is a row of characters and classes such as [a-z], without groups and alternatives"
    if not parts or at < len(rest):
        raise ValueError(f"{rule}; {rest[at:] or pattern!r} is not taken")
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
        places = [place for place, replacement in zip(places, bare, strict=True) for _ in replacement]
        text = "".join(bare)
    if how.analyzer != "word":
        dropped = {at for gap in _SPACE.finditer(text) for at in range(gap.start() + 1, gap.end())}
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
        yield from chain.from_iterable(_within(match, shortest, longest) for match in _FILLED.finditer(text))
    elif how.analyzer == "char":
        for n in range(shortest, min(longest, len(text)) + 1):
            for at in range(len(text) - n + 1):
                yield text[at : at + n], ((at, at + n),)
    else:
        stopped = frozenset(how.stop_words)
        tokens = [match.span() for match in _compiled(how.token_pattern).finditer(text)]
        kept_tokens = [(text[start:end], (start, end)) for start, end in tokens if text[start:end] not in stopped]
        for n in range(shortest, min(longest, len(kept_tokens)) + 1):
            for at in range(len(kept_tokens) - n + 1):
                words, spans = zip(*kept_tokens[at : at + n], strict=True)
                yield " ".join(words), spans


def _within(match: re.Match[str], shortest: int, longest: int) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """N-grams of characters within a word that has a space at either end; a word shorter than n counts once."""
    start, end = match.span()
    padded = f" {match.group()} "
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
        columns = (self.column.get(term) for term, _ in occurrences(processed(text, self.how), self.how))
        return Counter(column for column in columns if column is not None)

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


WEIGHTS, TERMS = "linear.safetensors", "terms.json"

Array = NDArray[np.float64]


class LinearOptions(BaseModel):
    """Options of a linear model: how it reads texts and how it answers."""

    model_config = ConfigDict(extra="forbid")

    vectorisers: list[Vectoriser] = Field(min_length=1, max_length=16)
    probabilities: Literal["softmax", "logistic", "huber", "none"] = Field(
        "none",
        description="From decisions to probabilities: softmax of several labels, logistic of each against the rest, "
        "modified Huber's, or none, where a model such as a support vector machine has none.",
    )


class LinearModel(Alone):
    """`decisions = amounts @ weights + intercept`; the label with the largest decision is the answer."""

    def __init__(
        self, card: ModelCard, options: LinearOptions, terms: Sequence[Terms], weights: Array, intercept: Array
    ) -> None:
        super().__init__(card)
        self._options, self._terms, self._weights, self._intercept = options, terms, weights, intercept
        self._first = [0, *accumulate(len(vectoriser_terms.column) for vectoriser_terms in terms)]
        k = len(card.labels)
        self._sides = np.array([[-1.0, 1.0]]) if len(intercept) == 1 else np.eye(k)
        """Of two labels, what speaks for the second speaks against the first; shape (K, labels)."""

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder; raises `Invalid` when it is broken."""
        details, card = spec.read(folder), spec.card(folder)
        options = LinearOptions.model_validate(details.options)
        strangers = sorted(
            {name for vectoriser in options.vectorisers for name in vectoriser.fields} - set(card.inputs)
        )
        if strangers:
            raise Invalid({"options.vectorisers": f"{', '.join(strangers)} are no inputs of the model."})
        listed, arrays = _terms(folder / TERMS, len(options.vectorisers)), _arrays(folder / WEIGHTS)
        terms = [
            Terms(how, {term: at for at, term in enumerate(own)}, arrays.get(f"idf.{number}") if how.idf else None)
            for number, (how, own) in enumerate(zip(options.vectorisers, listed, strict=True))
        ]
        weights, intercept = arrays.get("weights", np.zeros(0)), arrays.get("intercept", np.zeros(0))
        _check(card, options, listed, arrays)
        return cls(card, options, terms, weights, intercept)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return [self._make_output(self.decisions(self.prepare(inputs).inputs)) for inputs in batch]

    def decisions(self, inputs: Inputs) -> Array:
        """Return how strongly the model favours each label, shape (labels,)."""
        sums = self._intercept.copy()
        for first, terms in zip(self._first, self._terms, strict=False):
            columns, amounts = terms.amounts(terms.counts(terms.joined(inputs)))
            sums += amounts @ self._weights[first + columns]
        return np.asarray(sums @ self._sides)

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Each word's share of the label's decision minus the mean of the other labels' decisions.

        The baseline is a text without terms, where only the intercept speaks; the shares add up exactly, but for terms
        of space alone in a text without any word.
        """
        check_explained(self.card, label, method)
        texts = self.prepare(inputs).inputs
        contrast = label_contrast(self.card, label)
        words_by_field = {name: list(words(texts[name])) for name in self.card.inputs}
        sums = np.zeros(sum(map(len, words_by_field.values())))
        worth = self._weights @ (self._sides @ contrast)
        for first, last, terms in zip(self._first, self._first[1:], self._terms, strict=False):
            owner = _owners(terms, texts, words_by_field)
            terms.shares(terms.joined(texts), worth[first:last], owner, sums)
        difference = float((self.decisions(texts) - self._intercept @ self._sides) @ contrast)
        return exact_attribution(label, words_by_field, sums, difference)

    def _make_output(self, decisions: Array) -> ModelOutput:
        answer = {self.card.answer: self.card.labels[int(np.argmax(decisions))]}
        probabilities = _probabilities(decisions, self._options.probabilities)
        if probabilities is None:
            return ModelOutput(answer)
        return ModelOutput(
            answer, {label: round(float(p), 6) for label, p in zip(self.card.labels, probabilities, strict=True)}
        )


def _probabilities(decisions: Array, how: str) -> Array | None:
    """As scikit-learn has them: of labels told apart one against the rest, each label's probability, made to sum to 1
    (Zadrozny and Elkan, KDD 2002), even where all are 0.
    """
    if how == "none":
        return None
    if how == "softmax":
        return softmax(decisions)
    shares = (np.clip(decisions, -1, 1) + 1) / 2 if how == "huber" else np.exp(-np.logaddexp(0, -decisions))
    total = shares.sum()
    return np.asarray(shares / total) if total else np.full(len(shares), 1 / len(shares))


def _terms(path: Path, count: int) -> list[list[str]]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid({TERMS: f"It cannot be read: {error}"}) from error
    fits = isinstance(listed, list) and len(listed) == count and all(isinstance(own, list) for own in listed)
    if not fits or not all(isinstance(term, str) for own in listed for term in own):
        raise Invalid({TERMS: f"It is a list with {count} lists of terms, one for each vectoriser."})
    if any(len(set(own)) < len(own) for own in listed):
        raise Invalid({TERMS: "A term is listed twice."})
    return listed  # type: ignore[no-any-return]


def _arrays(path: Path) -> dict[str, Array]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return {name: np.asarray(array, float) for name, array in load_file(path).items()}
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise Invalid({WEIGHTS: f"It cannot be read: {error}"}) from error


def _check(card: ModelCard, options: LinearOptions, listed: Sequence[Sequence[str]], arrays: dict[str, Array]) -> None:
    """Raise `Invalid` where arrays lack, are of another shape than terms and labels ask for, or hold no numbers."""
    k = len(card.labels)
    alone = k == 2 and "intercept" in arrays and arrays["intercept"].shape == (1,)
    shapes: dict[str, tuple[int, ...]] = {"weights": (sum(map(len, listed)), 1 if alone else k)}
    shapes["intercept"] = shapes["weights"][1:]
    for number, (how, own) in enumerate(zip(options.vectorisers, listed, strict=True)):
        shapes |= {f"idf.{number}": (len(own),)} if how.idf else {}
    for name, shape in shapes.items():
        actual_shape = arrays[name].shape if name in arrays else "nothing"
        if actual_shape != shape:
            raise Invalid({WEIGHTS: f"{name} is {actual_shape} where {shape} is needed."})
        if not np.isfinite(arrays[name]).all():
            raise Invalid({WEIGHTS: f"{name} holds what is no number (NaN or infinite)."})


def _owners(terms: Terms, texts: Inputs, words_by_field: dict[str, list[Word]]) -> list[int]:
    """The word of each character of the joined text, counted over all fields; space goes to the word before it."""
    offset = dict(zip(words_by_field, accumulate(map(len, words_by_field.values()), initial=0), strict=False))
    owner: list[int] = []
    for name in terms.how.fields:
        if name != terms.how.fields[0]:
            owner += [NOBODY] * len(terms.how.separator)
        start = len(owner)
        owner += [NOBODY] * len(texts[name])
        for number, word in enumerate(words_by_field[name], offset[name]):
            owner[start + word.start : start + word.end] = [number] * (word.end - word.start)
    last_word = next((number for number in owner if number != NOBODY), NOBODY)
    for at, number in enumerate(owner):
        last_word = last_word if number == NOBODY else number
        owner[at] = last_word
    return owner


def write(folder: Path, terms: Sequence[Sequence[str]], arrays: dict[str, Any]) -> None:
    """Write terms and arrays as the module's description has them."""
    from safetensors.numpy import save_file

    (folder / TERMS).write_text(json.dumps([list(own) for own in terms], indent=0) + "\n", encoding="utf-8")
    save_file({name: np.ascontiguousarray(array, np.float64) for name, array in arrays.items()}, folder / WEIGHTS)
