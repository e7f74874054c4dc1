"""Runs of programs on a platform: contexts of a task are attacked, and examples are proposed."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from dynabench.adversaries.protocol import (
    Adversary,
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
)
from dynabench.adversaries.remote_tasks import ProgramHandout, RemoteTask, RoundTargets
from dynabench.adversaries.run_journal import Journal
from dynabench.client import ApiError, Json


def program_facts(candidate: AttackCandidate) -> Json:
    """Return the facts of a candidate that the API accepts: 20 plain values or short lists of them."""
    plain_facts: Json = {}
    for name, value in list(candidate.facts.items())[:20]:
        if isinstance(value, list | tuple):
            plain: Any = [_plain(item) for item in value[:50]]
        else:
            plain = _plain(value)
        plain_facts[str(name)[:60]] = plain
    return plain_facts


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return str(value)[:500]


DRAWS = 25
"""Contexts that are requested until one fits a text."""
MOST = 200
"""Candidates of one context that are considered."""


@dataclass(frozen=True)
class RunStep:
    """The result of one context: a proposal with its outcome, a refusal with its reason, or nothing to propose."""

    context: str
    body: Json | None = None
    outcome: Json | None = None
    refused: str = ""


@dataclass(frozen=True)
class RunPlan:
    """The limits and inputs of a run: `contexts` in all, each within `budget`, until all have cost `cost` dollars.

    With `only_fooling`, proposals that do not fool are kept back; without it they are sent as people's tries are, so
    that the rate of fooling is one. A `dry` run sends and records nothing. `texts` are inputs to start from, with their
    answers, for contexts that come without any.
    """

    contexts: int
    budget: Budget = field(default_factory=Budget)
    cost: float | None = None
    only_fooling: bool = False
    dry: bool = False
    texts: Sequence[AttackContext] = ()


def run_program(
    remote_task: RemoteTask, adversary: Adversary, journal: Journal, plan: RunPlan, target: AttackedModel | None = None
) -> Iterator[RunStep]:
    """Work on contexts of the open round and send proposals; first those that an earlier run had yet to send.

    `target` is attacked in place of the round's own targets, such as a copy in this process. Raise `ApiError` where
    the platform refuses to give another context.
    """
    if not plan.dry:
        for key, proposal in list(journal.waiting.items()):
            yield send_proposal(remote_task, journal, key, proposal)
    texts = [text for text in plan.texts if text.uid not in journal.seen]
    for _number in range(journal.done, plan.contexts):
        remaining = None if plan.cost is None else plan.cost - journal.cost
        handout = _next_handout(remote_task, texts, bool(plan.texts)) if remaining is None or remaining > 0 else None
        if handout is None:
            return
        yield _work_on(
            remote_task,
            adversary,
            journal,
            replace(plan, cost=remaining),
            handout,
            target or RoundTargets(remote_task, handout),
        )


def _next_handout(remote_task: RemoteTask, texts: list[AttackContext], need_text: bool) -> ProgramHandout | None:
    """A context with a text to start from: its own or, where texts are needed, one that is removed from `texts`.

    None where they have run out, or no text fits the next few contexts.
    """
    for _draw in range(DRAWS if not need_text or texts else 0):
        handout = remote_task.next_handout()
        if handout.context.inputs or not need_text:
            return handout
        match = next((text for text in texts if _text_fits(handout, text)), None)
        if match is not None:
            texts.remove(match)
            inputs = {**handout.context.values, **match.inputs}
            return replace(handout, context=replace(handout.context, uid=match.uid, inputs=inputs, answer=match.answer))
    return None


def _text_fits(handout: ProgramHandout, text: AttackContext) -> bool:
    """The text has no other context values of its own, and the requested answer."""
    same = all(handout.context.values.get(name) == value for name, value in text.values.items())
    answer = text.answer or {}
    return same and all(answer.get(name) == value for name, value in (handout.goal or {}).items())


def _work_on(
    remote_task: RemoteTask,
    adversary: Adversary,
    journal: Journal,
    plan: RunPlan,
    handout: ProgramHandout,
    target: AttackedModel,
) -> RunStep:
    limit = plan.budget.cost if plan.cost is None else min(plan.cost, plan.budget.cost or plan.cost)
    budget = replace(plan.budget, cost=limit)
    metered = MeteredTarget(target, budget)
    candidate, cost = choose_candidate(adversary, handout.context, metered, budget)
    line: Json = {"taken": handout.context.uid, "queries": metered.queries, "cost": cost}
    if candidate is None or (plan.only_fooling and not candidate.fooled):
        if not plan.dry:
            journal.record(line)
        return RunStep(handout.context.uid)
    program = describe_program(adversary, metered.queries, cost, program_facts(candidate))
    body = {"input": remote_task.input_fields(candidate.inputs), "answer": dict(candidate.answer), "program": program}
    if plan.dry:
        return RunStep(handout.context.uid, body)
    proposal = {"context": handout.id, "handout": handout.handout, **body}
    key = idempotency_key(remote_task, handout.id, body)
    journal.record(line | {"key": key, "proposal": proposal})
    return send_proposal(remote_task, journal, key, proposal)


def choose_candidate(
    adversary: Adversary, context: AttackContext, target: MeteredTarget, budget: Budget
) -> tuple[AttackCandidate | None, float]:
    """Return the first candidate that fools and the cost of all candidates.

    Without one, it is the first candidate with an unknown outcome, else the first.
    """
    candidates: list[AttackCandidate] = []
    try:
        for candidate in islice(adversary.propose(context, target, budget), MOST):
            candidates.append(candidate)
            if candidate.fooled:
                break
    except BudgetSpent:
        pass
    ranked = sorted(candidates, key=lambda candidate: {True: 0, None: 1, False: 2}[candidate.fooled])
    return (ranked[0] if ranked else None), max(sum(candidate.cost for candidate in candidates), target.cost)


def describe_program(adversary: Adversary, queries: int, cost: float, facts: Json) -> Json:
    """Return a program as the API takes it."""
    return {
        "name": adversary.name[:60],
        "version": str(adversary.version)[:60],
        "queries": queries,
        "cost": cost,
        "facts": facts,
    }


def idempotency_key(remote_task: RemoteTask, context: int, body: Mapping[str, Any]) -> str:
    """Return the idempotency key of a proposal: the same text by the same program has the same key in each run."""
    program = body["program"]
    parts = [
        remote_task.task,
        remote_task.round,
        context,
        program["name"],
        program["version"],
        body["input"],
        body["answer"],
    ]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return "program-" + hashlib.sha256(text.encode()).hexdigest()[:40]


def send_proposal(remote_task: RemoteTask, journal: Journal, key: str, proposal: Json) -> RunStep:
    """Send a recorded proposal and record its outcome; a proposal that the platform refuses is not sent again."""
    name = str(proposal["context"])
    try:
        outcome = remote_task.propose(proposal["context"], proposal["handout"], proposal, key)
    except ApiError as problem:
        if problem.status not in (409, 422):
            raise
        journal.record({"refused": key, "why": str(problem)})
        return RunStep(name, proposal, refused=str(problem))
    journal.record({"sent": key, "example": outcome["id"], "fooled": outcome["fooled"]})
    return RunStep(name, proposal, outcome)
