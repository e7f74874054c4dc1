"""One text in which several people or models marked spans."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class MarkedPiece:
    """A piece of the text and those who marked it; `begins` names those whose mark begins here."""

    text: str
    by: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


def mark_text(text: str, by: Iterable[tuple[str, Any]]) -> list[MarkedPiece]:
    """Return `text` cut wherever a mark begins or ends.

    `by` pairs a name with its spans, a list of `{start, end}` in code points; spans outside of the text, and
    values of another form, mark nothing.
    """
    spans = [(marker, start, end) for marker, value in by for start, end in _spans(value, len(text))]
    cuts = sorted({0, len(text), *(at for _, start, end in spans for at in (start, end))})
    return [
        MarkedPiece(
            text[start:end],
            tuple(dict.fromkeys(marker for marker, first, last in spans if first <= start and end <= last)),
            tuple(dict.fromkeys(marker for marker, first, _ in spans if first == start)),
        )
        for start, end in pairwise(cuts)
    ]


def _spans(value: Any, length: int) -> list[tuple[int, int]]:
    valid_spans = []
    for span in value if isinstance(value, list) else []:
        start, end = (span.get("start"), span.get("end")) if isinstance(span, Mapping) else (None, None)
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length:
            valid_spans.append((start, end))
    return valid_spans
