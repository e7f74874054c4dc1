"""The worker processes of a host: started on private sockets, watched, started again when they die or hang.

A worker that is slow to answer is busy; one whose heartbeat stops hangs (see `supervisor`).
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx

from dynabench.errors import Unavailable
from dynabench.models import runtime
from dynabench.models.host.figures import CrewFigures
from dynabench.supervisor import Watched, end

PROBE_SECONDS = 1.0
PROBE_PATIENCE = 2.0
"""Seconds that a worker has to say what it serves."""
FAR = 8
"""As so many calls counts that a worker would have to load the model first."""


class Worker:
    """One process that computes, at a private socket."""

    def __init__(self, number: int, folder: Path, options: Sequence[str], env: Mapping[str, str]) -> None:
        self.number = number
        self.path = folder / f"worker-{number}.sock"
        command = [sys.executable, "-m", "dynabench", "host", "--url", f"unix:{self.path}", "--workers", "1"]
        self.watched = Watched(f"host worker {number}", [*command, *options], env=dict(env))
        self.in_flight = 0
        self.models: set[str] = set()
        self.up = self.suspect = False
        limits = httpx.Limits(max_connections=512, max_keepalive_connections=64, keepalive_expiry=60)
        transport = httpx.AsyncHTTPTransport(uds=str(self.path), limits=limits, verify=False)
        self.http = httpx.AsyncClient(base_url="http://worker", transport=transport, timeout=None, trust_env=False)

    def load(self, model: str) -> tuple[bool, int]:
        """Smaller is better: not suspected to hang, little to do where the model is loaded already."""
        return self.suspect, self.in_flight + (0 if model in self.models else FAR)

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """Count a call meanwhile."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def lost(self) -> None:
        """It broke a connection: it gets no call before it answers a probe again."""
        self.up = False

    def has(self, model: str) -> None:
        """It has answered for the model."""
        self.models.add(model)

    async def probe(self) -> None:
        """Ask what it serves; one that does not say so in time gets calls only where no other can."""
        try:
            async with asyncio.timeout(PROBE_PATIENCE):
                answer = await self.http.post("/v2/repository/index", json={"ready": True})
                self.models = {entry["name"] for entry in answer.json()}
            well = True
        except (TimeoutError, httpx.HTTPError, ValueError, TypeError, KeyError):
            well = False
        self.up = well or (self.up and self.watched.process is not None)
        self.suspect = not well


class Crew:
    """The workers of one host, each with so much `memory`. Lives on one event loop."""

    def __init__(self, count: int, memory: str = "none", places: Sequence[Path] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dynabench-host-")
        threads = os.environ.get("OMP_NUM_THREADS", str(max(1, runtime.cores() // count)))
        env = {"OMP_NUM_THREADS": threads, "DYNABENCH_HOST_TOKEN": ""}
        options = ["--memory", memory, *(part for place in places for part in ("--models", str(place)))]
        self.workers = [Worker(number, Path(self._folder.name), options, env) for number in range(count)]
        self.figures = CrewFigures(self.workers)
        self._turn = 0

    async def watch(self) -> None:
        """Start the workers, and start again those that end or hang, until cancelled."""
        probes = [asyncio.create_task(self._probe(worker)) for worker in self.workers]
        try:
            while True:
                for worker in self.workers:
                    self._check(worker)
                await asyncio.sleep(0.05)
        finally:
            for probe in probes:
                probe.cancel()
            await asyncio.gather(*probes, return_exceptions=True)

    async def best(self, model: str, until: float, but: Sequence[Worker] = ()) -> Worker:
        """The worker to ask, waited for until that moment of the loop's clock; rather not one of `but`.

        Raises `Unavailable` when none is up by then.
        """
        loop = asyncio.get_running_loop()
        while True:
            up = [worker for worker in self.workers if worker.up]
            others = [worker for worker in up if worker not in but] or up
            if others:
                self._turn += 1  # equals take turns
                ordered = [others[(self._turn + at) % len(others)] for at in range(len(others))]
                return min(ordered, key=lambda worker: worker.load(model))
            if loop.time() >= until:
                raise Unavailable("No worker of this host is up. Try again in a moment.")
            await asyncio.sleep(0.02)

    async def ask_all(
        self, method: str, path: str, body: Any = None, seconds: float | None = PROBE_PATIENCE
    ) -> list[tuple[Worker, httpx.Response]]:
        """What each worker answers that is up; those that do not are left out."""

        async def ask(worker: Worker) -> httpx.Response:
            async with asyncio.timeout(seconds):
                return await worker.http.request(method, path, json=body)

        asked = [worker for worker in self.workers if worker.up]
        found = await asyncio.gather(*(ask(worker) for worker in asked), return_exceptions=True)
        return [
            (worker, answer) for worker, answer in zip(asked, found, strict=True) if isinstance(answer, httpx.Response)
        ]

    async def close(self) -> None:
        """End all workers."""
        await asyncio.to_thread(end, [worker.watched for worker in self.workers], 5.0)
        for worker in self.workers:
            await worker.http.aclose()
        self._folder.cleanup()

    def _check(self, worker: Worker) -> None:
        before = worker.watched.process
        worker.watched.check()
        if worker.watched.process is None or worker.watched.process is not before:
            if before is not None:
                self.figures.restarted.labels(str(worker.number)).inc()
            worker.lost()

    async def _probe(self, worker: Worker) -> None:
        while True:
            begun = time.monotonic()
            if worker.watched.process is not None:
                await worker.probe()
            while time.monotonic() - begun < (PROBE_SECONDS if worker.up else PROBE_SECONDS / 10):
                await asyncio.sleep(0.05)
