"""Ray Serve on this machine: two replicas against one, and against a host in one process, by the same protocol."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.row import Row
from dynabench.models.client import Host

STATEMENT = {"statement": "The acting is wonderful, but the plot is thin and the jokes are older than the cast."}
AT_ONCE, SECONDS, PATIENCE = 32, 12.0, 300.0


def rows() -> list[Row]:
    """All figures of this file: calls answered a second with 32 callers."""
    own, item, two = _rate({}), _rate(_ray(1)), _rate(_ray(2))
    note = f"sentiment-minilm, {AT_ONCE} callers, {os.cpu_count()} cores shared by all replicas and callers"
    return [
        Row("the host's own process", own, "calls/s", note=note),
        Row("Ray Serve, one replica", item, "calls/s", "the host's own process", own, note=note),
        Row("Ray Serve, two replicas", two, "calls/s", "one replica", item, note=note),
    ]


def _ray(replicas: int) -> dict[str, str]:
    return {"DYNABENCH_RAY": "local", "DYNABENCH_RAY_REPLICAS": str(replicas), "DYNABENCH_RAY_PROCESSORS": "0.05"}


def _rate(environment: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory() as folder, _host(Path(folder), environment) as url:
        return asyncio.run(_calls(url))


async def _calls(url: str) -> float:
    """Answers a second, a warm-up of a quarter of the time left out."""
    host = Host(url, timeout=60.0)
    done = 0

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await host.answer("sentiment-minilm", None, STATEMENT)
            done += 1

    try:
        async with asyncio.timeout(PATIENCE):  # Ray lets wait for ever what finds no room on the machine
            while not await host.ready():
                await asyncio.sleep(0.2)
        for length in (SECONDS / 4, SECONDS):
            until, done, since = time.perf_counter() + length, 0, time.perf_counter()
            await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
        return done / (time.perf_counter() - since)
    finally:
        await host.close()


@contextmanager
def _host(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    url = f"unix:{folder / 'host.sock'}"
    command = [sys.executable, "-m", "dynabench", "host", "--url", url]
    process = subprocess.Popen(command, env=os.environ | {"DYNABENCH_HOME": str(folder)} | environment)
    try:
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
