"""Asks a round's targets, all at once, while nothing of the database is held."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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

    @property
    def doubt(self) -> int | None:
        """How unsure the targets were on average, 0 (certain) to 1000 (all labels alike); None where they tell none."""
        told = [list(each.probabilities.values()) for each in self.answers if each.probabilities]
        unsure = [(1 - max(some)) / (1 - 1 / len(some)) for some in told if len(some) > 1]
        return round(1000 * min(max(sum(unsure) / len(unsure), 0.0), 1.0)) if unsure else None


UNASKED = Verdict((), (), fooled=False, latency_ms=0.0)


async def ask(host: Host, draft: Draft) -> Verdict:
    """Ask every target of the draft at the same time; `Unavailable` if any does not answer.

    In an arm without targets nobody is asked, and nobody is fooled.
    """
    if not draft.targets:
        return UNASKED
    begun = time.perf_counter()
    answers = await gather(host, draft.targets, draft.inputs)
    latency = (time.perf_counter() - begun) * 1000
    flags = tuple(draft.config.fooled_by(answer.answer, draft.answer) for answer in answers)
    return Verdict(answers, flags, ensemble_fooled(draft.fooled_when, flags), latency)


async def gather(host: Host, targets: Sequence[tuple[str, str]], inputs: dict[str, Any]) -> tuple[Answer, ...]:
    """What each target (model and version) answers to `inputs`; `Unavailable` if any does not."""
    tasks = [asyncio.create_task(host.answer(*target, inputs)) for target in targets]
    try:
        return tuple(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:  # the others' answers are of no use any more
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
