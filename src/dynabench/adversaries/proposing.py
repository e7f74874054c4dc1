"""What every adversary is, people and programs alike: it is given a context, a target and a budget, and proposes.

A program is an `Adversary`; a person at the page does the same by hand. What either proposes goes through the same door
(`POST /tasks/{task}/examples`) and is validated by people in the same way.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dynabench.models.protocol import Inputs, Output


class Spent(Exception):
    """The budget is used up: raised by `Metered.ask`, and the end of a search wherever it comes."""


@dataclass(frozen=True)
class Budget:
    """What an adversary may use on one context: calls of the target, seconds, and money for models of its own.

    None is no limit; a search without any limit must end by itself.
    """

    queries: int | None = None
    seconds: float | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Context:
    """What there is to start from: the context's values, and an input with its answer where one is known.

    `uid` names it in what is recorded; `inputs` are the model's inputs by field name, context fields among them.
    """

    uid: str
    values: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] | None = None


class Target(Protocol):
    """What is attacked: answers a batch of inputs, in their order."""

    labels: Sequence[str]

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output for each."""
        ...


@dataclass(frozen=True)
class Candidate:
    """A proposal: new inputs, the answer that is right for them in the adversary's view, and how it came about.

    `queries` and `cost` are what it took since the one before. `facts` are what the adversary tells, JSON values by
    name, such as `similarity`, `changed` or `strategy`.
    """

    context: str
    inputs: Mapping[str, Any]
    answer: Mapping[str, Any]
    output: Output | None = None
    fooled: bool | None = None
    queries: int = 0
    cost: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)


class Adversary(Protocol):
    """A program that proposes. `name` and `version` are recorded with all that comes of it."""

    name: str
    version: str

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """Candidates, best first where it knows; ends when it has no more or the budget is spent."""
        ...


class Metered:
    """A target under a budget: counts what is asked, and raises `Spent` before a call that would go beyond it."""

    def __init__(self, target: Target, budget: Budget) -> None:
        self.labels = target.labels
        self.queries = 0
        self.cost = 0.0
        self._target = target
        self._budget = budget
        self._ends = time.monotonic() + budget.seconds if budget.seconds is not None else None

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """What the target answers; a batch counts as many queries as it has inputs."""
        if not batch:
            return []
        left = self.left
        if left is not None and len(batch) > left:
            raise Spent
        if self._ends is not None and time.monotonic() >= self._ends:
            raise Spent
        self.queries += len(batch)
        return self._target.ask(batch)

    def pay(self, cost: float) -> None:
        """Take note of money spent on a model of the adversary's own; raises `Spent` where it was too much, or took too
        long."""
        self.cost += cost
        late = self._ends is not None and time.monotonic() >= self._ends
        if late or (self._budget.cost is not None and self.cost > self._budget.cost):
            raise Spent

    @property
    def left(self) -> int | None:
        """Queries that are left; None for no limit."""
        return None if self._budget.queries is None else self._budget.queries - self.queries
