"""The pictures drawn for an annotator, as the annotator sees them.

Their order says nothing about which model drew which.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.drawing import service
from dynabench.collection.drawing.tables import Sheet
from dynabench.media import queries
from dynabench.media.tables import Media


@dataclass(frozen=True)
class SheetView:
    """The pictures of some words, as references to files that are still there; `seconds` is how long they took."""

    id: int
    words: dict[str, Any]
    pictures: list[dict[str, Any]]
    seconds: float

    @property
    def said(self) -> str:
        """The words in a line."""
        return " · ".join(str(text) for text in self.words.values())


def view(session: Session, person_id: int, handout_id: int) -> list[SheetView]:
    """All that was drawn for somebody on a handout, newest first; what was thrown away meanwhile is left out."""
    found = service.sheets(session, person_id, handout_id)
    digests = {each["media"] for sheet in found for each in _pictures(sheet)}
    known = set(session.scalars(queries.stored_media(digests).with_only_columns(Media.digest))) if digests else set()
    views = [of(sheet, known) for sheet in found]
    return [each for each in views if each.pictures]


def of(sheet: Sheet, known: set[str] | None = None) -> SheetView:
    """One sheet, shuffled in the same way each time."""
    pictures = [each for each in _pictures(sheet) if known is None or each["media"] in known]
    Random(sheet.id).shuffle(pictures)
    return SheetView(sheet.id, dict(sheet.words), pictures, max(side["ms"] for side in sheet.sides) / 1000)


def _pictures(sheet: Sheet) -> list[dict[str, Any]]:
    return [each for side in sheet.sides for each in side["pictures"]]
