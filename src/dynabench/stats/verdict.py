"""Verdicts from the votes on one example, and the number of further votes that may be outstanding."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp


class Verdict(StrEnum):
    """The status of an example by its votes; the first three are also the labels that a vote can carry."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    FLAGGED = "flagged"
    PENDING = "pending"
    DISPUTED = "disputed"

    @property
    def final(self) -> bool:
        """True where no more votes are needed."""
        return self is not Verdict.PENDING


LABELS = frozenset({Verdict.CORRECT, Verdict.INCORRECT, Verdict.FLAGGED})


class VerdictRule(StrEnum):
    """The ways in which votes decide: each vote counts the same, or as much as its validator is reliable."""

    PLAIN = "plain"
    WEIGHTED = "weighted"


CERTAINTY = 0.9
"""The probability of a label from which the weighted rule decides before the cap is reached."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One counted vote: `correct`, `incorrect` or `flagged`. Skipped and undone votes are not counted.

    `weight` is the log-odds that the vote adds to its label, where a round weighs votes; None where all count the same.
    """

    label: str
    by_owner: bool = False
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"a vote is correct, incorrect or flagged, not {self.label!r}")


def verdict(votes: Sequence[Vote], need: int, cap: int) -> Verdict:
    """Return the verdict that `votes`, in the order in which they were cast, support.

    The first `need` votes decide if they all agree; otherwise the first label that holds a majority of `cap`
    (floor(cap / 2) + 1 votes) does; `cap` votes without one leave it disputed. An owner's latest vote decides
    alone. Votes cast after a decision change nothing. Raises ValueError unless 1 <= need <= cap.

    Where votes have weights, the first label that is at least `CERTAINTY` probable after `need` votes or more decides;
    after `cap` votes the label that is more probable than all others together does.
    """
    if not 1 <= need <= cap:
        raise ValueError(f"a verdict needs 1 <= need <= cap, not need={need}, cap={cap}")
    for vote in reversed(votes):
        if vote.by_owner:
            return Verdict(vote.label)
    if len(votes) < need:
        return Verdict.PENDING
    if _weighted(votes):
        return _weighted_verdict(votes, need, cap)
    counts = Counter(vote.label for vote in votes[:need])
    label, most = counts.most_common(1)[0]
    if most == need or most > cap // 2:
        return Verdict(label)
    for vote in votes[need:cap]:
        counts[vote.label] += 1
        if counts[vote.label] > cap // 2:
            return Verdict(vote.label)
    return Verdict.DISPUTED if len(votes) >= cap else Verdict.PENDING


def label_probabilities(votes: Sequence[Vote]) -> dict[str, float]:
    """Return the probability of each label by the weights of the votes, all labels being equally likely before them.

    A vote without a weight adds nothing.
    """
    odds: dict[str, float] = dict.fromkeys(sorted(LABELS), 0.0)
    for vote in votes:
        odds[vote.label] += vote.weight or 0.0
    top = max(odds.values())
    scaled = {label: exp(value - top) for label, value in odds.items()}
    total = sum(scaled.values())
    return {label: value / total for label, value in scaled.items()}


def _weighted(votes: Sequence[Vote]) -> bool:
    return any(vote.weight is not None for vote in votes)


def _weighted_verdict(votes: Sequence[Vote], need: int, cap: int) -> Verdict:
    for count in range(need, min(len(votes), cap) + 1):
        chances = label_probabilities(votes[:count])
        label = max(chances, key=lambda each: chances[each])
        if chances[label] >= CERTAINTY or (count == cap and chances[label] > 0.5):
            return Verdict(label)
    return Verdict.DISPUTED if len(votes) >= cap else Verdict.PENDING


def model_was_wrong(decided: Verdict) -> bool | None:
    """Return whether validators found the model's answer wrong, where they vote on it.

    `correct` means that it is wrong.

    None where they have not decided, could not agree, or found the example unfit.
    """
    return {Verdict.CORRECT: True, Verdict.INCORRECT: False}.get(decided)


def max_outstanding_votes(votes: Sequence[Vote], need: int, cap: int) -> int:
    """Return how many votes may be outstanding now so that none of them can arrive after a decision.

    Before `need` votes all missing ones may be; afterwards as many as the cap leaves, and no more than the leading
    label lacks for its majority: were they all to agree, the last of them would be the one that decides.
    Zero once the verdict is final, at least one before.
    """
    if verdict(votes, need, cap).final:
        return 0
    if len(votes) < need:
        return need - len(votes)
    if _weighted(votes):  # the next vote may decide, of any validator
        return 1
    most = max(Counter(vote.label for vote in votes).values())
    return min(cap - len(votes), cap // 2 + 1 - most)
