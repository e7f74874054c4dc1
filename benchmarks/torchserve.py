"""The default target behind our host and behind TorchServe 0.12: the same weights, callers and protocol overhead.

Both answer over TCP to the same callers in this process. TorchServe computes in fp32 with two workers, once one input
at a time and once in batches of 16 with a delay of 5 ms. Ours is measured in fp32, and as it is served by default. All
servers run the whole time and are asked in turns; figures are medians, ratios those of pairs of neighbouring turns.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import gevent
import httpx2
from geventhttpclient import URL, HTTPClient

from benchmarks.row import Row
from dynabench.models import catalog, encoder
from tests.models.served import torchserve

ROOT = Path(__file__).parent.parent
FOLDER = catalog.BUILTIN / "sentiment-minilm"
HANDLER = Path(__file__).parent / "theirs" / "classifier.py"
STATEMENT = "The acting is wonderful, but the plot is thin and the jokes are older than the cast."
SECONDS, ROUNDS, SETTLED = 4.0, 5, 20.0


@dataclass(frozen=True)
class Rate:
    """Answers a second, and the median time of one in milliseconds."""

    calls: float
    median: float


@dataclass(frozen=True)
class Ask:
    """A call: where it goes, what is sent, and the word that its answer has."""

    url: str
    body: bytes
    word: bytes = b"positive"


def rows() -> list[Row]:
    """All figures of this file; none where TorchServe cannot run."""
    if answer := torchserve.missing():
        print(f"TorchServe is left out: {answer}", file=sys.stderr)
        return []
    site = torchserve.installed(_cache())
    with tempfile.TemporaryDirectory() as folder:
        files = _theirs(Path(folder))
        archives = {
            "single": torchserve.Archive(HANDLER, "classify", files=files, workers=2),
            "batched": torchserve.Archive(HANDLER, "classify", files=files, workers=2, batch=16, delay_ms=5),
        }
        with ExitStack() as stack:
            request: dict[str, Ask] = {}
            for name, precision in (("fp32", "fp32"), ("default", "")):
                request[name] = _infer(stack.enter_context(_host(Path(folder) / name, precision)))
            running = stack.enter_context(torchserve.serving(site, Path(folder) / "theirs", archives))
            request |= {name: _predict(f"{running.inference}/predictions/{name}") for name in archives}
            time.sleep(SETTLED)
            return [row for callers in (1, 32) for row in _rows(callers, _measure_rates(request, callers))]


def _measure_rates(request: dict[str, Ask], callers: int) -> dict[str, list[Rate]]:
    """Rates of all servers, in turns: what else the machine does meanwhile slows all of them alike."""
    used: dict[str, list[Rate]] = {name: [] for name in request}
    for _ in range(ROUNDS):
        for name, ask in request.items():
            used[name].append(_round(ask, callers))
    return used


def _rows(callers: int, used: dict[str, list[Rate]]) -> list[Row]:
    calls = {name: statistics.median(rate.calls for rate in rates) for name, rates in used.items()}
    wait = {name: statistics.median(rate.median for rate in rates) for name, rates in used.items()}
    name = max(("single", "batched"), key=lambda each: calls[each])
    answer = {"single": "one at a time", "batched": "batches of 16, 5 ms"}[name]

    def row(ours: str, subject: str, least: float = 0) -> Row:
        pairs = sorted(item.calls / other.calls for item, other in zip(used[ours], used[name], strict=True))
        return Row(
            f"{subject}, {callers} at once", calls[ours], "calls/s", f"TorchServe, 2 workers, {answer}", calls[name],
            f"at least {least:g}x" if least else "",
            statistics.median(pairs) >= least if least else None,
            f"p50 {wait[ours]:.0f} ms, theirs {wait[name]:.0f}; pairs {pairs[0]:.2f}x to {pairs[-1]:.2f}x, "
            f"median {statistics.median(pairs):.2f}x",
        )  # fmt: skip

    return [row("fp32", "host in fp32"), row("default", "host by default", 2)]


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
    return Ask(f"{url}/v2/models/sentiment-minilm/infer", json.dumps({"inputs": [tensor]}).encode())


def _predict(url: str) -> Ask:
    return Ask(url, json.dumps({"statement": STATEMENT}).encode())


def _round(ask: Ask, callers: int) -> Rate:
    """Callers who ask again as soon as they are answered, over connections that stay open. They share the processor
    with who answers, so the client is the one of a load generator, whose calls cost little."""
    used: list[float] = []
    place = URL(ask.url)

    def call() -> None:
        message = client.post(place.request_uri, body=ask.body, headers={"Content-Type": "application/json"})
        text = bytes(message.read())
        if message.status_code != 200 or ask.word not in text:
            raise RuntimeError(f"{ask.url}: {message.status_code} {text[:200]!r}")

    def caller() -> None:
        while time.perf_counter() < until:
            since = time.perf_counter()
            call()
            used.append(time.perf_counter() - since)

    with closing(HTTPClient.from_url(place, concurrency=callers, network_timeout=60)) as client:
        gevent.joinall([gevent.spawn(call) for _ in range(2 * callers)], raise_error=True)
        begun = time.perf_counter()
        until = begun + SECONDS
        gevent.joinall([gevent.spawn(caller) for _ in range(callers)], raise_error=True)
        return Rate(len(used) / (time.perf_counter() - begun), 1000 * statistics.median(used))


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
