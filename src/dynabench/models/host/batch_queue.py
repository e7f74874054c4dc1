"""Batches of concurrent inputs per model, the threads that compute them, and figures of both."""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynabench.kit.errors import Unavailable
from dynabench.models.host.compute_threads import PATIENCE, HostCounters, Threads, as_exception

log = logging.getLogger("dynabench.host")

BATCH = 32
WAITING = 256
"""Calls that may wait; more are refused, since they would not be answered in time."""
LINGER = 0.004
"""Seconds that a call may wait for company, if company was there lately."""
CLOSING = 30.0
"""Seconds that a lane which is closed waits for its batches."""
HALF_LIFE = 5.0
"""Seconds in which the estimated time of a batch halves while no batch corrects it."""


class Busy(Unavailable):
    """So much waits that there would be no answer in time; `extra` has `position` and `seconds`."""

    def __init__(self, position: int, seconds: float) -> None:
        seconds = round(seconds, 1) if seconds < 10 else round(seconds)
        super().__init__(
            f"This model is busy: position {position} in its queue, about {seconds:g} s. Try again then.",
            retry_after=max(1, math.ceil(seconds)),
            position=position,
            seconds=seconds,
        )


@dataclass(eq=False, slots=True)
class Call:
    """One call in the queue; `size` decides whom it shares a batch with."""

    payload: Any
    size: int
    result: asyncio.Future[Any]
    since: float = field(default_factory=time.perf_counter)


Run = Callable[[list[Any]], Sequence[Any]]
"""Payloads in, results in the same order out."""


class BatchQueue:
    """Runs calls in threads of its own, oldest first, together with calls of the same size class.

    A batch has at most `batch` calls, and with `room` calls of that summed size; `at_once` batches are computed at the
    same time, and what waits is shared out among them. Whatever the model raises or returns, each call is answered; a
    batch that has not ended after `patience` seconds is given up, and its thread replaced.
    """

    def __init__(
        self,
        name: str,
        run: Run,
        figures: HostCounters,
        batch: int = BATCH,
        waiting: int = WAITING,
        linger: float = LINGER,
        room: int | None = None,
        at_once: int = 1,
        patience: float = PATIENCE,
        closing: float = CLOSING,
    ) -> None:
        self.name = name
        self._run = run
        self._batch = batch
        self._limit = waiting
        self._linger = linger
        self._room = room
        self._free = at_once
        self._calls: list[Call] = []
        self._arrived = asyncio.Event()
        self._place = asyncio.Event()
        self._place.set()
        self._crowd = 1.0
        self._pace = Pace(batch, at_once)
        self._patience = patience
        self._closing = closing
        self._threads = Threads(at_once, f"lane-{name}")
        self._figures = figures
        self._working: set[asyncio.Task[None]] = set()
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def submit(self, payload: Any, size: int, within: float | None = None) -> Any:
        """Return the call's result. A cancelled caller loses its place.

        A lane that could begin the call at once always admits it: only a batch that runs can correct the pace.

        Raises `Busy` when the queue is full, when the result cannot be there `within` so many seconds, and when these
        are over while the call still waits; `Unavailable` when they are over while it is computed.
        """
        self._forget_abandoned()
        ahead = len(self._calls)
        wait = self._pace.wait(ahead)
        idle = ahead == 0 and self._free > 0
        if ahead >= self._limit or (not idle and within is not None and wait > within):
            self._figures.refused.labels(self.name).inc()
            raise Busy(ahead + 1, wait)
        call = Call(payload, size, asyncio.get_running_loop().create_future())
        self._calls.append(call)
        self._arrived.set()
        try:
            async with asyncio.timeout(within) as limit:
                return await call.result
        except TimeoutError:
            if not limit.expired():
                raise  # it is the model's own
            raise self._overdue(call, within) from None

    async def close(self) -> None:
        """End the lane; calls that wait are told, and so are those of a batch that does not end in time."""
        self._task.cancel()
        _refuse(self._calls)
        late: set[asyncio.Task[None]] = set()
        if self._working:
            _done, late = await asyncio.wait(self._working, timeout=self._closing)
        for task in late:
            task.cancel()
        await asyncio.gather(self._task, *late, return_exceptions=True)
        self._threads.close(wait=not late)

    def _overdue(self, call: Call, within: float | None) -> Unavailable:
        if call not in self._calls:
            return Unavailable(f"This model has not answered within {within:.3g} s. Try again in a moment.")
        self._figures.refused.labels(self.name).inc()
        ahead = self._calls.index(call)
        return Busy(ahead + 1, self._pace.wait(ahead))

    async def _serve(self) -> None:
        while True:
            await self._arrived.wait()
            await self._place.wait()
            await self._gather()
            calls = self._next()
            if not calls:
                continue
            self._free -= 1
            if not self._free:
                self._place.clear()
            task = asyncio.get_running_loop().create_task(self._work(calls))
            self._working.add(task)
            task.add_done_callback(self._working.discard)

    async def _work(self, calls: list[Call]) -> None:
        """Compute one batch and hand out its results."""
        try:
            for call, result in zip(calls, await self._results(calls), strict=True):
                if call.result.done():
                    continue
                if isinstance(result, BaseException):
                    self._figures.failed.labels(self.name).inc()
                    call.result.set_exception(as_exception(result))
                else:
                    call.result.set_result(result)
        finally:
            _refuse(calls)

    async def _results(self, calls: list[Call]) -> Sequence[Any]:
        """Results or exceptions, one a call, and the batch's place given back."""
        started = time.perf_counter()
        try:
            computed = self._threads.submit(self._compute, [call.payload for call in calls])
            if not await self._threads.wait_for(computed, self._patience):
                self._figures.given_up.labels(self.name).inc()
                log.error("lane %s: a batch of %d has not ended after %g s", self.name, len(calls), self._patience)
                return [Unavailable(f"This model has not answered for {self._patience:g} s.") for _ in calls]
            results: Sequence[Any] = computed.result()
        except Exception as error:  # no thread could be started
            log.exception("lane %s", self.name)
            return [as_exception(error)] * len(calls)
        finally:
            self._free += 1
            self._place.set()
        seconds = time.perf_counter() - started
        self._pace.observe(len(calls), seconds, full=bool(self._calls))
        self._figures.batch_size.labels(self.name).observe(len(calls))
        self._figures.seconds.labels(self.name).observe(seconds)
        return results

    async def _gather(self) -> None:
        """Let a batch fill up for a moment, but only as far as recent traffic makes that likely.

        A caller that is alone never waits: the expected company is what was there at the last batches.
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
        chosen_ids = set(map(id, chosen))
        self._calls = [call for call in self._calls if id(call) not in chosen_ids]
        self._figures.waiting.labels(self.name).set(len(self._calls))
        if not self._calls:
            self._arrived.clear()
        return chosen

    def _fitting(self, calls: list[Call]) -> list[Call]:
        """The first calls that make up a batch; one call always fits, however large."""
        chosen, size = calls[:1], calls[0].size
        most = min(self._batch, math.ceil(len(calls) / max(1, self._free)))
        for call in calls[1:most]:
            size += call.size
            if self._room is not None and size > self._room:
                break
            chosen.append(call)
        return chosen

    def _forget_abandoned(self) -> None:
        waiting = [call for call in self._calls if not call.result.done()]
        if len(waiting) < len(self._calls):
            self._figures.abandoned.labels(self.name).inc(len(self._calls) - len(waiting))
            self._calls = waiting

    def _compute(self, payloads: list[Any]) -> Sequence[Any]:
        """Results or exceptions, one a payload; when a batch fails, each call is tried alone."""
        try:
            results = list(self._run(payloads))
            if len(results) != len(payloads):
                raise Unavailable(f"The model gave {len(results)} answers to {len(payloads)} calls.")
            return results
        except BaseException as error:
            if len(payloads) == 1:
                return [as_exception(error)]
            return [self._compute([payload])[0] for payload in payloads]


def _refuse(calls: Sequence[Call]) -> None:
    """Answer the calls that have no answer yet."""
    for call in calls:
        if not call.result.done():
            call.result.set_exception(Unavailable("The model host is shutting down."))


def size_class(size: int) -> int:
    """Sizes up to 32 share a batch, then up to 64, 128, 256...: padding never more than doubles the work."""
    return max(5, (size - 1).bit_length())


class Pace:
    """Estimates how long a call waits from the time that recent batches took.

    The first batch is left out: it pays for memory, caches and compiled kernels that later ones find ready. A batch
    that took far longer than the others (a machine that slept, a process that was stopped) says little about the
    next one: the estimate loses half of itself in each `HALF_LIFE` without a batch.
    """

    def __init__(self, batch: int, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._full = float(batch)
        self._at_once = at_once
        self._clock = clock
        self._warm = False
        self._seconds = 0.0
        self._observed_at = clock()

    def observe(self, calls: int, seconds: float, full: bool) -> None:
        """Learn from one batch; `full` where others had to wait for the next. Large batches weigh more."""
        if full:
            self._full += 0.3 * (calls - self._full)
        if not self._warm:
            self._warm = True
            return
        recent = self._recent()
        self._seconds = recent + (1 - 0.7**calls) * (seconds - recent) if recent else seconds
        self._observed_at = self._clock()

    def wait(self, ahead: int) -> float:
        """Return the seconds until a call behind `ahead` others is answered; rather too few than too many."""
        batches = ahead // max(1, round(self._full)) + 1
        return math.ceil(batches / self._at_once) * self._recent()

    def _recent(self) -> float:
        """Return the seconds of a batch, halved in each half-life since the last one ended."""
        rest = max(0.0, self._clock() - self._observed_at - self._seconds)
        return self._seconds * math.pow(0.5, rest / HALF_LIFE)
