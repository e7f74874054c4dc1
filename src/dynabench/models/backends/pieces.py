"""From words to word pieces and back: what the encoder reads, and which word each piece belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dynabench.models import encoder
from dynabench.models.words import Word, first_words, spoken

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS, SEP, MASK, PAD = 101, 102, 103, 0
"""The marks of BERT's vocabulary."""

Owner = tuple[int, int] | None


@dataclass(frozen=True)
class Pieces:
    """One input as the encoder reads it.

    `ids` and `types` have one entry a piece; `owner[i]` is (field index, word index) of piece i, None for the marks
    that the encoder adds. `words` holds each field's words.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    owner: tuple[Owner, ...]
    words: tuple[tuple[Word, ...], ...]

    def __len__(self) -> int:
        return len(self.ids)


def encode(
    batch: Sequence[Mapping[str, Any]], fields: Sequence[str], max_length: int, tokenizer: "Tokenizer | None" = None
) -> list[Pieces]:
    """Pieces of each input's fields in order, each field closed by `[SEP]`, cut to `max_length` pieces.

    `tokenizer` is by default the shared encoder's; another one must have its marks.
    """
    tokenizer = tokenizer or encoder.tokenizer()
    words = [tuple(tuple(first_words(str(inputs[name]), max_length)) for name in fields) for inputs in batch]
    texts = [[spoken(word.text) for word in field] for row in words for field in row]
    encodings = tokenizer.encode_batch(texts, is_pretokenized=True, add_special_tokens=False)
    flat = [(encoding.ids, [word or 0 for word in encoding.word_ids]) for encoding in encodings]
    count = len(fields)
    return [_join(flat[i * count : (i + 1) * count], row, max_length) for i, row in enumerate(words)]


def _join(
    fields: Sequence[tuple[list[int], list[int]]], words: tuple[tuple[Word, ...], ...], max_length: int
) -> Pieces:
    """`[CLS] field [SEP] field [SEP]`, with segment 0 for the first field and 1 for the others."""
    ids, types, owner = [CLS], [0], list[Owner]([None])
    for index, (take, (pieces, word_ids)) in enumerate(zip(_room(fields, max_length), fields, strict=True)):
        ids += [*pieces[:take], SEP]
        types += [min(index, 1)] * (take + 1)
        owner += [*((index, word) for word in word_ids[:take]), None]
    return Pieces(tuple(ids), tuple(types), tuple(owner), words)


def _room(fields: Sequence[tuple[list[int], list[int]]], max_length: int) -> list[int]:
    """Return how many pieces of each field fit; the longest field is shortened first."""
    lengths = [len(pieces) for pieces, _ in fields]
    spare = max_length - 1 - len(fields)
    while sum(lengths) > spare:
        longest = max(range(len(lengths)), key=lambda index: lengths[index])
        others = [length for index, length in enumerate(lengths) if index != longest]
        lengths[longest] -= max(1, min(sum(lengths) - spare, lengths[longest] - max(others, default=0)))
    return lengths
