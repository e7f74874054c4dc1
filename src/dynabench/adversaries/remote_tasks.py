"""Reach a task of a platform and its round's targets as a program does."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dynabench.adversaries.protocol import (
    AttackContext,
)
from dynabench.client import ApiError, Client, Json
from dynabench.kit.errors import Conflict
from dynabench.models.protocol import Inputs, ModelOutput
from dynabench.models.words import first_words

PATIENCE = 60
"""Seconds that the platform may ask to wait; for longer than that a run ends."""
TRIES = 20
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
