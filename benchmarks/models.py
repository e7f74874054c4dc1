"""The models alone: one call, full batches, the strip, integrated gradients, and what the host adds."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.row import Row, median_ms
from benchmarks.running import settle
from dynabench.models import catalog, runtime
from dynabench.models.backends.encoded import AdapterModel
from dynabench.models.backends.pool import Pool
from dynabench.models.client import Host

STATEMENT = {
    "statement": "The acting is wonderful, but the plot is thin, the jokes are older than the cast, and the ending "
    "bored me so much that I left."
}
"""32 word pieces with the encoder's marks."""
PAIR = {"premise": "Two hikers eat lunch on a bridge while a storm gathers.", "hypothesis": "They eat at home."}


def rows() -> list[Row]:
    """All figures of this file."""
    runtime.use_threads(runtime.cores())
    model = AdapterModel.load(catalog.BUILTIN / "sentiment-minilm")
    label = str(model.predict([STATEMENT])[0].answer["label"])
    item = median_ms(lambda: model.predict([STATEMENT]), 30)
    speed = 32_000 / median_ms(lambda: model.predict([STATEMENT] * 32), 8)
    exact = AdapterModel.load(catalog.BUILTIN / "sentiment-minilm", Pool("exact"))
    plain = median_ms(lambda: exact.predict([STATEMENT]), 30)
    strip = median_ms(lambda: model.attribute(STATEMENT, label, "gradient"), 30)
    seconds = median_ms(lambda: model.attribute(STATEMENT, label, "layer_integrated_gradients"), 3, warm=1) / 1000
    result = model.attribute(STATEMENT, label, "layer_integrated_gradients")
    error = result.completeness_error or 0.0
    pieces = f"{len(model.prepare(STATEMENT))} pieces"
    return [
        Row("bare model, one call", item, "ms", "torch's own layers in fp32", plain, "6 ms", item <= 6, pieces),
        Row("bare model, batches of 32", speed, "inputs/s", "one at a time", 1000 / item, "400", speed >= 400, pieces),
        Row("token strip", strip, "ms", "bare model, one call", item, "at most 4x", strip <= 4 * item, pieces),
        Row("integrated gradients", seconds, "s", budget="2 s", holds=seconds <= 2, note=pieces),
        Row("their completeness error", error, "relative", budget="under 0.05", holds=error < 0.05, note=pieces),
        *_ngram(),
        *_through_the_host(item),
    ]


def _ngram() -> list[Row]:
    model = catalog.open_model(catalog.BUILTIN / "nli-ngram")
    label = str(model.predict([PAIR])[0].answer["label"])
    return [
        Row("n-gram model, one call", median_ms(lambda: model.predict([PAIR]), 200), "ms"),
        Row("n-gram model, exact strip", median_ms(lambda: model.attribute(PAIR, label, "exact"), 200), "ms"),
    ]


def _through_the_host(item: float) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, _host(Path(folder)) as url:
        neural, linear = asyncio.run(_median_answers(url))
    return [
        Row("one call through the host", neural, "ms", "bare call", item, "bare + 15 ms", neural <= item + 15),
        Row("n-gram call through the host", linear, "ms"),
    ]


@contextmanager
def _host(folder: Path) -> Iterator[str]:
    url = f"unix:{folder / 'host.sock'}"
    process = subprocess.Popen([sys.executable, "-m", "dynabench", "host", "--url", url])
    try:
        yield url
    finally:
        process.terminate()
        process.wait(20)


async def _median_answers(url: str) -> tuple[float, float]:
    host = Host(url, 10)
    try:
        for _ in range(600):
            if await host.ready():
                break
            await asyncio.sleep(0.1)
        settle()  # it answers while other models are still loaded
        neural = [(await host.answer("sentiment-minilm", None, STATEMENT)).latency_ms for _ in range(40)]
        linear = [(await host.answer("nli-ngram", None, PAIR)).latency_ms for _ in range(100)]
    finally:
        await host.close()
    return sorted(neural)[len(neural) // 2], sorted(linear)[len(linear) // 2]
