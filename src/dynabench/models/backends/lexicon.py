"""Translation by a list of words and phrases: the longest known phrase at a time, in the order of the source."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dynabench.kit.errors import Invalid
from dynabench.models import spec, validity
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Card, Inputs, Output
from dynabench.models.words import Word, first_words

FILE = "lexicon.json"
LONGEST = 6
"""Words of a phrase at most."""
WORDS = 2_000
"""Words of a source that are translated; what follows is left out."""
MARKS = {"ar": str.maketrans(",;?", "،؛؟")}
"""Punctuation by language, where it is another."""
Phrases = Mapping[tuple[str, ...], str]


class Stored(BaseModel):
    """The content of `lexicon.json`: languages, and rows of translations.

    Each row has the same thing in all languages, and an empty text where a language has no word for it.
    """

    model_config = ConfigDict(extra="forbid")

    languages: list[str] = Field(min_length=2, max_length=100)
    entries: list[list[str]] = Field(max_length=1_000_000)


class LexiconModel(Alone):
    """Reads a pair of languages such as `en-de`, then the source; a word that it does not know stays as it is."""

    def __init__(self, card: Card, stored: Stored) -> None:
        super().__init__(card)
        self._stored = stored
        self._known: dict[str, Phrases] = {}

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a lexicon; raises `Invalid` when it is broken."""
        card = spec.card(folder)
        if len(card.inputs) != 2:
            raise Invalid({"inputs": "It reads two: the pair of languages, and the source."})
        try:
            stored = Stored.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError, ValidationError) as error:
            raise Invalid({FILE: f"It cannot be read: {error}"}) from error
        if any(len(row) != len(stored.languages) for row in stored.entries):
            raise Invalid({FILE: f"Each entry has {len(stored.languages)} texts, one a language."})
        return cls(card, stored)

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One translation per input."""
        pair, source = self.card.inputs
        return [Output({self.card.answer: self._translated(inputs[pair], inputs[source])}) for inputs in batch]

    def _translated(self, pair: str, text: str) -> str:
        """The text itself where the pair is unknown."""
        first, _, second = pair.partition("-")
        if not {first, second} <= set(self._stored.languages):
            return text[: validity.LONGEST]
        phrases, marks = self._phrases(first, second), MARKS.get(second, {})
        found = first_words(text, WORDS)
        said, place, end = "", 0, 0
        while place < len(found):
            size = next((n for n in range(LONGEST, 0, -1) if _key(found[place : place + n]) in phrases), 1)
            part = found[place : place + size]
            put = phrases.get(_key(part), part[0].text.translate(marks))
            said += text[end : part[0].start] + put if put else ""
            place, end = place + size, part[-1].end
        said = said.strip()[: validity.LONGEST]
        return said[:1].upper() + said[1:]

    def _phrases(self, first: str, second: str) -> Phrases:
        if (key := f"{first}-{second}") not in self._known:
            one, two = (self._stored.languages.index(each) for each in (first, second))
            made: dict[tuple[str, ...], str] = {}
            for row in self._stored.entries:
                if phrase := _key(first_words(row[one], LONGEST)):
                    made.setdefault(phrase, row[two])  # of two entries with the same source the first one holds
            self._known[key] = made
        return self._known[key]


def _key(part: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.text.casefold() for word in part)
