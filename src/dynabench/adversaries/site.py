"""The platform as programs see it over the API: contexts to attack, the open round's targets to ask, and the door."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dynabench.adversaries.proposing import Candidate, Context
from dynabench.client import ApiError, Client
from dynabench.errors import Conflict
from dynabench.models.protocol import Inputs, Output
from dynabench.models.words import first_words

PATIENCE = 60
"""Seconds that the platform may ask to wait; for longer than that a run ends."""
TRIES = 20
Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Given:
    """A context as it was handed out to whoever runs the program; `id` and `handout` name it there."""

    id: int
    handout: int | None
    context: Context
    goal: Mapping[str, Any] | None


class Site:
    """One task of a platform, while a round of it is open. Raises `Conflict` where none is."""

    def __init__(self, client: Client, task: str) -> None:
        self.client, self.task = client, task
        told = client.task(task)
        if told["round"] is None or told["round"]["state"] != "open":
            raise Conflict(f"No round of {task} is open, so nothing can be proposed.")
        self.told: Json = told
        self.round = int(told["round"]["number"])
        self.inputs = [field["name"] for field in told["input"]]
        self.contexts = [field["name"] for field in told["context"]]
        self.answers = [field["name"] for field in told["answer"]]
        self.labels = labels(told)

    def next(self) -> Given:
        """Another context, with the text to start from and the answer that is known of it, or that is asked for.

        A text whose answer nobody knows, or is not the one that is asked for, is left out: its meaning must not change.
        """
        given = patiently(lambda: self.client.next_context(self.task))
        begun = {name: value for name, value in given["initial"].items() if value}
        known, goal = (given["seed"] or {}).get("answer"), given["goal"]
        fits = known is not None and all(known.get(name) == value for name, value in (goal or {}).items())
        context = Context(
            uid=str(given["handout"] or given["id"]),
            values=given["values"],
            inputs={**given["values"], **begun} if begun and fits else {},
            answer=known if fits else goal,
        )
        return Given(given["id"], given["handout"], context, given["goal"])

    def successes(self, most: int) -> list[Context]:
        """The newest examples that fooled: those that people found correct, for owners, else one's own."""
        path = f"/tasks/{self.task}/examples"
        try:
            found = self.client.request("GET", path, params={"fooled": True, "verdict": "correct", "limit": most})
        except ApiError as problem:
            if problem.status != 403:
                raise
            found = self.client.request("GET", path, params={"mine": True, "limit": 100})
        fooling = [each for each in found["items"] if each["fooled"] and not each["retracted"]]
        return [Context(each["uid"], each["context"], each["input"], each["answer"]) for each in fooling[:most]]

    def written(self, inputs: Mapping[str, Any]) -> Json:
        """The part of a model's inputs that is written: the input fields."""
        return {name: inputs[name] for name in self.inputs if name in inputs}

    def ask(self, given: Given, inputs: Inputs, answer: Mapping[str, Any]) -> Output:
        """What the round's targets say of a draft; nothing is recorded."""
        body = (self.task, given.id, self.written(inputs), dict(answer))
        return output(patiently(lambda: self.client.create_example(*body, sandbox=True)))

    def propose(self, given_id: int, handout: int | None, body: Json, key: str) -> Json:
        """Send an example through the door: the outcome as the platform tells it."""
        return patiently(
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


class Targets:
    """The targets of a site's open round as one target; a query asks all of them, over the API."""

    def __init__(self, site: Site, given: Given) -> None:
        self.labels: Sequence[str] = site.labels
        self.site, self.given = site, given

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output for each: see `output`."""
        claimed = self.given.goal or self.given.context.answer or self._any()
        return [self.site.ask(self.given, inputs, claimed) for inputs in batch]

    def _any(self) -> Json:
        """An answer that the door takes while nobody knows one: the first label, or of spans the first word."""
        field: Json = next(iter(self.site.told["answer"]), {})
        if field.get("type") != "spans":
            return dict.fromkeys(self.site.answers[:1], self.labels[0] if self.labels else "")
        found = first_words(str(self.given.context.values.get(field["of"]) or ""), 1)
        return {field["name"]: [{"start": one.start, "end": one.end, "text": one.text} for one in found]}


def output(told: Mapping[str, Any]) -> Output:
    """What several targets said, as one: the answer of one that errs where the round counts as fooled, and the mean of
    their probabilities where all give some.
    """
    said = told["predictions"]
    if not said:
        return Output({}, None, {"fooled": told["fooled"]})
    chosen = next((each for each in said if bool(each["fooled"]) == bool(told["fooled"])), said[0])
    given = [each["probabilities"] for each in said]
    mean = {name: sum(each.get(name, 0.0) for each in given) / len(given) for name in given[0]} if all(given) else None
    return Output(chosen["answer"], mean, {"fooled": told["fooled"]})


def labels(told: Mapping[str, Any]) -> tuple[str, ...]:
    """The options of a task's answer; none where it is no choice."""
    for field in told["answer"]:
        if field["type"] == "choice":
            return tuple(each["value"] if isinstance(each, dict) else str(each) for each in field["options"])
    return ()


def patiently(call: Callable[[], T]) -> T:
    """What a call gives, made again when the platform asks to wait a little; raises `ApiError`."""
    for _try in range(TRIES):
        try:
            return call()
        except ApiError as problem:
            if problem.retry_after is None or problem.retry_after > PATIENCE:
                raise
            time.sleep(problem.retry_after)
    return call()


def facts(candidate: Candidate) -> Json:
    """What an adversary tells of a candidate, as far as the door takes it: 20 plain values or short lists of them."""
    made: Json = {}
    for name, value in list(candidate.facts.items())[:20]:
        if isinstance(value, list | tuple):
            plain: Any = [_plain(each) for each in value[:50]]
        else:
            plain = _plain(value)
        made[str(name)[:60]] = plain
    return made


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return str(value)[:500]
