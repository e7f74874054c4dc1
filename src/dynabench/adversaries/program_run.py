"""Runs of programs on a platform: contexts of a task are attacked, and examples are proposed."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from dynabench.adversaries.protocol import (
    Adversary,
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
)
from dynabench.client import ApiError, Client
from dynabench.kit.errors import Conflict, Invalid
from dynabench.models.protocol import Inputs, ModelOutput
from dynabench.models.words import first_words

PATIENCE = 60
"""Seconds that the platform may ask to wait; for longer than that a run ends."""
TRIES = 20
Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class ProgramHandout:
    """A context that the platform handed out to the program's owner; `id` and `handout` are its numbers there."""

    id: int
    handout: int | None
    context: AttackContext
    goal: Mapping[str, Any] | None


class RemoteTask:
    """A task of a platform with an open round. Raises `Conflict` where no round is open."""

    def __init__(self, client: Client, task: str) -> None:
        self.client, self.task = client, task
        config = client.task(task)
        if config["round"] is None or config["round"]["state"] != "open":
            raise Conflict(f"No round of {task} is open, so nothing can be proposed.")
        self.config: Json = config
        self.round = int(config["round"]["number"])
        self.inputs = [field["name"] for field in config["input"]]
        self.contexts = [field["name"] for field in config["context"]]
        self.answers = [field["name"] for field in config["answer"]]
        self.labels = answer_labels(config)

    def next_handout(self) -> ProgramHandout:
        """Return another context, with the text to start from and its known or requested answer.

        A text whose answer is unknown, or not the requested one, is left out: its meaning must not change.
        """
        answer_body = call_with_retries(lambda: self.client.next_context(self.task))
        start = {name: value for name, value in answer_body["initial"].items() if value}
        seed_answer, goal = (answer_body["seed"] or {}).get("answer"), answer_body["goal"]
        fits = seed_answer is not None and all(seed_answer.get(name) == value for name, value in (goal or {}).items())
        context = AttackContext(
            uid=str(answer_body["handout"] or answer_body["id"]),
            values=answer_body["values"],
            inputs={**answer_body["values"], **start} if start and fits else {},
            answer=seed_answer if fits else goal,
        )
        return ProgramHandout(answer_body["id"], answer_body["handout"], context, answer_body["goal"])

    def successes(self, most: int) -> list[AttackContext]:
        """Return the newest examples that fooled: the verified ones for owners, else the caller's own."""
        path = f"/tasks/{self.task}/examples"
        try:
            page = self.client.request("GET", path, params={"fooled": True, "verdict": "correct", "limit": most})
        except ApiError as problem:
            if problem.status != 403:
                raise
            page = self.client.request("GET", path, params={"mine": True, "limit": 100})
        fooling = [item for item in page["items"] if item["fooled"] and not item["retracted"]]
        return [AttackContext(item["uid"], item["context"], item["input"], item["answer"]) for item in fooling[:most]]

    def input_fields(self, inputs: Mapping[str, Any]) -> Json:
        """Return the input fields among a model's inputs."""
        return {name: inputs[name] for name in self.inputs if name in inputs}

    def ask(self, handout: ProgramHandout, inputs: Inputs, answer: Mapping[str, Any]) -> ModelOutput:
        """Return the answer of the round's targets to a draft; nothing is recorded."""
        body = (self.task, handout.id, self.input_fields(inputs), dict(answer))
        return combine_predictions(call_with_retries(lambda: self.client.create_example(*body, sandbox=True)))

    def propose(self, given_id: int, handout: int | None, body: Json, key: str) -> Json:
        """Submit an example and return its outcome as the API does."""
        return call_with_retries(
            lambda: self.client.create_example(
                self.task,
                given_id,
                body["input"],
                body["answer"],
                handout=handout,
                program=body["program"],
                key=key,
            )
        )


class RoundTargets:
    """The targets of an open round as one target; a query asks all of them, over the API."""

    def __init__(self, remote_task: RemoteTask, handout: ProgramHandout) -> None:
        self.labels: Sequence[str] = remote_task.labels
        self.remote_task, self.handout = remote_task, handout

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Return one output for each input, by `combine_predictions`."""
        claimed = self.handout.goal or self.handout.context.answer or self._placeholder_answer()
        return [self.remote_task.ask(self.handout, inputs, claimed) for inputs in batch]

    def _placeholder_answer(self) -> Json:
        """An answer that the API accepts where none is known: the first label or, for spans, the first word."""
        field: Json = next(iter(self.remote_task.config["answer"]), {})
        if field.get("type") != "spans":
            return dict.fromkeys(self.remote_task.answers[:1], self.labels[0] if self.labels else "")
        spans = first_words(str(self.handout.context.values.get(field["of"]) or ""), 1)
        return {field["name"]: [{"start": span.start, "end": span.end, "text": span.text} for span in spans]}


def combine_predictions(body: Mapping[str, Any]) -> ModelOutput:
    """Return the predictions of several targets as one output.

    Its answer is that of a target that errs where the example fooled; its probabilities are the mean where all have
    them.
    """
    predictions = body["predictions"]
    if not predictions:
        return ModelOutput({}, None, {"fooled": body["fooled"]})
    chosen = next(
        (prediction for prediction in predictions if bool(prediction["fooled"]) == bool(body["fooled"])), predictions[0]
    )
    probabilities = [prediction["probabilities"] for prediction in predictions]
    mean = (
        {
            name: sum(prediction.get(name, 0.0) for prediction in probabilities) / len(probabilities)
            for name in probabilities[0]
        }
        if all(probabilities)
        else None
    )
    return ModelOutput(chosen["answer"], mean, {"fooled": body["fooled"]})


def answer_labels(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of a task's answer; none where it is no choice."""
    for answer in config["answer"]:
        if answer["type"] == "choice":
            return tuple(option["value"] if isinstance(option, dict) else str(option) for option in answer["options"])
    return ()


def call_with_retries(call: Callable[[], T]) -> T:
    """Return the result of a call, made again when the platform asks to wait a little; raise `ApiError`."""
    for _try in range(TRIES):
        try:
            return call()
        except ApiError as problem:
            if problem.retry_after is None or problem.retry_after > PATIENCE:
                raise
            time.sleep(problem.retry_after)
    return call()


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


@dataclass
class Journal:
    """The file of a run.

    A proposal is written down before it is sent, so that after a crash it is sent once more under the same key, which
    the platform answers as the first time. `done` counts contexts, `queries` and `cost` are their sums.
    """

    path: Path
    done: int = 0
    queries: int = 0
    cost: float = 0.0
    sent: int = 0
    fooled: int = 0
    refused: int = 0
    seen: set[str] = field(default_factory=set)
    waiting: dict[str, Json] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, run_facts: Json) -> "Journal":
        """Return the journal at `path`, a new one where there is none; raise `Invalid` for that of another run."""
        journal = cls(path)
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        whole = [line for line in lines[:-1] if line.strip()]  # text after the last line end was cut off by a crash
        if not whole:
            path.write_bytes(b"")
            journal._write({"run": run_facts})
            return journal
        if lines[-1]:
            path.write_bytes(b"\n".join(lines[:-1]) + b"\n")
        try:
            entries = [json.loads(line) for line in whole]
        except ValueError:
            raise Invalid({"journal": f"{path} is no journal of a run."}) from None
        if entries[0] != {"run": run_facts}:
            raise Invalid({"journal": f"{path} belongs to another run: {entries[0].get('run')}. Name another file."})
        for line in entries[1:]:
            journal._count(line)
        return journal

    def record(self, line: Json) -> None:
        """Write a line down and count it.

        A line is `{taken, queries, cost}` for a context, with a `proposal` to be sent under its `key`; `{sent, fooled}`
        or `{refused, why}` for that key.
        """
        self._write(line)
        self._count(line)

    def _write(self, line: Json) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _count(self, line: Json) -> None:
        if "taken" in line:
            self.done += 1
            self.seen.add(line["taken"])
            self.queries += line["queries"]
            self.cost += line["cost"]
            if "proposal" in line:
                self.waiting[line["key"]] = line["proposal"]
        elif key := line.get("sent") or line.get("refused"):
            self.waiting.pop(key, None)
            self.sent += "sent" in line
            self.refused += "refused" in line
            self.fooled += line.get("fooled") is True


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
