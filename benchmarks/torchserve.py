"""The default target behind our host and behind TorchServe 0.12: the same weights, callers and protocol overhead.

Both answer over TCP to the same callers in this process. TorchServe computes in fp32 with two workers, once one input
at a time and once in batches of 16 with a delay of 5 ms. Ours is measured in fp32, and as it is served by default.
"""

import asyncio
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.row import Row
from dynabench.models import catalog, encoder
from tests.models.served import torchserve

ROOT = Path(__file__).parent.parent
FOLDER = catalog.BUILTIN / "sentiment-minilm"
HANDLER = Path(__file__).parent / "theirs" / "classifier.py"
STATEMENT = "The acting is wonderful, but the plot is thin and the jokes are older than the cast."
SECONDS, ROUNDS = 6.0, 3
Ask = Callable[[httpx2.AsyncClient], Any]


@dataclass(frozen=True)
class Rate:
    """Answers a second, and the median time of one in milliseconds."""

    calls: float
    median: float


def rows() -> list[Row]:
    """All figures of this file; none where TorchServe cannot run."""
    if told := torchserve.missing():
        print(f"TorchServe is left out: {told}", file=sys.stderr)
        return []
    site = torchserve.installed(_cache())
    with tempfile.TemporaryDirectory() as folder:
        files = _theirs(Path(folder))
        archives = {
            "single": torchserve.Archive(HANDLER, "classify", files=files, workers=2),
            "batched": torchserve.Archive(HANDLER, "classify", files=files, workers=2, batch=16, delay_ms=5),
        }
        ours: dict[tuple[str, int], Rate] = {}
        for precision in ("fp32", ""):
            with _host(Path(folder), precision) as url:
                ours |= {(precision, callers): _best(_infer(url), callers) for callers in (1, 32)}
        theirs: dict[tuple[str, int], Rate] = {}
        for name, archive in archives.items():
            with torchserve.serving(site, Path(folder) / f"run-{name}", {name: archive}) as running:
                ask = _predict(f"{running.inference}/predictions/{name}")
                theirs |= {(name, callers): _best(ask, callers) for callers in (1, 32)}
    return [row for callers in (1, 32) for row in _rows(callers, ours, theirs)]


def _rows(callers: int, ours: dict[tuple[str, int], Rate], theirs: dict[tuple[str, int], Rate]) -> list[Row]:
    name = max(("single", "batched"), key=lambda each: theirs[each, callers].calls)
    anchor = theirs[name, callers]
    told = {"single": "one at a time", "batched": "batches of 16, 5 ms"}[name]
    who, note = f"TorchServe, 2 workers, {told}", f"{callers} connections; theirs p50 {anchor.median:.0f} ms"
    equal, default = ours["fp32", callers], ours["", callers]
    return [
        Row(f"host in fp32, {callers} at once", equal.calls, "calls/s", who, anchor.calls, note=note),
        Row(
            f"host by default, {callers} at once",
            default.calls,
            "calls/s",
            who,
            anchor.calls,
            "at least 2x",
            default.calls >= 2 * anchor.calls,
            f"ours p50 {default.median:.0f} ms",
        ),
    ]


def _cache() -> Path:
    folder = ROOT / ".bench"
    folder.mkdir(exist_ok=True)
    return folder


def _theirs(folder: Path) -> tuple[Path, ...]:
    """The encoder with the adapter merged, its tokenizer and the head, as files for an archive."""
    from peft import PeftModel

    body = PeftModel.from_pretrained(encoder.load(), str(FOLDER / "adapter")).merge_and_unload()
    target = folder / "merged"
    body.save_pretrained(target)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(encoder.find() / name, target / name)
    shutil.copy(FOLDER / "head.safetensors", target / "head.safetensors")
    return tuple(sorted(target.iterdir()))


def _infer(url: str) -> Ask:
    tensor = {"name": "statement", "datatype": "BYTES", "shape": [1], "data": [STATEMENT]}
    return _posting(f"{url}/v2/models/sentiment-minilm/infer", {"inputs": [tensor]}, "positive")


def _predict(url: str) -> Ask:
    return _posting(url, {"statement": STATEMENT}, "positive")


def _posting(url: str, body: dict[str, Any], word: str) -> Ask:
    async def ask(http: httpx2.AsyncClient) -> None:
        said = await http.post(url, json=body)
        if said.status_code != 200 or word not in said.text:
            raise RuntimeError(f"{url}: {said.status_code} {said.text[:200]}")

    return ask


def _best(ask: Ask, callers: int) -> Rate:
    """The best of some rounds: what else the machine does only slows."""
    return max((asyncio.run(_round(ask, callers)) for _ in range(ROUNDS)), key=lambda rate: rate.calls)


async def _round(ask: Ask, callers: int) -> Rate:
    taken: list[float] = []

    async def caller() -> None:
        while time.perf_counter() < until:
            since = time.perf_counter()
            await ask(http)
            taken.append(time.perf_counter() - since)

    limits = httpx2.Limits(max_connections=callers, max_keepalive_connections=callers)
    async with httpx2.AsyncClient(limits=limits, timeout=60, trust_env=False) as http:
        await asyncio.gather(*(ask(http) for _ in range(2 * callers)))
        begun = time.perf_counter()
        until = begun + SECONDS
        await asyncio.gather(*(caller() for _ in range(callers)))
        return Rate(len(taken) / (time.perf_counter() - begun), 1000 * statistics.median(taken))


@contextmanager
def _host(folder: Path, precision: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    environment = os.environ | {"DYNABENCH_HOME": str(folder), "DYNABENCH_PRECISION": precision}
    process = subprocess.Popen([sys.executable, "-m", "dynabench", "host", "--url", url], env=environment)
    try:
        asyncio.run(_ready(url))
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


async def _ready(url: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        for _ in range(600):
            try:
                if (await http.get(f"{url}/v2/health/ready")).status_code == 200:
                    return
            except httpx2.TransportError:
                pass
            await asyncio.sleep(0.1)
    raise RuntimeError("the host did not become ready")
