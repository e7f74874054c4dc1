"""Words of answers: what two answers share, and how two texts differ."""

import re
import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Literal


def word_f1(predicted: str, claimed: str) -> float:
    """Return F1 over the words of two answers, from 0 to 1, as SQuAD defines it (Rajpurkar et al. 2016, section 6.1).

    Lower case, without ASCII punctuation and English articles; two answers without words are equal.
    """
    first, second = answer_words(predicted), answer_words(claimed)
    if not first or not second:
        return float(first == second)
    common = sum((Counter(first) & Counter(second)).values())
    return 2 * common / (len(first) + len(second))


def answer_words(text: str) -> list[str]:
    """Return the words of an answer that count: lower case, without ASCII punctuation and English articles."""
    bare = text.casefold().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def texts_of(value: Any) -> list[str]:
    """Return an answer as texts: itself, the members of a list, or the text of each span.

    No answer gives [].
    """
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    return [str(item["text"]) if isinstance(item, dict) and "text" in item else str(item) for item in items]


PieceKind = Literal["same", "out", "in"]
_PIECES = re.compile(r"\s+|[^\W_]+(?:[’'\-][^\W_]+)*|.", re.DOTALL)
MAX_WORDS = 2000  # words compared; the longer middle of longer texts is told as one replacement


@dataclass(frozen=True)
class DiffPiece:
    """Text that was kept (`same`), removed (`out`) or added (`in`)."""

    kind: PieceKind
    text: str


def word_differences(before: str, after: str) -> tuple[DiffPiece, ...]:
    """Return the changes from `before` to `after`, word by word (Ratcliff and Obershelp's matching, by `difflib`).

    The pieces that are `same` or `out` spell `before`, those that are `same` or `in` spell `after`; neighbours
    differ in kind, and removed text stands before the text that replaces it.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    start = _common_prefix_length(old, new)
    end = _common_prefix_length(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    pieces = [DiffPiece("same", word) for word in old[:start]]
    pieces += _match_words(middle_old, middle_new)
    pieces += [DiffPiece("same", word) for word in old[len(old) - end :]] if end else []
    return tuple(_merge_pieces(pieces))


def _common_prefix_length(first: list[str], second: list[str]) -> int:
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, (old_word, new_word) in enumerate(pairs) if old_word != new_word), min(len(first), len(second))
    )


def _match_words(old: list[str], new: list[str]) -> list[DiffPiece]:
    if max(len(old), len(new)) > MAX_WORDS:
        return [DiffPiece("out", "".join(old)), DiffPiece("in", "".join(new))]
    pieces: list[DiffPiece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces += [DiffPiece("same", word) for word in old[a:b]]
        else:
            pieces += [DiffPiece("out", "".join(old[a:b])), DiffPiece("in", "".join(new[c:d]))]
    return pieces


def _merge_pieces(pieces: list[DiffPiece]) -> Iterator[DiffPiece]:
    """Neighbours of one kind as one; a lone blank between two changes belongs to both of them."""
    runs = [(kind, list(run)) for kind, run in groupby((p for p in pieces if p.text), key=lambda p: p.kind == "same")]
    out, new = "", ""
    for at, (same, run) in enumerate(runs):
        text = "".join(piece.text for piece in run)
        if same and (not text.isspace() or at in (0, len(runs) - 1)):
            yield from _change_of(out, new)
            yield DiffPiece("same", text)
            out = new = ""
        else:
            out += text if same else "".join(piece.text for piece in run if piece.kind == "out")
            new += text if same else "".join(piece.text for piece in run if piece.kind == "in")
    yield from _change_of(out, new)


def _change_of(out: str, new: str) -> list[DiffPiece]:
    gone, come = DiffPiece("out", out), DiffPiece("in", new)
    return [piece for piece in (gone, come) if piece.text]
