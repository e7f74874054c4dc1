"""The live loop through the real platform: one annotator, then 32 at once, beside the bare model."""

import asyncio
import itertools
import random
import statistics
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.row import Row, median_ms
from benchmarks.running import operate, platform, settle
from dynabench.client import Client
from dynabench.models import catalog
from dynabench.tasks.shipped import shipped_tasks

MODEL = "nli-minilm"
WORDS = "two hikers wait outside a closed shop while nobody plays the old piano near seven wet dogs".split()
ANNOTATORS, SECONDS, ALONE, TRIES = 32, 20.0, 120, 3


def hypothesis(turn: int) -> str:
    """Five to twelve words, never the same twice."""
    rng = random.Random(turn)
    return f"{' '.join(rng.choices(WORDS, k=rng.randint(5, 12)))} {turn}."


def bare() -> tuple[float, float]:
    """Median milliseconds of one bare call, and examples per second on full batches of 32 of the same texts."""
    model = catalog.open_model(catalog.entry(MODEL).folder)
    task = next(item for item in shipped_tasks() if item.config.id == "nli")
    premises = [context["values"]["premise"] for context in task.contexts()]
    turns = itertools.count()

    def inputs() -> dict[str, str]:
        turn = next(turns)
        return {"premise": premises[turn % len(premises)], "hypothesis": hypothesis(turn)}

    alone = median_ms(lambda: model.predict([inputs()]), 60, warm=10)
    batches = [[inputs() for _ in range(32)] for _ in range(12)]
    model.predict(batches[0])
    begun = time.perf_counter()
    for batch in batches:
        model.predict(batch)
    return alone, 32 * len(batches) / (time.perf_counter() - begun)


class Annotator:
    """Asks for a context and posts an example on it; remembers how long the answer took."""

    def __init__(self, base: str, token: str, number: int) -> None:
        self.http = httpx2.AsyncClient(
            base_url=f"{base}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=30
        )
        self.turns = itertools.count(number * 1_000_000)
        self.milliseconds: list[float] = []
        self.handout: dict[str, Any] = {}

    async def example(self) -> None:
        """One example; three tries are made on each context, as people rarely fool a model at once."""
        if len(self.milliseconds) % TRIES == 0 or not self.handout:
            self.handout = (await self.http.post("/tasks/nli/contexts/next")).raise_for_status().json()
        values = self.handout
        body = {
            "context_id": values["id"],
            "input": {"hypothesis": hypothesis(next(self.turns))},
            "answer": values["goal"],
            "sandbox": False,
        }
        begun = time.perf_counter()
        answer = await self.http.post("/tasks/nli/examples", json=body, headers={"Idempotency-Key": str(uuid.uuid4())})
        if answer.status_code == 503:  # the model's queue is full: as people do, try again
            await asyncio.sleep(0.2)
            return
        self.milliseconds.append((time.perf_counter() - begun) * 1000)
        assert answer.status_code == 201, answer.text

    async def until(self, deadline: float) -> None:
        """Examples until the time is over."""
        while time.perf_counter() < deadline:
            await self.example()


async def load(base: str, tokens: list[str]) -> tuple[float, list[float]]:
    """Examples per second of all annotators at once, and each one's milliseconds."""
    people = [Annotator(base, token, number) for number, token in enumerate(tokens)]
    await asyncio.gather(*(person.example() for person in people))
    begun = time.perf_counter()
    for person in people:
        person.milliseconds.clear()
    await asyncio.gather(*(person.until(begun + SECONDS) for person in people))
    seconds = time.perf_counter() - begun
    for person in people:
        await person.http.aclose()
    used = [item for person in people for item in person.milliseconds]
    return len(used) / seconds, used


async def alone(base: str, token: str) -> list[float]:
    """Milliseconds of examples posted one after the other."""
    person = Annotator(base, token, 900)
    for _ in range(ALONE + 10):
        await person.example()
    await person.http.aclose()
    return person.milliseconds[10:]


def batch_sizes(home: Path) -> dict[int, int]:
    """Return the number of forward passes of the shared encoder by the number of calls that each answered."""
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(home / "run" / "host.sock"))) as host:
        lines = host.get("http://host/metrics").text.splitlines()
    total: dict[int, int] = {}
    for line in lines:
        if line.startswith("dynabench_host_batch_size_bucket") and "ngram" not in line and "/" not in line:
            size = line.split('le="')[1].split('"')[0]
            if size != "+Inf":
                total[int(float(size))] = total.get(int(float(size)), 0) + int(float(line.rsplit(" ", 1)[1]))
    sizes = sorted(total)
    return {
        size: total[size] - (total[before] if before else 0) for before, size in zip([0, *sizes], sizes, strict=False)
    }


def median_size(histogram: dict[int, int]) -> float:
    """The size of the batch that the median call was in."""
    calls = [size for size, times in histogram.items() for _ in range(size * times)]
    return statistics.median(calls) if calls else 0.0


def members(base: str, many: int) -> list[str]:
    """Tokens of fresh accounts."""
    tokens = []
    for number in range(many):
        with Client(base) as client:
            client.register(f"bench{number}", f"bench{number}@example.org", "a long enough passphrase")
            tokens.append(client.log_in(f"bench{number}", "a long enough passphrase"))
    return tokens


def first_page(home: Path) -> float:
    """Seconds from `dynabench serve` to the first page, with the caches of the disk warm."""
    begun = time.monotonic()
    with platform(home, ready=False) as base:
        urllib.request.urlopen(base).read()
        return time.monotonic() - begun


def rows() -> list[Row]:
    """The budgets of posting an example and of the first page."""
    single, full = bare()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with platform(home, "--demo") as base:
            operate(home, "round", "close", "nli")
            operate(home, "round", "open", "nli", "--target", MODEL)
            settle()
            tokens = members(base, ANNOTATORS)
            used = asyncio.run(alone(base, tokens[0]))
            before = batch_sizes(home)
            rate, together = asyncio.run(load(base, tokens))
            after = batch_sizes(home)
        started = first_page(home)
    full = (full + bare()[1]) / 2  # other work on the machine falls on the platform and on its anchor alike
    histogram = {size: after[size] - before.get(size, 0) for size in after if after[size] - before.get(size, 0)}
    middle = statistics.median(used)
    late = statistics.quantiles(used, n=20)[-1]
    typical = median_size(histogram)
    return [
        Row(
            "post an example, one annotator, p50",
            middle,
            "ms",
            "bare model call",
            single,
            "+ 15 ms",
            middle <= single + 15,
        ),
        Row("post an example, one annotator, p95", late, "ms", "budget", 150, "under 150 ms", late < 150),
        Row("32 annotators, examples/s", rate, "/s", "bare model, batches of 32", full, ">= 0.6x", rate >= 0.6 * full),
        Row(
            "32 annotators, batch of the median call",
            typical,
            "calls",
            budget=">= 8",
            holds=typical >= 8,
            note=" ".join(f"{size}:{times}" for size, times in sorted(histogram.items())),
        ),
        Row("32 annotators, p95", statistics.quantiles(together, n=20)[-1], "ms"),
        Row("first page after `serve`", started, "s", "budget", 3, "3 s", started < 3),
    ]
