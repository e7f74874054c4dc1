"""One text in which several parties marked something."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Mark:
    """A stretch of the text and who marked it; `begins` names those whose mark begins here."""

    text: str
    by: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


def marks(text: str, by: Iterable[tuple[str, Any]]) -> list[Mark]:
    """`text` cut wherever a mark begins or ends.

    `by` pairs who marked with their spans, a list of `{start, end}` in code points; what is no such list, or lies
    outside of the text, marks nothing.
    """
    spans = [(who, start, end) for who, value in by for start, end in _spans(value, len(text))]
    cuts = sorted({0, len(text), *(at for _, start, end in spans for at in (start, end))})
    return [
        Mark(
            text[start:end],
            tuple(dict.fromkeys(who for who, first, last in spans if first <= start and end <= last)),
            tuple(dict.fromkeys(who for who, first, _ in spans if first == start)),
        )
        for start, end in pairwise(cuts)
    ]


def _spans(value: Any, length: int) -> list[tuple[int, int]]:
    found = []
    for span in value if isinstance(value, list) else []:
        start, end = (span.get("start"), span.get("end")) if isinstance(span, Mapping) else (None, None)
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length:
            found.append((start, end))
    return found
