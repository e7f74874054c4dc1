"""Asks a model as the host does: each call prepared, queued and batched by the host's own lanes."""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynabench.models import check_words, validity
from dynabench.models.backends.base import Backend
from dynabench.models.host.engine import Engine
from dynabench.models.host.repository import Repository
from dynabench.models.protocol import Attribution, Card, Output

BATCH = 16
CALLS = 60
"""Calls of one measurement at most."""
PATIENCE = 60.0
"""Seconds after which a call is given up here, whatever annotators would have to wait."""
SAME = 2e-3
"""By how much a probability may differ between two batches; below it, rounding in another order explains it."""


@dataclass(frozen=True)
class Speed:
    """Milliseconds of single calls once warm, answers a second in batches of 16, and how many calls that took."""

    p50: float
    p95: float
    rate: float
    calls: int


class Probe:
    """A loaded model behind lanes of its own. Use within one event loop, and close it."""

    def __init__(self, model: Backend) -> None:
        self.model = model
        self.card: Card = model.card
        self._engine = Engine(Repository([]))

    async def alone(self, inputs: dict[str, str]) -> Output:
        """The checked answer to a call of its own; raises `Problem` where there is none."""
        return (await self.batch([inputs]))[0]

    async def batch(self, rows: Sequence[dict[str, str]]) -> list[Output]:
        """The checked answers to calls that arrive together."""
        try:
            async with asyncio.timeout(PATIENCE):
                outputs = await self._engine.predict(self.model, rows)
        except TimeoutError as error:
            raise validity.Broken(check_words.SILENT % {"name": self.card.name, "seconds": f"{PATIENCE:g}"}) from error
        return validity.checked(self.card, rows, outputs)

    async def explain(self, inputs: dict[str, str], method: str) -> tuple[Attribution, float]:
        """The strip of the model's answer by `method`, and the seconds it took; raises `Problem`."""
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                found = await self._engine.attribute(self.model, inputs, None, method)
        except TimeoutError as error:
            raise validity.Broken(check_words.UNENDED % {"method": method, "seconds": f"{PATIENCE:g}"}) from error
        if told := wrong_strip(self.card, inputs, found):
            raise validity.Broken(check_words.WRONG_STRIP % {"method": method, "wrong": told})
        return found, time.perf_counter() - begun

    async def speed(self, rows: Sequence[dict[str, str]], seconds: float) -> Speed:
        """Return the speed at which plain inputs are answered, alone and in batches.

        Each is measured for `seconds`; models that others bill get fewer calls.
        """
        least, most = (5, CALLS) if self.card.inside else (3, 3)
        waits: list[float] = []
        begun = time.perf_counter()
        while len(waits) < least or (len(waits) < most and time.perf_counter() < begun + seconds):
            since = time.perf_counter()
            await self.batch([rows[len(waits) % len(rows)]])
            waits.append((time.perf_counter() - since) * 1000)
        together = [rows[index % len(rows)] for index in range(BATCH)]
        batches, begun = 0, time.perf_counter()
        while batches == 0 or (self.card.inside and time.perf_counter() < begun + seconds):
            await self.batch(together)
            batches += 1
        rate = batches * BATCH / (time.perf_counter() - begun)
        p50, p95 = (round(float(np.quantile(waits, share)), 2) for share in (0.5, 0.95))
        return Speed(p50, p95, round(rate, 1), len(waits) + batches * BATCH)

    async def close(self) -> None:
        """End the lanes; the model stays open."""
        await self._engine.close()


def difference(card: Card, first: Output, second: Output) -> tuple[bool, float]:
    """Return whether two answers are the same, and the largest difference of their probabilities.

    Two labels that are equally likely up to `SAME` count as the same answer.
    """
    one, other = first.probabilities or {}, second.probabilities or {}
    gap = max((abs(one.get(name, 0.0) - other.get(name, 0.0)) for name in {*one, *other}), default=0.0)
    same = bool(first.answer[card.answer] == second.answer[card.answer])
    tie = gap <= SAME and len(one) > 1 and float(np.ptp(sorted(one.values())[-2:])) <= 2 * SAME
    return same or tie, gap


def wrong_strip(card: Card, inputs: dict[str, str], found: Attribution) -> str:
    """Return the first error in the words of an attribution; empty if there is none."""
    for name, words in found.fields.items():
        if name not in card.inputs:
            return check_words.NO_INPUT % {"name": repr(name)}
        text, end = inputs[name], 0
        for word in words:
            if word.start < end or text[word.start : word.end] != word.text or not word.text:
                said = {"word": repr(word.text), "start": word.start, "name": repr(name)}
                return check_words.OTHER_WORD % said
            if not math.isfinite(word.weight) or abs(word.weight) > 1 + 1e-6:
                return check_words.WRONG_WEIGHT % {"word": repr(word.text), "weight": word.weight}
            end = word.end
    lacking = [name for name in card.inputs if name not in card.images and name not in found.fields]
    return check_words.UNWEIGHED % {"names": ", ".join(lacking)} if lacking else ""
