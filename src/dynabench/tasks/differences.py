"""What changed between two texts, by words: as people read an edit, not as the fewest characters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

Kind = Literal["same", "out", "in"]
_PIECES = re.compile(r"\s+|[^\W_]+(?:[’'\-][^\W_]+)*|.", re.DOTALL)
MOST = 2000  # words compared; the longer middle of longer texts is told as one replacement


@dataclass(frozen=True)
class Piece:
    """Text that stayed (`same`), went (`out`) or came (`in`)."""

    kind: Kind
    text: str


def differences(before: str, after: str) -> tuple[Piece, ...]:
    """How `before` became `after`, word by word (Ratcliff and Obershelp's matching, by `difflib`).

    The pieces that are `same` or `out` spell `before`, those that are `same` or `in` spell `after`; neighbours differ
    in kind, and what went stands before what came in its place.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    pieces = [Piece("same", word) for word in old[:start]]
    pieces += _matched(middle_old, middle_new)
    pieces += [Piece("same", word) for word in old[len(old) - end :]] if end else []
    return tuple(_joined(pieces))


def _shared(first: list[str], second: list[str]) -> int:
    """How many words two lists begin with in common."""
    pairs = zip(first, second, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _matched(old: list[str], new: list[str]) -> list[Piece]:
    if max(len(old), len(new)) > MOST:
        return [Piece("out", "".join(old)), Piece("in", "".join(new))]
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces += [Piece("same", word) for word in old[a:b]]
        else:
            pieces += [Piece("out", "".join(old[a:b])), Piece("in", "".join(new[c:d]))]
    return pieces


def _joined(pieces: list[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one; a lone blank between two changes belongs to both of them."""
    runs = [(kind, list(run)) for kind, run in groupby((p for p in pieces if p.text), key=lambda p: p.kind == "same")]
    out, new = "", ""
    for at, (same, run) in enumerate(runs):
        text = "".join(piece.text for piece in run)
        if same and (not text.isspace() or at in (0, len(runs) - 1)):
            yield from _change_of(out, new)
            yield Piece("same", text)
            out = new = ""
        else:
            out += text if same else "".join(piece.text for piece in run if piece.kind == "out")
            new += text if same else "".join(piece.text for piece in run if piece.kind == "in")
    yield from _change_of(out, new)


def _change_of(out: str, new: str) -> list[Piece]:
    gone, come = Piece("out", out), Piece("in", new)
    return [piece for piece in (gone, come) if piece.text]
