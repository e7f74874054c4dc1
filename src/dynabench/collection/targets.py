"""Asks a round's targets, all at once, while nothing of the database is held."""

import asyncio
import time
from dataclasses import dataclass

from dynabench.collection.drafts import Draft
from dynabench.models.client import Answer, Host
from dynabench.tasks.fooling import ensemble_fooled


@dataclass(frozen=True)
class Verdict:
    """What the targets said: one flag per answer, the ensemble's, and the whole wait in milliseconds."""

    answers: tuple[Answer, ...]
    flags: tuple[bool, ...]
    fooled: bool
    latency_ms: float


async def ask(host: Host, draft: Draft) -> Verdict:
    """Ask every target of the draft's round at the same time; `Unavailable` if any does not answer."""
    begun = time.perf_counter()
    tasks = [asyncio.create_task(host.answer(*target, draft.inputs)) for target in draft.targets]
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
