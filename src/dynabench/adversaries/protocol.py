"""The interface of adversaries: contexts to attack, targets within a budget, and candidates."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Protocol, cast

from dynabench.kit import plugins
from dynabench.kit.errors import Invalid, NotFound
from dynabench.models.protocol import Inputs, ModelOutput

LONGEST = 100_000
"""Characters of a text that is attacked; longer texts are left alone."""


class BudgetSpent(Exception):
    """The budget is used up: `MeteredTarget.ask` raises it, and a search ends wherever it comes."""


@dataclass(frozen=True)
class Budget:
    """The limits of an adversary on one context: calls of the target, seconds, and money for models of its own.

    None is no limit; a search without any limit must end by itself.
    """

    queries: int | None = None
    seconds: float | None = None
    cost: float | None = None


@dataclass(frozen=True)
class AttackContext:
    """A place to start from: the context's values, and an input with its answer where one is known.

    `uid` names it in records; `inputs` are the model's inputs by field name, context fields among them.
    """

    uid: str
    values: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] | None = None


class AttackedModel(Protocol):
    """A model under attack: it answers a batch of inputs, in their order."""

    labels: Sequence[str]

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Return one output for each input."""
        ...


@dataclass(frozen=True)
class AttackCandidate:
    """A proposal: new inputs, their right answer in the adversary's view, and how it came about.

    `queries` and `cost` count from the candidate before. `facts` describe the candidate, JSON values by name, such as
    `similarity`, `changed` or `strategy`.
    """

    context: str
    inputs: Mapping[str, Any]
    answer: Mapping[str, Any]
    output: ModelOutput | None = None
    fooled: bool | None = None
    queries: int = 0
    cost: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)


class Adversary(Protocol):
    """A program that proposes examples. `name` and `version` are recorded with all its proposals."""

    name: str
    version: str

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield candidates, best first where it knows; end when it has no more or the budget is spent."""
        ...


class MeteredTarget:
    """A target under a budget: it counts queries, and raises `BudgetSpent` before a call beyond the budget."""

    def __init__(self, target: AttackedModel, budget: Budget) -> None:
        self.labels = target.labels
        self.queries = 0
        self.cost = 0.0
        self._target = target
        self._budget = budget
        self._ends = time.monotonic() + budget.seconds if budget.seconds is not None else None

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Return the target's answers; a batch counts as many queries as it has inputs."""
        if not batch:
            return []
        remaining = self.queries_left
        if remaining is not None and len(batch) > remaining:
            raise BudgetSpent
        if self._ends is not None and time.monotonic() >= self._ends:
            raise BudgetSpent
        self.queries += len(batch)
        return self._target.ask(batch)

    def pay(self, cost: float) -> None:
        """Record money spent on a model of the adversary's own; raise `BudgetSpent` where money or time ran out."""
        self.cost += cost
        late = self._ends is not None and time.monotonic() >= self._ends
        if late or (self._budget.cost is not None and self.cost > self._budget.cost):
            raise BudgetSpent

    @property
    def queries_left(self) -> int | None:
        """Return the number of remaining queries; None for no limit."""
        return None if self._budget.queries is None else self._budget.queries - self.queries


def ask_within_budget(metered: MeteredTarget, batch: Sequence[Mapping[str, Any]]) -> list[ModelOutput]:
    """Return answers to the first inputs of a batch, as many as the budget allows; raise `BudgetSpent` for none."""
    remaining = metered.queries_left
    if batch and remaining is not None and remaining <= 0:
        raise BudgetSpent
    return metered.ask(batch if remaining is None else batch[:remaining])


def is_wrong(output: ModelOutput, answer: Mapping[str, Any]) -> bool:
    """Return whether the target's answer differs from the right one in any field that both have."""
    return any(output.answer[name] != value for name, value in answer.items() if name in output.answer)


def confidence(output: ModelOutput, answer: Mapping[str, Any]) -> float:
    """Return the probability of the right answer; 1 or 0 for a target without probabilities."""
    for label in answer.values():
        if output.probabilities is not None and isinstance(label, str) and label in output.probabilities:
            return output.probabilities[label]
    return 0.0 if is_wrong(output, answer) else 1.0


def judge_proposals(
    context: AttackContext,
    metered: MeteredTarget,
    proposals: Sequence[tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]],
) -> list[AttackCandidate]:
    """Return proposals (inputs, right answer, facts) as candidates with the target's answers, those that fool it first.

    As many proposals are judged as the budget has queries left.
    """
    outputs = ask_within_budget(metered, [inputs for inputs, _, _ in proposals])
    candidates = [
        AttackCandidate(context.uid, inputs, answer, output, is_wrong(output, answer), 1, facts=facts)
        for (inputs, answer, facts), output in zip(proposals, outputs, strict=False)
    ]
    return sorted(candidates, key=lambda candidate: not candidate.fooled)


def changeable_fields(context: AttackContext, fields: Sequence[str] = ()) -> list[str]:
    """Return the texts that an adversary may change: `fields`, or all inputs that are not the context's values."""
    texts = [name for name, value in context.inputs.items() if isinstance(value, str) and len(value) <= LONGEST]
    return [name for name in texts if (name in fields if fields else name not in context.values)]


SHIPPED_ADVERSARIES: Mapping[str, str] = {
    "language-model": "dynabench.adversaries.language_model:LanguageModel",
    "substitution": "dynabench.adversaries.word_adversaries:Substitution",
    "typos": "dynabench.adversaries.word_adversaries:Typos",
    "perturb": "dynabench.adversaries.word_adversaries:Perturb",
    "checklist": "dynabench.adversaries.checklist:Checklist",
    "counterfactual": "dynabench.adversaries.counterfactual:Counterfactual",
    "generator": "dynabench.adversaries.generator:Generator",
    "synthetic-qa": "dynabench.adversaries.synthetic_qa:SyntheticQa",
}
"""By name, `module:Class`; the class takes the adversary's own options by keyword."""


def adversary_classes() -> Mapping[str, str]:
    """Return the `module:Class` of every adversary, by name."""
    return plugins.gather("dynabench_adversaries", plugins.references)


def create_adversary(name: str, **options: Any) -> Adversary:
    """Return the adversary `name`; raise `NotFound` for an unknown name, `Invalid` for an unknown option."""
    classes = adversary_classes()
    if name not in classes:
        raise NotFound(f"There is no adversary {name!r}; there are {', '.join(sorted(classes))}.")
    adversary_class = plugins.load_reference(classes[name])
    unknown = sorted(set(options) - set(signature(adversary_class).parameters))
    if unknown:
        raise Invalid({"options": f"The adversary {name!r} takes no option {unknown[0]!r}."})
    return cast(Adversary, adversary_class(**options))
