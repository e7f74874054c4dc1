"""Models that learn nothing: translation by a list of words and phrases, and summaries by TextRank.

TextRank chooses the sentences that resemble the others most (Mihalcea and Tarau 2004)."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dynabench.kit.errors import Invalid
from dynabench.models import spec, validity
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput
from dynabench.models.words import Word, first_words

FILE = "lexicon.json"
LONGEST = 6
"""Words of a phrase at most."""
WORDS = 2_000
"""Words of a source that are translated; what follows is left out."""
MARKS = {"ar": str.maketrans(",;?", "،؛؟")}
"""Punctuation by language, where it is another."""
Phrases = Mapping[tuple[str, ...], str]


class LexiconFile(BaseModel):
    """The content of `lexicon.json`: languages, and rows of translations.

    Each row has the same thing in all languages, and an empty text where a language has no word for it.
    """

    model_config = ConfigDict(extra="forbid")

    languages: list[str] = Field(min_length=2, max_length=100)
    entries: list[list[str]] = Field(max_length=1_000_000)


class LexiconModel(Alone):
    """Reads a pair of languages such as `en-de`, then the source; a word that it does not know stays as it is."""

    def __init__(self, card: ModelCard, stored: LexiconFile) -> None:
        super().__init__(card)
        self._stored = stored
        self._phrases_by_pair: dict[str, Phrases] = {}

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a lexicon; raises `Invalid` when it is broken."""
        card = spec.card(folder)
        if len(card.inputs) != 2:
            raise Invalid({"inputs": "It reads two: the pair of languages, and the source."})
        try:
            stored = LexiconFile.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError, ValidationError) as error:
            raise Invalid({FILE: f"It cannot be read: {error}"}) from error
        if any(len(row) != len(stored.languages) for row in stored.entries):
            raise Invalid({FILE: f"Each entry has {len(stored.languages)} texts, one a language."})
        return cls(card, stored)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One translation per input."""
        pair, source = self.card.inputs
        return [ModelOutput({self.card.answer: self._translated(inputs[pair], inputs[source])}) for inputs in batch]

    def _translated(self, pair: str, text: str) -> str:
        """The text itself where the pair is unknown."""
        first, _, second = pair.partition("-")
        if not {first, second} <= set(self._stored.languages):
            return text[: validity.LONGEST]
        phrases, marks = self._phrases(first, second), MARKS.get(second, {})
        source_words = first_words(text, WORDS)
        translation, place, end = "", 0, 0
        while place < len(source_words):
            size = next((n for n in range(LONGEST, 0, -1) if _key(source_words[place : place + n]) in phrases), 1)
            part = source_words[place : place + size]
            put = phrases.get(_key(part), part[0].text.translate(marks))
            translation += text[end : part[0].start] + put if put else ""
            place, end = place + size, part[-1].end
        translation = translation.strip()[: validity.LONGEST]
        return translation[:1].upper() + translation[1:]

    def _phrases(self, first: str, second: str) -> Phrases:
        if (key := f"{first}-{second}") not in self._phrases_by_pair:
            from_column, to_column = (self._stored.languages.index(language) for language in (first, second))
            phrases: dict[tuple[str, ...], str] = {}
            for row in self._stored.entries:
                if phrase := _key(first_words(row[from_column], LONGEST)):
                    # Of two entries with the same source the first one holds.
                    phrases.setdefault(phrase, row[to_column])
            self._phrases_by_pair[key] = phrases
        return self._phrases_by_pair[key]


def _key(part: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.text.casefold() for word in part)


SENTENCES = 200
"""Of a text that are read; similarities are computed between all of them."""
SENTENCE_WORDS = 100
"""Of a sentence that are compared."""
STEPS = 50
END = re.compile(r"(?<=[.!?…؟])\s+|(?<=[.!?…؟][\"'”’»)\]])\s+|(?<=[。！？।])(?![」』”’])|\n+")


class TextRankOptions(BaseModel):
    """TextRankOptions of TextRank: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    sentences: int = Field(1, ge=1, le=20, description="Sentences of a summary.")
    damping: float = Field(0.85, gt=0, lt=1, description="Share of a sentence's rank that it has from others.")


class TextRankModel(Alone):
    """The sentences of highest rank, in the order of the text."""

    def __init__(self, card: ModelCard, options: TextRankOptions) -> None:
        super().__init__(card)
        self._options = options

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Read the options; raises `Invalid` when the folder is broken."""
        return cls(spec.card(folder), TextRankOptions.model_validate(spec.read(folder).options))

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One summary per input, of its first field."""
        return [ModelOutput({self.card.answer: self._summary(inputs[self.card.inputs[0]])}) for inputs in batch]

    def _summary(self, text: str) -> str:
        parts = sentences(text)
        best = sorted(np.argsort(-ranks(parts, self._options.damping), kind="stable")[: self._options.sentences])
        return " ".join(parts[place] for place in best)


def sentences(text: str) -> list[str]:
    """The first sentences of a text, without blanks around them."""
    return [part.strip() for part in END.split(text)[:SENTENCES] if part and part.strip()]


def ranks(parts: Sequence[str], damping: float) -> NDArray[np.float64]:
    """Each sentence's rank (n,): PageRank over how many words two sentences share, by the logs of their lengths."""
    bags = [_bag(sentence) for sentence in parts]
    alike = np.zeros((len(bags), len(bags)))
    for place, bag in enumerate(bags):
        for other in range(place):
            alike[place, other] = alike[other, place] = _alike(bag, bags[other])
    weight_sums = alike.sum(1, keepdims=True)
    shares = np.divide(alike, weight_sums, out=np.zeros_like(alike), where=weight_sums > 0)
    rank = np.full(len(bags), 1.0)
    for _ in range(STEPS):
        rank = 1 - damping + damping * (shares.T @ rank)
    return rank


def _bag(sentence: str) -> frozenset[str]:
    words = (word.text.casefold() for word in first_words(sentence, SENTENCE_WORDS))
    return frozenset(text for text in words if any(map(str.isalnum, text)))


def _alike(first: frozenset[str], second: frozenset[str]) -> float:
    lengths = math.log(max(len(first), 1)) + math.log(max(len(second), 1))
    return len(first & second) / lengths if lengths else 0.0
