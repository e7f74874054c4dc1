"""From weights of word pieces to weights of the words of each field."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from dynabench.models.backends.pieces import Pieces
from dynabench.models.protocol import WordWeight


@dataclass(frozen=True)
class Asked:
    """The subject of an explanation: one window of pieces and the label to explain.

    `value` (B,) is what the head says of the window, `label` its name.
    """

    pieces: Pieces
    fields: Sequence[str]
    label: str
    value: Callable[[Tensor], Tensor]


def by_word(pieces: Pieces, names: Sequence[str], weights: Sequence[float]) -> dict[str, list[WordWeight]]:
    """Words of each field with the sum of their pieces' weights, scaled so that the largest magnitude is 1.

    `weights` has one entry a piece; the encoder's own marks are left out. Words that were cut off weigh 0.
    """
    sums = [[0.0] * len(words) for words in pieces.words]
    for owner, weight in zip(pieces.owner, weights, strict=True):
        if owner is not None:
            sums[owner[0]][owner[1]] += weight
    return scaled(pieces, names, sums)


def scaled(pieces: Pieces, names: Sequence[str], sums: Sequence[Sequence[float]]) -> dict[str, list[WordWeight]]:
    """Word weights of each field divided by the largest magnitude of all."""
    largest = max((abs(weight) for field in sums for weight in field), default=0.0) or 1.0
    return {
        name: [
            WordWeight(word.text, word.start, word.end, weight / largest)
            for word, weight in zip(words, field, strict=True)
        ]
        for name, words, field in zip(names, pieces.words, sums, strict=True)
    }
