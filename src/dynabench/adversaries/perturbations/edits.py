"""Edits of a text, and where each place of the text is afterwards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

Span = tuple[int, int]
"""First code point and the one after the last."""


class Edit(NamedTuple):
    """The characters from `start` up to `end` become `new`; an insertion where both are equal."""

    start: int
    end: int
    new: str

    def touches(self, span: Span) -> bool:
        """Whether it changes something inside `span`; an insertion at its border does not."""
        if self.start == self.end:
            return span[0] < self.start < span[1]
        return self.start < span[1] and span[0] < self.end


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed text: `text` is `old` with `edits`, which are in order and do not overlap."""

    old: str
    text: str
    edits: tuple[Edit, ...]

    def span(self, start: int, end: int) -> Span | None:
        """Where the characters from `start` up to `end` of the old text are in the new one.

        What is inserted at a border stays outside. None where an edit reaches across a border, or nothing is left.
        """
        shift_start = shift_end = 0
        for edit in self.edits:
            grown = len(edit.new) - (edit.end - edit.start)
            if edit.end <= start:
                shift_start, shift_end = shift_start + grown, shift_end + grown
            elif start <= edit.start and edit.end <= end and (edit.start, edit.end) != (end, end):
                shift_end += grown
            elif edit.start < end:
                return None
        found = start + shift_start, end + shift_end
        return found if found[0] < found[1] else None


def edit(text: str, edits: Iterable[Edit], locked: Sequence[Span] = ()) -> Edited | None:
    """`text` with `edits`, those left out that touch a `locked` span, say nothing new or overlap an earlier one.

    None where nothing changes.
    """
    kept: list[Edit] = []
    for one in sorted(edits):
        apart = not kept or (kept[-1].end <= one.start and (one.start, one.end) != (kept[-1].start, kept[-1].end))
        if apart and text[one.start : one.end] != one.new and not any(one.touches(span) for span in locked):
            kept.append(one)
    pieces, at = [], 0
    for one in kept:
        pieces += [text[at : one.start], one.new]
        at = one.end
    changed = "".join(pieces) + text[at:]
    return Edited(text, changed, tuple(kept)) if changed != text else None


def some(candidates: Sequence[Edit], words: int, rng: Random, every: int = 10) -> list[Edit]:
    """One candidate for `every` words of the text, at least one where there are any, drawn without replacement."""
    return sorted(rng.sample(candidates, min(len(candidates), max(1, words // every))))
