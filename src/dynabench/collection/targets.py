"""Asks a round's targets, all at once, while nothing of the database is held."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from dynabench import errors
from dynabench.collection.drafts import Draft
from dynabench.models.client import Answer, Host
from dynabench.tasks.fooling import ensemble_fooled

WAITING = 256  # requests that may wait for one target; more would time out anyway, so they are told at once


@dataclass(frozen=True)
class Verdict:
    """What the targets said: one flag per answer, the ensemble's, and the whole wait in milliseconds."""

    answers: tuple[Answer, ...]
    flags: tuple[bool, ...]
    fooled: bool
    latency_ms: float


_waiting: WeakKeyDictionary[Host, dict[tuple[str, str], int]] = WeakKeyDictionary()


async def _one(host: Host, model: str, version: str, inputs: Mapping[str, Any]) -> Answer:
    waiting = _waiting.setdefault(host, {})
    if waiting.get((model, version), 0) >= WAITING:
        raise errors.Unavailable(f"Too many people are asking {model} at this moment. Try again in a few seconds.")
    waiting[model, version] = waiting.get((model, version), 0) + 1
    try:
        answer = await host.answer(model, version, inputs)
    finally:
        waiting[model, version] -= 1
    if answer.version != version:
        raise errors.Unavailable(
            f"{model} was replaced by another version, and this round is against {version}. Tell the task's owner."
        )
    return answer


async def ask(host: Host, draft: Draft) -> Verdict:
    """Ask every target of the draft's round at the same time; `Unavailable` if any does not answer."""
    begun = time.perf_counter()
    tasks = [asyncio.create_task(_one(host, *target, draft.inputs)) for target in draft.targets]
    try:
        answers = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:  # the others' answers are of no use any more
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    latency = (time.perf_counter() - begun) * 1000
    flags = tuple(draft.config.fooled_by(answer.answer, draft.answer) for answer in answers)
    return Verdict(tuple(answers), flags, ensemble_fooled(draft.fooled_when, flags), latency)
