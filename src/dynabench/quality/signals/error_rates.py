"""The measured error rates of signals: read from the file that `python -m benchmarks.signals` writes."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import orjson

from dynabench.kit.language import N_
from dynabench.quality.signals.tables import SignalKind
from dynabench.stats.rates import Rate, wilson

FILE = Path(__file__).parent / "error_rates.json"
DATA = {
    "copies": N_("1,000 hypotheses by people and as many known copies"),
    "changed_copies": N_("1,000 hypotheses by people and as many known copies with one word changed"),
    "typing": N_("simulated typing with published speeds, and pasting within ten seconds"),
    "counts": N_("simulated counts of typed and pasted characters"),
    "like": N_("texts by people and by SmolLM2 135M, on other contexts than those of the training"),
    "unlike": N_("statements of another data set, and SmolLM2 135M with other requests than in training"),
}
"""The data of measurements, by the name in the file."""


@dataclass(frozen=True)
class SignalErrors:
    """Errors of a signal on known data: the share of innocent texts that it marks, and of known cases that it misses.

    `data` names the data, a key of `DATA`; both rates have Wilson's interval.
    """

    data: str
    false_alarms: Rate
    missed: Rate


@cache
def read_error_rates() -> dict[SignalKind, tuple[SignalErrors, ...]]:
    """Return the measurements of each kind of signal; none for kinds that cannot be measured on known data."""
    document = orjson.loads(FILE.read_bytes())
    return {
        kind: tuple(
            SignalErrors(row["data"], wilson(*row["false_alarms"]), wilson(*row["missed"]))
            for row in document.get(kind, [])
        )
        for kind in SignalKind
    }
