"""The values of signals from the facts of one example: pure functions, also used to measure error rates."""

from dataclasses import dataclass, field
from typing import Any

from dynabench.quality.signals.tables import SignalKind
from dynabench.stats.minhash import Hashes, normalize_text, similarity

FASTEST = 10.0
"""Characters a second that hardly anybody types: 120 words of five characters a minute."""
PASTED = 0.5
"""Share of pasted characters from which a text counts as pasted."""
LEAST_PASTED, LEAST_SPEED, LEAST_WORDS = 20, 40, 4
"""Characters of a paste, characters of a text for speed, and words of a text that can be a copy."""
NEAR = 0.7
"""Similarity of character shingles from which texts are near-duplicates; see `docs/explanation/signals.md`."""
PEOPLE = 3
"""People of a task on one device from which a signal is given: two may share a computer."""


@dataclass(frozen=True)
class MeasuredSignal:
    """A value at or above its threshold, with the numbers behind it."""

    kind: SignalKind
    value: float
    threshold: float
    facts: dict[str, Any] = field(default_factory=dict)
    other_id: int | None = None


def measure_speed(characters: int, seconds: float) -> MeasuredSignal | None:
    """Return the signal of a text that was sent sooner after its handout than anybody types.

    `characters` are those that the author had to write; `seconds` are the server's, from the handout to sending.
    """
    if characters < LEAST_SPEED:
        return None
    value = characters / max(seconds, 0.1)
    facts = {"characters": characters, "seconds": round(seconds, 1)}
    return MeasuredSignal(SignalKind.SPEED, round(value, 2), FASTEST, facts) if value >= FASTEST else None


def measure_paste(characters: int, typed: int | None, pasted: int | None) -> MeasuredSignal | None:
    """Return the signal of a text that the author's page says was pasted, or whose claimed counts do not explain it."""
    if typed is None or pasted is None:
        return None
    facts = {"typed": typed, "pasted": pasted, "characters": characters}
    value = pasted / (typed + pasted) if pasted >= LEAST_PASTED else 0.0
    if characters >= LEAST_SPEED and typed + pasted < characters * (1 - PASTED):
        value = max(value, 1 - typed / characters)  # less was claimed than the text needs
    return MeasuredSignal(SignalKind.PASTE, round(value, 3), PASTED, facts) if value >= PASTED else None


def measure_copy(text: str, hashes: Hashes, other_text: str, other_hashes: Hashes) -> tuple[SignalKind, float] | None:
    """Return whether a text is the same as another one, or nearly, and how similar; None for other or short texts."""
    normalized = normalize_text(text)
    if len(normalized.split()) < LEAST_WORDS:
        return None
    if normalized == normalize_text(other_text):
        return SignalKind.COPY, 1.0
    share = similarity(hashes, other_hashes)
    return (SignalKind.NEAR_DUPLICATE, round(share, 3)) if share >= NEAR else None


def measure_device(people: int) -> MeasuredSignal | None:
    """Return the signal of a device that several people of a task share."""
    if people < PEOPLE:
        return None
    return MeasuredSignal(SignalKind.DEVICE, float(people), float(PEOPLE), {"people": people})
