"""The changes in the texts that an annotator began with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dynabench.tasks.fields import Field, Text
from dynabench.tasks.words import DiffPiece, word_differences


@dataclass(frozen=True)
class Change:
    """The change in one field of the text that an annotator began with."""

    label: str
    pieces: tuple[DiffPiece, ...]
    words: int

    @property
    def changed(self) -> bool:
        """True if any word changed."""
        return self.words > 0


def changes(fields: Iterable[Field], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the change of each text field that did not begin empty."""
    return [
        _change(field.label, str(before[field.name]), str(after.get(field.name, "")))
        for field in fields
        if isinstance(field, Text) and before.get(field.name)
    ]


def _change(label: str, before: str, after: str) -> Change:
    pieces = word_differences(before, after)
    words = {kind: sum(len(piece.text.split()) for piece in pieces if piece.kind == kind) for kind in ("out", "in")}
    return Change(label, pieces, max(max(words.values()), int(before != after)))
