"""The data that an import works with: rows with their places in the file, and its progress so far."""

from dataclasses import dataclass, field

from dynabench.datasets.rows import Row

KINDS_OF_NOTES = 50


@dataclass
class State:
    """The progress of an import so far; JSON-safe as `vars(state)`, kept from batch to batch.

    `rounds` maps the file's round numbers to rounds here. `waiting` holds pairs of an example and its origin
    that has not come yet. `notes` counts the things that were left out of stored rows.
    """

    created: int = 0
    duplicates: int = 0
    failed: int = 0
    rounds: dict[str, int] = field(default_factory=dict)
    waiting: list[list[str]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def note(self, text: str, times: int = 1) -> None:
        """Count something that was left out."""
        known = text if text in self.notes or len(self.notes) < KINDS_OF_NOTES else "Further things that were left out"
        if times:
            self.notes[known] = self.notes.get(known, 0) + times


@dataclass(frozen=True)
class Numbered:
    """A row with its place in the file."""

    number: int
    row: Row
