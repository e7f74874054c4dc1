"""Texts as a model's own tokenizer reads them, for models that were not trained here."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dynabench.kit.errors import Invalid
from dynabench.models.backends import pieces, windows
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.windows import OVERLAP, QUESTION, Reading, Window
from dynabench.models.words import Word

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

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


class Words:
    """Reads texts as our own models do: words first, emoji by their names, then a BERT's word pieces."""

    def __init__(self, loaded: "Tokenizer", max_length: int) -> None:
        """Raises `Invalid` for a tokenizer without BERT's marks."""
        marks = {"[CLS]": pieces.CLS, "[SEP]": pieces.SEP, "[PAD]": pieces.PAD}
        if any(loaded.token_to_id(mark) != place for mark, place in marks.items()):
            raise Invalid({"options.reader": "`words` is for BERT's vocabulary; `plain` reads with any tokenizer."})
        self._tokenizer, self._longest = loaded, max_length

    def texts(self, *texts: str) -> Pieces:
        """One or two texts in one row."""
        fields = [str(at) for at in range(len(texts))]
        return pieces.encode([dict(zip(fields, texts, strict=True))], fields, self._longest, self._tokenizer)[0]

    def passage(self, question: str, passage: str) -> Reading:
        """A passage in windows, with the question before each."""
        return windows.read(question, passage, self._longest, self._tokenizer)


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
        found = self._cut.encode(first, second[0] if second else None)
        return Pieces(tuple(found.ids), tuple(found.type_ids), (), ())

    def passage(self, question: str, passage: str) -> Reading:
        """A passage in windows, with the question before each."""
        asked = self._whole.encode(self._clean(question), add_special_tokens=False)
        found = self._whole.encode(self._clean(passage[: PIECES * 10]), add_special_tokens=False)
        ids, (words, word) = found.ids[:PIECES], _words(found, passage)
        layout = self._layout
        head = asked.ids[: min(QUESTION, self._longest // 3)]
        before = (*layout.first, *head, *layout.between)
        room = self._longest - len(before) - len(layout.last)
        made = []
        for first in windows.starts(len(ids), room, min(OVERLAP, room // 2)):
            part = ids[first : first + room]
            types = (*layout.first_types, *[layout.types[0]] * len(head), *layout.between_types)
            types = (*types, *[layout.types[1]] * len(part), *layout.last_types)
            row = Pieces((*before, *part, *layout.last), types, (), ())
            made.append(Window(row, first, len(part), len(before)))
        return Reading(passage, words, word[: len(ids)], tuple(made))

    def _clean(self, text: str) -> str:
        """As long as the text, so that places stay what they are."""
        text = _HALF.sub("\ufffd", text)
        return "".join(low if len(low := c.lower()) == 1 else c for c in text) if self._lower else text


@dataclass(frozen=True)
class Layout:
    """The marks that a tokenizer puts before, between and behind two texts, and the segments of all."""

    first: tuple[int, ...]
    between: tuple[int, ...]
    last: tuple[int, ...]
    first_types: tuple[int, ...]
    between_types: tuple[int, ...]
    last_types: tuple[int, ...]
    types: tuple[int, int]


def _layout(loaded: "Tokenizer") -> Layout:
    """Read off a pair of short texts."""
    found = loaded.encode("a", "b")
    sides = found.sequence_ids
    if 0 not in sides or 1 not in sides:
        raise Invalid({FILE: "It makes no word pieces of plain letters."})
    ends = [sides.index(0), len(sides) - sides[::-1].index(0), sides.index(1), len(sides) - sides[::-1].index(1)]
    cuts = [slice(0, ends[0]), slice(ends[1], ends[2]), slice(ends[3], None)]
    ids, types = ([tuple(row[cut]) for cut in cuts] for row in (found.ids, found.type_ids))
    return Layout(
        ids[0], ids[1], ids[2], types[0], types[1], types[2], (found.type_ids[ends[0]], found.type_ids[ends[2]])
    )


def _words(found: "Encoding", text: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
    """The words that the tokenizer sees, without space around them, and each piece's word."""
    places: list[tuple[int, int]] = []
    word: list[int] = []
    known: int | None = None
    for own, (start, end) in zip(found.word_ids, found.offsets, strict=True):
        if places and own is not None and own == known:
            places[-1] = places[-1][0], max(end, places[-1][1])
        else:
            places.append((start, end))
        known = own
        word.append(len(places) - 1)
    return tuple(_trimmed(text, start, end) for start, end in places), tuple(word)


def _trimmed(text: str, start: int, end: int) -> Word:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Word(part.strip(), start, start + len(part.strip()))
