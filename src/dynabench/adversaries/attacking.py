"""An adversary against a target, context after context, with what each attempt took."""

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Metered, Target
from dynabench.adversaries.search.asking import wrong
from dynabench.models.protocol import Inputs, Model, Output
from dynabench.stats.rates import Rate, wilson

BATCH = 64
"""Inputs that a model in this process is given at once."""


class Local:
    """A model in this process as a target."""

    def __init__(self, model: Model) -> None:
        self.labels: Sequence[str] = model.card.labels
        self._model = model

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output for each."""
        parts = (batch[at : at + BATCH] for at in range(0, len(batch), BATCH))
        return [output for part in parts for output in self._model.predict(part)]


@dataclass(frozen=True)
class Attempt:
    """What an adversary made of one context whose input the target answers correctly."""

    context: Context
    candidates: Sequence[Candidate]
    queries: int
    seconds: float

    @property
    def fooled(self) -> Candidate | None:
        """The first candidate that fools the target."""
        return next((each for each in self.candidates if each.fooled), None)


def attack(adversary: Adversary, target: Target, contexts: Iterable[Context], budget: Budget) -> Iterator[Candidate]:
    """Every candidate for contexts whose input the target answers correctly; `budget` is for each context."""
    for attempt in attempts(adversary, target, contexts, budget):
        yield from attempt.candidates


def attempts(
    adversary: Adversary, target: Target, contexts: Iterable[Context], budget: Budget, until: int | None = None
) -> Iterator[Attempt]:
    """One attempt for each context whose input the target answers correctly, at most `until` of them.

    Whether it does is asked first, once, outside of the budget. Queries are counted here, whatever the adversary says.
    """
    made = 0
    for context in contexts:
        if made == until:
            return
        if context.inputs and context.answer and wrong(target.ask([context.inputs])[0], context.answer):
            continue
        counted, begun = Metered(target, budget), time.monotonic()
        candidates = list(adversary.propose(context, counted, budget))
        made += 1
        yield Attempt(context, candidates, counted.queries, time.monotonic() - begun)


@dataclass(frozen=True)
class Summary:
    """An attack in figures; medians and means are None where there is nothing to take them of."""

    correct: int
    fooled: Rate
    queries_median: float | None
    queries_mean: float | None
    queries_fooled_median: float | None
    similarity: float | None
    changed: float | None
    seconds: float


def summary(made: Sequence[Attempt]) -> Summary:
    """Share fooled with Wilson's interval, queries of all and of successes; of successes the means of similarity and of
    the share of words changed."""
    won = [(attempt, found) for attempt in made if (found := attempt.fooled)]
    facts = [found.facts for _, found in won]
    return Summary(
        len(made),
        wilson(len(won), len(made)),
        _median([attempt.queries for attempt in made]),
        _mean([attempt.queries for attempt in made]),
        _median([attempt.queries for attempt, _ in won]),
        _mean([fact["similarity"] for fact in facts if "similarity" in fact]),
        _mean([fact["changed"] / fact["words"] for fact in facts if fact.get("words")]),
        sum(attempt.seconds for attempt in made),
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def told(candidate: Candidate) -> dict[str, Any]:
    """The candidate as JSON values, a row of a file."""
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
