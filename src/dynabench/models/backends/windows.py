"""A question and a passage as the encoder reads them: the whole passage, or overlapping windows of a long one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dynabench.models import encoder
from dynabench.models.backends.pieces import CLS, SEP, Pieces
from dynabench.models.words import Word, first_words, spoken

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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


def read(question: str, passage: str, max_length: int, tokenizer: "Tokenizer | None" = None) -> Reading:
    """The windows over a passage, each with the question before it, of at most `max_length` pieces.

    `tokenizer` is by default the shared encoder's; another one must have its marks.
    """
    tokenizer = tokenizer or encoder.tokenizer()
    asked = tuple(first_words(question, max_length))
    words = tuple(answerable(passage, WORDS))
    (question_ids, question_word), (ids, word) = _pieces(asked, tokenizer), _pieces(words, tokenizer)
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
            (asked, words),
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
