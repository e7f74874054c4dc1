"""The model error rate of a round and its validated forms, from counts.

MER = fooled / examples. vMER = fooled and found correct / examples, as the Dynabench paper defines it. vMER
(resolved) = fooled and found correct / (not fooled + fooled with a final verdict): the value of vMER without
the examples that still wait for votes. Examples without a known outcome (fooled or not) are in none of the
three, neither above nor below the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dynabench.stats.rates import Rate, clustered_rate, wilson


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Counts of live examples that were not retracted: fooled, of these found `correct`, and with any final verdict.

    `unknown` examples have no known outcome: no model was asked, or nobody has judged its answer yet.
    """

    examples: int = 0
    fooled: int = 0
    validated: int = 0
    resolved: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.validated <= self.resolved <= self.fooled <= self.known <= self.examples:
            raise ValueError(f"counts need 0 <= validated <= resolved <= fooled <= examples - unknown, not {self}")

    def __add__(self, other: "ErrorCounts") -> "ErrorCounts":
        return ErrorCounts(
            self.examples + other.examples,
            self.fooled + other.fooled,
            self.validated + other.validated,
            self.resolved + other.resolved,
            self.unknown + other.unknown,
        )

    @property
    def known(self) -> int:
        """Examples with a known outcome (fooled or not): the base of MER and vMER."""
        return self.examples - self.unknown

    @property
    def settled(self) -> int:
        """Examples with a known status as validated errors: not fooled, or with a final verdict."""
        return self.known - self.fooled + self.resolved


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The three rates of one set of examples."""

    mer: Rate
    vmer: Rate
    vmer_resolved: Rate


def error_rates(counts: ErrorCounts, level: float = 0.95) -> ErrorRates:
    """Return the rates with Wilson intervals, as if examples were independent of each other."""
    return ErrorRates(
        mer=wilson(counts.fooled, counts.known, level),
        vmer=wilson(counts.validated, counts.known, level),
        vmer_resolved=wilson(counts.validated, counts.settled, level),
    )


def clustered_error_rates(by_annotator: Sequence[ErrorCounts], level: float = 0.95) -> ErrorRates:
    """Return the rates with intervals clustered by annotator: one `ErrorCounts` per person."""
    with_outcome = [counts.known for counts in by_annotator]
    validated = [counts.validated for counts in by_annotator]
    return ErrorRates(
        mer=clustered_rate([counts.fooled for counts in by_annotator], with_outcome, level),
        vmer=clustered_rate(validated, with_outcome, level),
        vmer_resolved=clustered_rate(validated, [counts.settled for counts in by_annotator], level),
    )
