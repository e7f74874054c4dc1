"""A linear tagger over hashed features of words and their neighbours: names in a text, without torch.

Each word gets one of the tags O, B-LABEL and I-LABEL by softmax regression; the best sequence in which no I follows
anything but its own label is the answer (Viterbi), as in maximum-entropy taggers (Ratnaparkhi, EMNLP 1996).
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput
from dynabench.models.words import Word, first_words

WEIGHTS = "tagger.safetensors"
WORDS = 2_000
"""Words of a text that are read."""
NEAR = (-2, -1, 1, 2)
"""Neighbours of a word that its features tell of."""
ENDS = re.compile(r"[.!?…]+$")
Floats = NDArray[np.floating[Any]]
Columns = NDArray[np.int64]


class TaggerOptions(BaseModel):
    """Options of a tagger: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    bits: int = Field(15, ge=8, le=20, description="The weights have 2**bits rows.")


class TaggerModel(Alone):
    """Reads one text and returns its spans with labels."""

    def __init__(self, card: ModelCard, bits: int, weights: Floats, bias: Floats) -> None:
        super().__init__(card)
        self._mask = (1 << bits) - 1
        self._weights = weights
        self._bias = bias
        self._barred = barred(len(card.labels))

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder; raises `Invalid` when it is broken."""
        card, options = spec.card(folder), TaggerOptions.model_validate(spec.read(folder).options)
        if card.returns != "tags" or len(card.inputs) != 1 or not card.labels:
            raise Invalid({"returns": "A tagger reads one text, returns tags, and names its labels."})
        try:
            arrays = load_file(folder / WEIGHTS)
            weights, bias = arrays["weights"].astype(np.float32), arrays["bias"].astype(np.float64)
        except (OSError, ValueError, SafetensorError, KeyError) as error:
            raise Invalid({"tagger": f"The weights cannot be loaded: {error}"}) from error
        shape = (1 << options.bits, 1 + 2 * len(card.labels))
        if weights.shape != shape or bias.shape != shape[1:]:
            raise Invalid({"tagger": f"The weights are {weights.shape} where the card asks for {shape}."})
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise Invalid({"tagger": "The weights are no finite numbers; the training diverged."})
        return cls(card, options.bits, weights, bias)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """The spans of each text, and how likely the least likely word of each has its label."""
        return [self._read(inputs[self.card.inputs[0]]) for inputs in batch]

    def _read(self, text: str) -> ModelOutput:
        text_words = first_words(text, WORDS)
        if not text_words:
            return ModelOutput({self.card.answer: []}, {})
        logits = np.array([self._bias + self._weights[columns].sum(0) for columns in rows(text_words, self._mask)])
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        tags = decoded(np.log(np.maximum(shares, 1e-12)), self._barred)
        spans: list[dict[str, Any]] = []
        likely: dict[str, float] = {}
        for first, last, label in stretches(tags):
            start, end = text_words[first].start, text_words[last].end
            spans.append({"start": start, "end": end, "text": text[start:end], "label": self.card.labels[label]})
            own = shares[first : last + 1, 1 + 2 * label : 3 + 2 * label].sum(-1)
            likely[text[start:end]] = round(float(own.min()), 6)
        return ModelOutput({self.card.answer: spans}, likely)


def save(folder: Path, weights: Floats, bias: Floats) -> None:
    """Write weights (2**bits, tags) in half precision, and the bias (tags,)."""
    save_file({"weights": weights.astype(np.float16), "bias": bias.astype(np.float32)}, folder / WEIGHTS)


def rows(text_words: Sequence[Word], mask: int) -> Iterator[Columns]:
    """The columns of each word's features."""
    word_features = [_list_features(word.text) for word in text_words]
    begins = [at == 0 or bool(ENDS.search(text_words[at - 1].text)) for at in range(len(text_words))]
    for at in range(len(text_words)):
        names = [f"0{name}" for name in word_features[at]]
        for step in NEAR:
            near = word_features[at + step] if 0 <= at + step < len(text_words) else ("edge",)
            names += [f"{step}{name}" for name in near]
        shapes = [word_features[other][1] if 0 <= other < len(text_words) else "edge" for other in (at - 1, at, at + 1)]
        before = word_features[at - 1][0] if at else "edge"
        names += [f"s{'|'.join(shapes)}", f"b{before}|{shapes[1]}", f"f{begins[at]}{shapes[1]}"]
        yield np.array([crc32(name.encode("utf-8", "surrogatepass")) & mask for name in names], np.int64)


@lru_cache(maxsize=65536)
def _list_features(word: str) -> tuple[str, ...]:
    """Return the features of a word: itself, its shape, its beginning and its end."""
    low = word.casefold()
    return (f"w{low}", f"s{_shape(word)}", f"p{low[:3]}", f"e{low[-3:]}", f"e{low[-2:]}")


def _shape(word: str) -> str:
    """Capitals, small letters and digits of a word, runs of three or more as long as three."""
    kinds = "".join("A" if c.isupper() else "a" if c.isalpha() else "0" if c.isdecimal() else c for c in word[:24])
    return re.sub(r"(.)\1{3,}", r"\1\1\1", kinds)


def barred(labels: int) -> NDArray[np.bool_]:
    """Return a mask (T + 1, T) of each tag j that may not follow tag i; the last row is for the first word.

    Tags are O, B, I, B, I, ...
    """
    size = 1 + 2 * labels
    mask = np.zeros((size + 1, size), bool)
    for label in range(labels):
        inside = 2 + 2 * label
        mask[:, inside] = True
        mask[[inside - 1, inside], inside] = False
    return mask


def decoded(logs: NDArray[np.float64], never: NDArray[np.bool_]) -> list[int]:
    """The likeliest allowed sequence of tags, given their logarithms (n, T)."""
    steps = np.where(never, -np.inf, 0.0)
    best, back = logs[0] + steps[-1], []
    for row in logs[1:]:
        every = best[:, None] + steps[:-1]
        back.append(every.argmax(0))
        best = every.max(0) + row
    tags = [int(best.argmax())]
    for came in reversed(back):
        tags.append(int(came[tags[-1]]))
    return tags[::-1]


def stretches(tags: Sequence[int]) -> list[tuple[int, int, int]]:
    """First word, last word and label of each name."""
    names: list[tuple[int, int, int]] = []
    for at, tag in enumerate(tags):
        if tag and tag % 2:
            names.append((at, at, tag // 2))
        elif tag:
            names[-1] = (names[-1][0], at, names[-1][2])
    return names
