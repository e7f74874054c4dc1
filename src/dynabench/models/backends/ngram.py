"""A linear model over hashed n-grams: no torch, microseconds an answer, exact attributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends.base import Backend, Prepared, check_explained, exact_attribution, label_contrast, output
from dynabench.models.protocol import Attribution, Inputs, ModelCard, ModelOutput
from dynabench.models.words import Word, first_words

WORDS = 400
"""Words of each field that are read."""
STEM = 4
"""Words that begin with so many common letters count as forms of one word."""
NOTHING = -1


@dataclass(frozen=True)
class NgramOptions:
    """Options of the features; `pairs` adds those that relate a second text to the first."""

    bits: int
    characters: tuple[int, int] | None
    word_grams: int
    pairs: bool


@dataclass(frozen=True)
class Features:
    """Occurrences of features in one input, and its words.

    `index` (n,) are columns below 2**bits, `value` (n,) the amounts, `owner` (n, 2) positions in the fields' words
    joined, the second -1 where one word alone owns the occurrence.
    """

    index: NDArray[np.int64]
    value: NDArray[np.float64]
    owner: NDArray[np.int64]
    words: tuple[tuple[Word, ...], ...]

    def __len__(self) -> int:
        return len(self.index)


class _Collector:
    def __init__(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self.rows: list[tuple[int, float, int, int]] = []

    def add(self, name: str, first: int, second: int = NOTHING, value: float = 1.0) -> None:
        self.rows.append((crc32(name.encode("utf-8", "surrogatepass")) & self._mask, value, first, second))


def extract(texts: Sequence[str], options: NgramOptions) -> Features:
    """Features of one text, or of two with the second read against the first."""
    words = tuple(tuple(first_words(text, WORDS)) for text in texts)
    collector = _Collector(options.bits)
    if options.pairs:
        _related(collector, words[0], words[1], options)
    else:
        _alone(collector, words[0], options, "", 0)
    length = float(np.sqrt(sum(value * value for _, value, _, _ in collector.rows))) or 1.0
    index, value, first, second = zip(*collector.rows, strict=True) if collector.rows else ((), (), (), ())
    return Features(
        np.array(index, np.int64),
        np.array(value, float) / length,
        np.stack([np.array(first, np.int64), np.array(second, np.int64)], -1),
        words,
    )


def _alone(collector: _Collector, words: Sequence[Word], options: NgramOptions, prefix: str, offset: int) -> None:
    """N-grams of words, and of characters within a word with its borders marked."""
    texts = [word.text.lower() for word in words]
    for place, text in enumerate(texts):
        collector.add(f"{prefix}w {text}", offset + place)
        if options.word_grams > 1 and place:
            collector.add(f"{prefix}w {texts[place - 1]} {text}", offset + place - 1, offset + place)
        if options.word_grams > 2 and place > 1:
            collector.add(f"{prefix}w {texts[place - 2]} {texts[place - 1]} {text}", offset + place - 2, offset + place)
        if options.characters:
            _characters(collector, f"<{text[:30]}>", options.characters, prefix, offset + place)


def _characters(collector: _Collector, text: str, sizes: tuple[int, int], prefix: str, owner: int) -> None:
    for size in range(sizes[0], sizes[1] + 1):
        for start in range(len(text) - size + 1):
            collector.add(f"{prefix}c {text[start : start + size]}", owner, value=0.5)


def _related(collector: _Collector, first: Sequence[Word], second: Sequence[Word], options: NgramOptions) -> None:
    """The second text alone, which of its words the first has, lacks or bends, and pairs of a word of each.

    Nothing here counts words or lengths: with such features, taking a word away changes the shares of all others, and
    the words that weigh most are no longer those that matter most.
    """
    _alone(collector, second, options, "h ", len(first))
    if not second:
        return
    place_by_text = {word.text.lower(): place for place, word in enumerate(first)}
    stems = {text[:STEM]: place for text, place in place_by_text.items()}
    new: list[tuple[int, str]] = []
    for place, word in enumerate(second):
        text, owner = word.text.lower(), len(first) + place
        if text in place_by_text:
            collector.add(f"same {text}", place_by_text[text], owner)
            collector.add("same", place_by_text[text], owner, 4 / len(second))
        elif len(text) >= STEM and text[:STEM] in stems:
            collector.add(f"form {text}", stems[text[:STEM]], owner)
            collector.add("form", stems[text[:STEM]], owner, 4 / len(second))
        else:
            collector.add(f"new {text}", owner)
            collector.add("new", owner, value=4 / len(second))
            new.append((owner, text))
    stated = {word.text.lower() for word in second}
    for place, word in enumerate(first):
        text = word.text.lower()
        if text not in stated:
            for owner, other in new:
                collector.add(f"pair {text} {other}", place, owner, 0.5)


def by_word(features: Features, weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Contribution of each word (all fields joined) when occurrence i has weight `weights[i]`; shape (words,)."""
    amounts = features.value * weights
    alone = features.owner[:, 1] == NOTHING
    sums = np.zeros(sum(len(field) for field in features.words))
    np.add.at(sums, features.owner[:, 0], np.where(alone, amounts, amounts / 2))
    np.add.at(sums, features.owner[~alone, 1], amounts[~alone] / 2)
    return sums


WEIGHTS, OPTIONS = "ngram.safetensors", "ngram.json"


class NgramFile(BaseModel):
    """The content of `ngram.json`: the options of the features."""

    model_config = ConfigDict(extra="forbid")

    bits: int = Field(ge=8, le=22)
    characters: tuple[int, int] | None
    word_grams: int = Field(ge=1, le=3)
    pairs: bool


class NgramModel:
    """Softmax of `features @ weights + bias`; `weights` is (2**bits, labels), `bias` (labels,)."""

    lane = "ngram"
    room: int | None = None

    def __init__(
        self,
        card: ModelCard,
        options: NgramOptions,
        weights: NDArray[np.floating[Any]],
        bias: NDArray[np.floating[Any]],
    ) -> None:
        self.card = card
        self.options = options
        self._weights = weights
        self._bias = bias

    @classmethod
    def load(cls, folder: Path) -> "NgramModel":
        """Load a model folder; raises `Invalid` when it is broken."""
        card = spec.card(folder)
        try:
            stored = NgramFile.model_validate_json((folder / OPTIONS).read_text(encoding="utf-8"))
            arrays = load_file(folder / WEIGHTS)
            weights, bias = arrays["weights"].astype(np.float32), arrays["bias"].astype(np.float64)
        except (OSError, ValueError, ValidationError, SafetensorError, KeyError) as error:
            raise Invalid({"ngram": f"The weights cannot be loaded: {error}"}) from error
        shape = (1 << stored.bits, len(card.labels))
        if weights.shape != shape or bias.shape != shape[1:] or stored.pairs != (len(card.inputs) == 2):
            raise Invalid({"ngram": f"The weights are {weights.shape} where the card asks for {shape}."})
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise Invalid({"ngram": "The weights are no finite numbers; the training diverged."})
        return cls(card, NgramOptions(**stored.model_dump()), weights, bias)

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> "NgramModel":
        """Load a model folder; many inputs take no other way than one."""
        return cls.load(folder)

    def close(self) -> None:
        """Nothing is held but memory."""

    def prepare(self, inputs: Inputs) -> Features:
        """The features of the inputs' fields."""
        wrong = {name: "A text is needed here." for name in self.card.inputs if not isinstance(inputs.get(name), str)}
        if wrong:
            raise Invalid(wrong)
        return extract([inputs[name] for name in self.card.inputs], self.options)

    def logits(self, features: Features) -> NDArray[np.float64]:
        """Logits (labels,)."""
        return np.asarray(self._bias + features.value @ self._weights[features.index])

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[ModelOutput]:
        """Answers to calls of any n-gram models."""
        return [output(call.card, call.logits(features)) for call, features in calls if isinstance(call, NgramModel)]

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Each word's share of the label's logit minus the mean of the other labels' logits.

        The baseline is a text without words, where only the bias speaks; the shares add up exactly.
        """
        check_explained(self.card, label, method)
        features = self.prepare(inputs)
        contrast = label_contrast(self.card, label)
        sums = by_word(features, np.asarray(self._weights[features.index], float) @ contrast)
        difference = float((self.logits(features) - self._bias) @ contrast)
        words = dict(zip(self.card.inputs, features.words, strict=True))
        return exact_attribution(label, words, sums, difference)


def save(
    folder: Path, options: NgramOptions, weights: NDArray[np.floating[Any]], bias: NDArray[np.floating[Any]]
) -> None:
    """Write the weights in half precision and the options; sizes are 2 * 2**bits * labels bytes."""
    stored = NgramFile(
        bits=options.bits, characters=options.characters, word_grams=options.word_grams, pairs=options.pairs
    )
    (folder / OPTIONS).write_text(stored.model_dump_json(indent=1) + "\n", encoding="utf-8")
    save_file({"weights": weights.astype(np.float16), "bias": bias.astype(np.float32)}, folder / WEIGHTS)
