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
        """Return whether the edit changes something inside `span`; an insertion at its border does not."""
        if self.start == self.end:
            return span[0] < self.start < span[1]
        return self.start < span[1] and span[0] < self.end


@dataclass(frozen=True, slots=True)
class EditedText:
    """A changed text: `text` is `old` with `edits`, which are in order and do not overlap."""

    old: str
    text: str
    edits: tuple[Edit, ...]

    def span(self, start: int, end: int) -> Span | None:
        """Return where the characters from `start` up to `end` of the old text are in the new one.

        Insertions at a border stay outside. None where an edit reaches across a border, or nothing is left.
        """
        shift_start = shift_end = 0
        for edit in self.edits:
            growth = len(edit.new) - (edit.end - edit.start)
            if edit.end <= start:
                shift_start, shift_end = shift_start + growth, shift_end + growth
            elif start <= edit.start and edit.end <= end and (edit.start, edit.end) != (end, end):
                shift_end += growth
            elif edit.start < end:
                return None
        new_span = start + shift_start, end + shift_end
        return new_span if new_span[0] < new_span[1] else None


def apply_edits(text: str, edits: Iterable[Edit], locked: Sequence[Span] = ()) -> EditedText | None:
    """Return `text` with `edits`, but for those that touch a `locked` span, change nothing or overlap an earlier edit.

    None where nothing changes.
    """
    accepted: list[Edit] = []
    for edit in sorted(edits):
        last = accepted[-1] if accepted else None
        apart = last is None or (last.end <= edit.start and (edit.start, edit.end) != (last.start, last.end))
        if apart and text[edit.start : edit.end] != edit.new and not any(edit.touches(span) for span in locked):
            accepted.append(edit)
    pieces, at = [], 0
    for edit in accepted:
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    new_text = "".join(pieces) + text[at:]
    return EditedText(text, new_text, tuple(accepted)) if new_text != text else None


def draw_edits(candidates: Sequence[Edit], words: int, rng: Random, every: int = 10) -> list[Edit]:
    """Draw one candidate for `every` words of the text, at least one where there are any, without replacement."""
    return sorted(rng.sample(candidates, min(len(candidates), max(1, words // every))))
