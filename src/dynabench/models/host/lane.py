"""A lane: one thread that computes, and the queue before it, from which calls of like size are taken together."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dynabench.errors import Unavailable
from dynabench.models.host.figures import Figures

BATCH = 32
WAITING = 256
"""Calls that may wait; more are refused, since they would not be answered in time."""
LINGER = 0.004
"""Seconds that a call may wait for company, if company was there lately."""
RETRY_AFTER = 1


class Busy(Unavailable):
    """Too many calls wait already."""

    def __init__(self) -> None:
        super().__init__("The model host has more to do than it can answer in time. Try again in a second.")


@dataclass(eq=False, slots=True)
class Call:
    """One call in the queue; `size` decides whom it shares a batch with."""

    payload: Any
    size: int
    result: asyncio.Future[Any]
    since: float = field(default_factory=time.perf_counter)


Run = Callable[[list[Any]], Sequence[Any]]
"""Payloads in, results in the same order out."""


class Lane:
    """Runs calls in its own thread, oldest first, together with calls of the same size class.

    A batch has at most `batch` calls, and with `room` calls of that summed size.
    """

    def __init__(
        self,
        name: str,
        run: Run,
        figures: Figures,
        batch: int = BATCH,
        waiting: int = WAITING,
        linger: float = LINGER,
        room: int | None = None,
    ) -> None:
        self.name = name
        self._run = run
        self._batch = batch
        self._limit = waiting
        self._linger = linger
        self._room = room
        self._calls: list[Call] = []
        self._arrived = asyncio.Event()
        self._crowd = 1.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"lane-{name}")
        self._figures = figures
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def submit(self, payload: Any, size: int) -> Any:
        """The call's result. A cancelled caller loses its place; raises `Busy` when the queue is full."""
        self._forget_abandoned()
        if len(self._calls) >= self._limit:
            self._figures.refused.labels(self.name).inc()
            raise Busy
        call = Call(payload, size, asyncio.get_running_loop().create_future())
        self._calls.append(call)
        self._arrived.set()
        return await call.result

    async def close(self) -> None:
        """End the lane; calls that wait are told."""
        self._task.cancel()
        for call in self._calls:
            if not call.result.done():
                call.result.set_exception(Unavailable("The model host is shutting down."))
        await asyncio.gather(self._task, return_exceptions=True)
        self._thread.shutdown(wait=True)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            await self._gather()
            calls = self._next()
            if not calls:
                continue
            started = time.perf_counter()
            results = await loop.run_in_executor(self._thread, self._compute, [call.payload for call in calls])
            self._figures.batch_size.labels(self.name).observe(len(calls))
            self._figures.seconds.labels(self.name).observe(time.perf_counter() - started)
            for call, result in zip(calls, results, strict=True):
                if call.result.done():
                    continue
                if isinstance(result, BaseException):
                    self._figures.failed.labels(self.name).inc()
                    call.result.set_exception(result)
                else:
                    call.result.set_result(result)

    async def _gather(self) -> None:
        """Let a batch fill up for a moment, but only as far as recent traffic makes that likely.

        Somebody who is alone never waits: the expected company is what was there at the last batches.
        """
        if self._batch == 1:
            return
        deadline = self._calls[0].since + self._linger if self._calls else 0.0
        while len(self._calls) < min(self._crowd, self._batch) and time.perf_counter() < deadline:
            await asyncio.sleep(0.0005)

    def _next(self) -> list[Call]:
        """The oldest call and those of its size class, oldest first."""
        self._forget_abandoned()
        self._crowd += 0.3 * (len(self._calls) - self._crowd)
        if not self._calls:
            self._arrived.clear()
            return []
        group = size_class(self._calls[0].size)
        chosen = self._fitting([call for call in self._calls if size_class(call.size) == group])
        taken = set(map(id, chosen))
        self._calls = [call for call in self._calls if id(call) not in taken]
        self._figures.waiting.labels(self.name).set(len(self._calls))
        if not self._calls:
            self._arrived.clear()
        return chosen

    def _fitting(self, calls: list[Call]) -> list[Call]:
        """The first calls that make up a batch; one call always fits, however large."""
        chosen, size = calls[:1], calls[0].size
        for call in calls[1 : self._batch]:
            size += call.size
            if self._room is not None and size > self._room:
                break
            chosen.append(call)
        return chosen

    def _forget_abandoned(self) -> None:
        kept = [call for call in self._calls if not call.result.done()]
        if len(kept) < len(self._calls):
            self._figures.abandoned.labels(self.name).inc(len(self._calls) - len(kept))
            self._calls = kept

    def _compute(self, payloads: list[Any]) -> Sequence[Any]:
        """Results or exceptions, one a payload; when a batch fails, each call is tried alone."""
        try:
            return self._run(payloads)
        except Exception as error:
            if len(payloads) == 1:
                return [error]
            return [self._compute([payload])[0] for payload in payloads]


def size_class(size: int) -> int:
    """Sizes up to 32 share a batch, then up to 64, 128, 256...: padding never more than doubles the work."""
    return max(5, (size - 1).bit_length())
