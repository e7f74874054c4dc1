"""TextRank: a summary of the sentences that resemble the others most (Mihalcea and Tarau 2004). Nothing is learnt."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from dynabench.models import spec
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Card, Inputs, Output
from dynabench.models.words import first_words

SENTENCES = 200
"""Of a text that are read; similarities are computed between all of them."""
WORDS = 100
"""Of a sentence that are compared."""
STEPS = 50
END = re.compile(r"(?<=[.!?…؟])\s+|(?<=[.!?…؟][\"'”’»)\]])\s+|(?<=[。！？।])(?![」』”’])|\n+")


class Options(BaseModel):
    """Options of TextRank: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    sentences: int = Field(1, ge=1, le=20, description="Sentences of a summary.")
    damping: float = Field(0.85, gt=0, lt=1, description="Share of a sentence's rank that it has from others.")


class TextRankModel(Alone):
    """The sentences of highest rank, in the order of the text."""

    def __init__(self, card: Card, options: Options) -> None:
        super().__init__(card)
        self._options = options

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Read the options; raises `Invalid` when the folder is broken."""
        return cls(spec.card(folder), Options.model_validate(spec.read(folder).options))

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One summary per input, of its first field."""
        return [Output({self.card.answer: self._summary(inputs[self.card.inputs[0]])}) for inputs in batch]

    def _summary(self, text: str) -> str:
        said = sentences(text)
        best = sorted(np.argsort(-ranks(said, self._options.damping), kind="stable")[: self._options.sentences])
        return " ".join(said[place] for place in best)


def sentences(text: str) -> list[str]:
    """The first sentences of a text, without blanks around them."""
    return [part.strip() for part in END.split(text)[:SENTENCES] if part and part.strip()]


def ranks(said: Sequence[str], damping: float) -> NDArray[np.float64]:
    """Each sentence's rank (n,): PageRank over how many words two sentences share, by the logs of their lengths."""
    bags = [_bag(one) for one in said]
    alike = np.zeros((len(bags), len(bags)))
    for place, bag in enumerate(bags):
        for other in range(place):
            alike[place, other] = alike[other, place] = _alike(bag, bags[other])
    given = alike.sum(1, keepdims=True)
    shares = np.divide(alike, given, out=np.zeros_like(alike), where=given > 0)
    rank = np.full(len(bags), 1.0)
    for _ in range(STEPS):
        rank = 1 - damping + damping * (shares.T @ rank)
    return rank


def _bag(sentence: str) -> frozenset[str]:
    found = (word.text.casefold() for word in first_words(sentence, WORDS))
    return frozenset(text for text in found if any(map(str.isalnum, text)))


def _alike(one: frozenset[str], two: frozenset[str]) -> float:
    lengths = math.log(max(len(one), 1)) + math.log(max(len(two), 1))
    return len(one & two) / lengths if lengths else 0.0
