"""Words, word pieces, and windows of long passages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynabench.kit.errors import Invalid
from dynabench.models import encoder
from dynabench.models.words import Word, first_words, spoken

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


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


QUESTION = 96
"""Pieces of a question that are read."""
OVERLAP = 128
"""Pieces that a window shares with the next, so that an answer at its border is seen with what surrounds it."""
WORDS = 3000
"""Words of a passage that are read: some twenty windows."""


@dataclass(frozen=True)
class Window:
    """One window: its pieces, and which of the passage's pieces stand in it.

    Piece `first` + k of the passage, for k below `count`, is piece `at` + k of the window.
    """

    pieces: Pieces
    first: int
    count: int
    at: int


@dataclass(frozen=True)
class Reading:
    """A question and a passage; `word` (n,) says which of the passage's `words` each of its n pieces belongs to."""

    passage: str
    words: tuple[Word, ...]
    word: tuple[int, ...]
    windows: tuple[Window, ...]

    def __len__(self) -> int:
        return sum(len(window.pieces) for window in self.windows)


def read_passage(question: str, passage: str, max_length: int, tokenizer: "Tokenizer | None" = None) -> Reading:
    """The windows over a passage, each with the question before it, of at most `max_length` pieces.

    `tokenizer` is by default the shared encoder's; another one must have its marks.
    """
    tokenizer = tokenizer or encoder.tokenizer()
    question_words = tuple(first_words(question, max_length))
    words = tuple(answerable(passage, WORDS))
    (question_ids, question_word), (ids, word) = _pieces(question_words, tokenizer), _pieces(words, tokenizer)
    head = min(len(question_ids), QUESTION, max_length // 3)
    question_ids, question_word = question_ids[:head], question_word[:head]
    room = max_length - head - 3
    windows = []
    for first in starts(len(ids), room, min(OVERLAP, room // 2)):
        part = slice(first, first + room)
        count = len(ids[part])
        pieces = Pieces(
            (CLS, *question_ids, SEP, *ids[part], SEP),
            (0,) * (head + 2) + (1,) * (count + 1),
            (None, *((0, w) for w in question_word), None, *((1, w) for w in word[part]), None),
            (question_words, words),
        )
        windows.append(Window(pieces, first, count, head + 2))
    return Reading(passage, words, tuple(word), tuple(windows))


def answerable(passage: str, limit: int) -> Iterator[Word]:
    """The first words of a passage, with the `'s` of a possessive apart: “Ada's” holds the answer “Ada”."""
    for word in first_words(passage, limit):
        if len(word.text) > 2 and word.text.endswith(("'s", "’s", "'S", "’S")):
            cut = word.end - 2
            yield Word(word.text[:-2], word.start, cut)
            yield Word(word.text[-2:], cut, word.end)
        else:
            yield word


def _pieces(words: tuple[Word, ...], tokenizer: "Tokenizer") -> tuple[list[int], list[int]]:
    """Ids of all pieces, and each piece's word."""
    encoding = tokenizer.encode([spoken(word.text) for word in words], is_pretokenized=True, add_special_tokens=False)
    return encoding.ids, [word or 0 for word in encoding.word_ids]


def starts(length: int, room: int, overlap: int) -> list[int]:
    """Return the starts of windows of `room` pieces; the last window ends where the passage does."""
    if length <= room:
        return [0]
    return [*range(0, length - room, room - overlap), length - room]


FILE = "tokenizer.json"
PIECES = 6000
"""Word pieces of a passage that are read."""
_HALF = re.compile("[\ud800-\udfff]")


def tokenizer(folder: Path) -> "Tokenizer":
    """The folder's tokenizer, without padding or truncation; raises `Invalid` when it is missing or broken."""
    from tokenizers import Tokenizer

    if not (folder / FILE).is_file():
        raise Invalid({FILE: "The folder lacks it; a fast tokenizer of transformers saves it."})
    try:
        loaded = Tokenizer.from_file(str(folder / FILE))
    except Exception as error:  # the library raises nothing narrower
        raise Invalid({FILE: f"It cannot be read: {error}"}) from error
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


class WordTokenizer:
    """Reads texts as our own models do: words first, emoji by their names, then a BERT's word pieces."""

    def __init__(self, loaded: "Tokenizer", max_length: int) -> None:
        """Raises `Invalid` for a tokenizer without BERT's marks."""
        marks = {"[CLS]": CLS, "[SEP]": SEP, "[PAD]": PAD}
        if any(loaded.token_to_id(mark) != place for mark, place in marks.items()):
            raise Invalid({"options.reader": "`words` is for BERT's vocabulary; `plain` reads with any tokenizer."})
        self._tokenizer, self._longest = loaded, max_length

    def texts(self, *texts: str) -> Pieces:
        """One or two texts in one row."""
        fields = [str(at) for at in range(len(texts))]
        return encode([dict(zip(fields, texts, strict=True))], fields, self._longest, self._tokenizer)[0]

    def passage(self, question: str, passage: str) -> Reading:
        """A passage in windows, with the question before each."""
        return read_passage(question, passage, self._longest, self._tokenizer)


class Plain:
    """Reads texts as the tokenizer does by itself."""

    def __init__(self, loaded: "Tokenizer", max_length: int, lower: bool = False) -> None:
        self._layout = _layout(loaded)
        self._whole, self._longest, self._lower = loaded, max_length, lower
        self._cut = loaded.from_str(loaded.to_str())
        self._cut.enable_truncation(max_length)

    def texts(self, *texts: str) -> Pieces:
        """One or two texts in one row; of two, the longer one is cut first."""
        first, *second = (self._clean(text) for text in texts)
        encoding = self._cut.encode(first, second[0] if second else None)
        return Pieces(tuple(encoding.ids), tuple(encoding.type_ids), (), ())

    def passage(self, question: str, passage: str) -> Reading:
        """A passage in windows, with the question before each."""
        question_encoding = self._whole.encode(self._clean(question), add_special_tokens=False)
        passage_encoding = self._whole.encode(self._clean(passage[: PIECES * 10]), add_special_tokens=False)
        ids, (words, word) = passage_encoding.ids[:PIECES], _words(passage_encoding, passage)
        layout = self._layout
        head = question_encoding.ids[: min(QUESTION, self._longest // 3)]
        before = (*layout.first, *head, *layout.between)
        room = self._longest - len(before) - len(layout.last)
        windows = []
        for first in starts(len(ids), room, min(OVERLAP, room // 2)):
            part = ids[first : first + room]
            types = (*layout.first_types, *[layout.types[0]] * len(head), *layout.between_types)
            types = (*types, *[layout.types[1]] * len(part), *layout.last_types)
            row = Pieces((*before, *part, *layout.last), types, (), ())
            windows.append(Window(row, first, len(part), len(before)))
        return Reading(passage, words, word[: len(ids)], tuple(windows))

    def _clean(self, text: str) -> str:
        """As long as the text, so that places stay what they are."""
        text = _HALF.sub("\ufffd", text)
        return "".join(low if len(low := c.lower()) == 1 else c for c in text) if self._lower else text


@dataclass(frozen=True)
class PieceLayout:
    """The marks that a tokenizer puts before, between and behind two texts, and the segments of all."""

    first: tuple[int, ...]
    between: tuple[int, ...]
    last: tuple[int, ...]
    first_types: tuple[int, ...]
    between_types: tuple[int, ...]
    last_types: tuple[int, ...]
    types: tuple[int, int]


def _layout(loaded: "Tokenizer") -> PieceLayout:
    """Read off a pair of short texts."""
    encoding = loaded.encode("a", "b")
    sides = encoding.sequence_ids
    if 0 not in sides or 1 not in sides:
        raise Invalid({FILE: "It makes no word pieces of plain letters."})
    ends = [sides.index(0), len(sides) - sides[::-1].index(0), sides.index(1), len(sides) - sides[::-1].index(1)]
    cuts = [slice(0, ends[0]), slice(ends[1], ends[2]), slice(ends[3], None)]
    ids, types = ([tuple(row[cut]) for cut in cuts] for row in (encoding.ids, encoding.type_ids))
    return PieceLayout(
        ids[0], ids[1], ids[2], types[0], types[1], types[2], (encoding.type_ids[ends[0]], encoding.type_ids[ends[2]])
    )


def _words(encoding: "Encoding", text: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
    """The words that the tokenizer sees, without space around them, and each piece's word."""
    places: list[tuple[int, int]] = []
    word: list[int] = []
    previous_word: int | None = None
    for own, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
        if places and own is not None and own == previous_word:
            places[-1] = places[-1][0], max(end, places[-1][1])
        else:
            places.append((start, end))
        previous_word = own
        word.append(len(places) - 1)
    return tuple(_trimmed(text, start, end) for start, end in places), tuple(word)


def _trimmed(text: str, start: int, end: int) -> Word:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Word(part.strip(), start, start + len(part.strip()))
