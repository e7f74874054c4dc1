"""The examples that measures look at, apart from the database."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from dynabench.evaluate.tokens import is_word, word_tokens
from dynabench.kit.settings import get_settings
from dynabench.models import encoder
from dynabench.stats import clusters
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.rates import Rate, clustered_rate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Embed = Callable[[Sequence[str]], Floats]
"""Vectors of texts, shape (n, d)."""


@dataclass(frozen=True)
class TargetAnswer:
    """The answer of a target: `sure` is its probability of that answer, `claimed` that of the author's."""

    model: str
    answer: str
    wrong: bool | None
    sure: float | None
    claimed: float | None


@dataclass(frozen=True)
class MarkedWords:
    """Of `marked` words, how many are among those that a model looked at most, and how many chance would share."""

    marked: int
    shared: int
    chance: float


@dataclass(frozen=True)
class SampledExample:
    """An example: texts by field, the claimed answer as a label, what models said, what validators voted."""

    writer: int
    texts: Mapping[str, str]
    context: str = ""
    label: str | None = None
    answers: tuple[TargetAnswer, ...] = ()
    votes: tuple[str, ...] = ()
    words: MarkedWords | None = None


@dataclass(frozen=True)
class ConditionCounts:
    """The counts of one condition by person, all of shape (people,): verified fooling examples of all examples."""

    name: str
    person: Ints
    validated: Ints
    examples: Ints


@dataclass(frozen=True)
class EarlierRound:
    """Examples of an earlier round."""

    number: int
    rows: tuple[SampledExample, ...]


@dataclass(frozen=True)
class RoundSample:
    """`rows` of a round's `total` examples. `fields` names what people write, `labels` the answers, in their order;
    `groups` has counts by `start`, `source` and `arm` of all examples; `earlier` rounds stand in their order.
    """

    rows: tuple[SampledExample, ...]
    total: int
    fields: Mapping[str, str]
    labels: tuple[str, ...] = ()
    context: str = ""
    """The label of the context, empty where there is none."""
    of_place: bool = False
    """True where labels are places of the answer in the context."""
    groups: Mapping[str, tuple[ConditionCounts, ...]] = field(default_factory=dict)
    earlier: tuple[EarlierRound, ...] = ()
    embed: Embed | None = None
    seed: int = 0

    def rng(self) -> np.random.Generator:
        """Return a random generator that is the same whenever this round is measured."""
        return np.random.default_rng(self.seed)

    @cached_property
    def writers(self) -> Ints:
        """Return the writer of each row, shape (n,), numbered from 0."""
        return np.unique([row.writer for row in self.rows], return_inverse=True)[1].astype(np.int64)

    @cached_property
    def answers(self) -> Ints:
        """The place of each row's label among `labels`, shape (n,); -1 where it has none."""
        places = {label: place for place, label in enumerate(self.labels)}
        return np.array([places.get(row.label or "", -1) for row in self.rows], np.int64)

    @property
    def people(self) -> int:
        """Return the number of writers."""
        return int(self.writers.max(initial=-1)) + 1

    @cached_property
    def whole(self) -> tuple[str, ...]:
        """All that was written for each row."""
        return tuple("\n".join(row.texts.values()) for row in self.rows)

    @cached_property
    def words(self) -> tuple[list[str], ...]:
        """The words of each row in small letters, without signs."""
        return tuple(words(text) for text in self.whole)

    def mean(self, values: Sequence[float] | Floats, chosen: NDArray[np.bool_] | None = None) -> ClusteredEstimate:
        """The mean of a value of each row, of the `chosen` ones, with an interval that is clustered by writer."""
        return self.ratio(values, np.ones(len(self.rows)), chosen)

    def share(self, hits: Sequence[float] | Floats, chosen: NDArray[np.bool_] | None = None) -> Rate:
        """The share of rows (of the `chosen` ones) that are marked 1 and not 0; as `mean`, with limits from 0 to 1."""
        weight = np.ones(len(self.rows)) if chosen is None else chosen.astype(float)
        k = np.bincount(self.writers, np.asarray(hits, float) * weight, self.people)
        return clustered_rate(k, np.bincount(self.writers, weight, self.people))

    def ratio(
        self,
        first: Sequence[float] | Floats,
        second: Sequence[float] | Floats,
        chosen: NDArray[np.bool_] | None = None,
    ) -> ClusteredEstimate:
        """The sum of one value of each row over the sum of another; as `mean`."""
        weight = np.ones(len(self.rows)) if chosen is None else chosen.astype(float)
        k = np.bincount(self.writers, np.asarray(first, float) * weight, self.people)
        n = np.bincount(self.writers, np.asarray(second, float) * weight, self.people)
        return clusters.ratio(k, n)


_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LETTERS = r"\p{L}\p{N}\p{M}"
_MARKED = regex.compile(rf"[\p{{M}}{_SPACELESS}]")
_SCRIPT_WORD = regex.compile(rf"(?V1)[{_SPACELESS}]\p{{M}}*|[[{_LETTERS}]--[{_SPACELESS}]]+(?:['’-][{_LETTERS}]+)*")


def words(text: str) -> list[str]:
    """The words of a text in small letters, without signs.

    A letter with its marks (in Hindi or Thai) stays together; each character counts as a word in scripts that put no
    space between words.
    """
    if not text.isascii() and _MARKED.search(text):
        return list(_SCRIPT_WORD.findall(text.lower()))
    if text.isascii():  # small letters first: a text's tokens are the same, and this is what takes most time
        return [token for token in word_tokens(text.lower()) if token[0].isalnum() or is_word(token)]
    return [token.lower() for token in word_tokens(text) if is_word(token)]


PIECES, AT_ONCE = 256, 16


def find_encoder() -> Embed | None:
    """Return a function from texts to vectors; None where no encoder is here: measuring downloads nothing."""
    here = bool(get_settings().encoder) or importlib.util.find_spec(encoder.PACKAGE) is not None
    return embed_texts if here and importlib.util.find_spec("torch") is not None else None


def embed_texts(texts: Sequence[str]) -> Floats:
    """The mean of each text's last states over its first 256 pieces, shape (n, width)."""
    import torch

    model, tokenizer = encoder.load(), encoder.tokenizer()
    parts: list[Any] = []
    with torch.inference_mode():
        for at in range(0, len(texts), AT_ONCE):
            ids = [encoding.ids[:PIECES] for encoding in tokenizer.encode_batch(list(texts[at : at + AT_ONCE]))]
            longest = max(map(len, ids))
            padded = torch.tensor([encoding + [0] * (longest - len(encoding)) for encoding in ids])
            mask = torch.tensor([[1] * len(encoding) + [0] * (longest - len(encoding)) for encoding in ids])
            states = model(input_ids=padded, attention_mask=mask).last_hidden_state * mask[..., None]
            parts.append((states.sum(1) / mask.sum(1, keepdim=True)).numpy())
    embeddings: Floats = np.concatenate(parts).astype(np.float64)
    return embeddings
