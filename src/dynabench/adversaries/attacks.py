"""Attacks of an adversary on a target, context after context, with the queries and seconds of each attempt."""

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.adversaries.protocol import Adversary, Budget, Candidate, Context, MeteredTarget, Target, is_wrong
from dynabench.models.protocol import Inputs, Model, Output
from dynabench.stats.rates import Rate, wilson

BATCH = 64
"""Inputs that a model in this process is given at once."""


class LocalTarget:
    """A model in this process as a target."""

    def __init__(self, model: Model) -> None:
        self.labels: Sequence[str] = model.card.labels
        self._model = model

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """Return one output for each input."""
        parts = (batch[at : at + BATCH] for at in range(0, len(batch), BATCH))
        return [output for part in parts for output in self._model.predict(part)]


@dataclass(frozen=True)
class Attempt:
    """The candidates of an adversary for one context whose input the target answers correctly."""

    context: Context
    candidates: Sequence[Candidate]
    queries: int
    seconds: float

    @property
    def fooled(self) -> Candidate | None:
        """Return the first candidate that fools the target."""
        return next((candidate for candidate in self.candidates if candidate.fooled), None)


def attack(adversary: Adversary, target: Target, contexts: Iterable[Context], budget: Budget) -> Iterator[Candidate]:
    """Yield every candidate for contexts whose input the target answers correctly; `budget` is for each context."""
    for attempt in run_attempts(adversary, target, contexts, budget):
        yield from attempt.candidates


def run_attempts(
    adversary: Adversary, target: Target, contexts: Iterable[Context], budget: Budget, until: int | None = None
) -> Iterator[Attempt]:
    """Yield one attempt for each context whose input the target answers correctly, at most `until` of them.

    The input itself is asked first, once, outside of the budget. Queries are counted here, not by the adversary.
    """
    count = 0
    for context in contexts:
        if count == until:
            return
        if context.inputs and context.answer and is_wrong(target.ask([context.inputs])[0], context.answer):
            continue
        metered, start = MeteredTarget(target, budget), time.monotonic()
        candidates = list(adversary.propose(context, metered, budget))
        count += 1
        yield Attempt(context, candidates, metered.queries, time.monotonic() - start)


@dataclass(frozen=True)
class AttackSummary:
    """An attack in figures; medians and means of nothing are None."""

    correct: int
    fooled: Rate
    queries_median: float | None
    queries_mean: float | None
    queries_fooled_median: float | None
    similarity: float | None
    changed: float | None
    seconds: float


def summarise_attempts(attempts: Sequence[Attempt]) -> AttackSummary:
    """Return the share fooled with Wilson's interval, the queries of all attempts and of successes.

    Of successes also the means of similarity and of the share of changed words.
    """
    successes = [(attempt, candidate) for attempt in attempts if (candidate := attempt.fooled)]
    facts = [candidate.facts for _, candidate in successes]
    return AttackSummary(
        len(attempts),
        wilson(len(successes), len(attempts)),
        _median([attempt.queries for attempt in attempts]),
        _mean([attempt.queries for attempt in attempts]),
        _median([attempt.queries for attempt, _ in successes]),
        _mean([fact["similarity"] for fact in facts if "similarity" in fact]),
        _mean([fact["changed"] / fact["words"] for fact in facts if fact.get("words")]),
        sum(attempt.seconds for attempt in attempts),
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def candidate_row(candidate: Candidate) -> dict[str, Any]:
    """Return the candidate as JSON values, a row of a file."""
    output = candidate.output
    return {
        "context": candidate.context,
        "inputs": dict(candidate.inputs),
        "answer": dict(candidate.answer),
        "predicted": output.answer if output else None,
        "fooled": candidate.fooled,
        "queries": candidate.queries,
        "cost": candidate.cost,
        **({"facts": dict(candidate.facts)} if candidate.facts else {}),
    }
