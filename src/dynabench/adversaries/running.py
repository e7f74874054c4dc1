"""A program at the platform's door: context after context it attacks the round's targets and proposes what it found."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from dynabench.adversaries.journal import Journal
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.site import Given, Json, Site, Targets, facts
from dynabench.client import ApiError

DRAWS = 25
"""Contexts that are asked for until one fits a text."""
MOST = 200
"""Candidates of one context that are looked at."""


@dataclass(frozen=True)
class Step:
    """What became of one context: a proposal with its outcome, a refusal and why, or nothing to propose."""

    context: str
    body: Json | None = None
    outcome: Json | None = None
    refused: str = ""


@dataclass(frozen=True)
class Plan:
    """How a run goes: `contexts` of them in all, each within `budget`, until all have cost `cost` dollars.

    With `only_fooling`, proposals that do not fool are kept back; without it they are sent as people's tries are, so
    that the rate of fooling is one. A `dry` run sends and notes nothing. `texts` are inputs to start from, with their
    answers, for contexts that come without any.
    """

    contexts: int
    budget: Budget = field(default_factory=Budget)
    cost: float | None = None
    only_fooling: bool = False
    dry: bool = False
    texts: Sequence[Context] = ()


def run(site: Site, adversary: Adversary, journal: Journal, plan: Plan, target: Target | None = None) -> Iterator[Step]:
    """Work on contexts of the open round and send what comes of it; first what an earlier run had yet to send.

    `target` is attacked in place of the round's own targets, such as a copy in this process. Raises `ApiError` where
    the platform refuses to give another context.
    """
    if not plan.dry:
        for key, proposal in list(journal.waiting.items()):
            yield send(site, journal, key, proposal)
    texts = [each for each in plan.texts if each.uid not in journal.seen]
    for _number in range(journal.done, plan.contexts):
        left = None if plan.cost is None else plan.cost - journal.cost
        given = _started(site, texts, bool(plan.texts)) if left is None or left > 0 else None
        if given is None:
            return
        yield _step(site, adversary, journal, replace(plan, cost=left), given, target or Targets(site, given))


def _started(site: Site, texts: list[Context], wanted: bool) -> Given | None:
    """A context with a text to start from: its own, or where some were given (`wanted`) one of these, which is taken
    from them. None where they have run out, or none fits the next few contexts."""
    for _draw in range(DRAWS if not wanted or texts else 0):
        given = site.next()
        if given.context.inputs or not wanted:
            return given
        found = next((each for each in texts if _fits(given, each)), None)
        if found is not None:
            texts.remove(found)
            inputs = {**given.context.values, **found.inputs}
            return replace(given, context=replace(given.context, uid=found.uid, inputs=inputs, answer=found.answer))
    return None


def _fits(given: Given, text: Context) -> bool:
    """Whether a text goes with a context: it has no other values of its own, and the answer that is asked for."""
    same = all(given.context.values.get(name) == value for name, value in text.values.items())
    answer = text.answer or {}
    return same and all(answer.get(name) == value for name, value in (given.goal or {}).items())


def _step(site: Site, adversary: Adversary, journal: Journal, plan: Plan, given: Given, target: Target) -> Step:
    limit = plan.budget.cost if plan.cost is None else min(plan.cost, plan.budget.cost or plan.cost)
    budget = replace(plan.budget, cost=limit)
    counted = Metered(target, budget)
    found, cost = best(adversary, given.context, counted, budget)
    line: Json = {"taken": given.context.uid, "queries": counted.queries, "cost": cost}
    if found is None or (plan.only_fooling and not found.fooled):
        if not plan.dry:
            journal.note(line)
        return Step(given.context.uid)
    program = described(adversary, counted.queries, cost, facts(found))
    body = {"input": site.written(found.inputs), "answer": dict(found.answer), "program": program}
    if plan.dry:
        return Step(given.context.uid, body)
    proposal = {"context": given.id, "handout": given.handout, **body}
    key = key_of(site, given.id, body)
    journal.note(line | {"key": key, "proposal": proposal})
    return send(site, journal, key, proposal)


def best(adversary: Adversary, context: Context, target: Metered, budget: Budget) -> tuple[Candidate | None, float]:
    """The first candidate that fools, else the first of which nobody knows yet, else the first; and what all cost."""
    found: list[Candidate] = []
    try:
        for each in islice(adversary.propose(context, target, budget), MOST):
            found.append(each)
            if each.fooled:
                break
    except Spent:
        pass
    chosen = sorted(found, key=lambda each: {True: 0, None: 1, False: 2}[each.fooled])
    return (chosen[0] if chosen else None), max(sum(each.cost for each in found), target.cost)


def described(adversary: Adversary, queries: int, cost: float, told: Json) -> Json:
    """A program as the door takes it."""
    return {
        "name": adversary.name[:60],
        "version": str(adversary.version)[:60],
        "queries": queries,
        "cost": cost,
        "facts": told,
    }


def key_of(site: Site, context: int, body: Mapping[str, Any]) -> str:
    """The idempotency key of a proposal: the same text by the same program has the same one in each run."""
    program = body["program"]
    parts = [site.task, site.round, context, program["name"], program["version"], body["input"], body["answer"]]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return "program-" + hashlib.sha256(text.encode()).hexdigest()[:40]


def send(site: Site, journal: Journal, key: str, proposal: Json) -> Step:
    """Send a noted proposal and note what came of it; one that is refused for what it is, is not sent again."""
    name = str(proposal["context"])
    try:
        outcome = site.propose(proposal["context"], proposal["handout"], proposal, key)
    except ApiError as problem:
        if problem.status not in (409, 422):
            raise
        journal.note({"refused": key, "why": str(problem)})
        return Step(name, proposal, refused=str(problem))
    journal.note({"sent": key, "example": outcome["id"], "fooled": outcome["fooled"]})
    return Step(name, proposal, outcome)
