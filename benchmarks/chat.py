"""The first token on the page beside the model's own: the same chat API asked directly and through the platform."""

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.row import Row
from benchmarks.running import free_port, platform, wait_for
from benchmarks.talker import folder
from dynabench.client import Client
from dynabench.db import Database
from dynabench.settings import Settings
from tests.collection.chat.conftest import opened
from tests.models.served import chat_server

PAIRS, WARM = 20, 2
TASK = "red-team-chat"
SAID = "Tell me in one sentence what a harbour is for, and name {} things that one sees there."
SERVER = """
import sys, uvicorn
from pathlib import Path
from tests.models.served.chat_server import Chat, unpacked
uvicorn.run(Chat(unpacked(Path(sys.argv[1]))).app, port=int(sys.argv[2]), log_level="warning")
"""


def rows() -> list[Row]:
    """Time to the first token of a small language model, in pairs; nothing where the model is not installed."""
    if chat_server.missing():
        return []
    with tempfile.TemporaryDirectory() as place, _served(Path(place)) as url:
        home = Path(place) / "home"
        home.mkdir()
        folder(home / "models", "small", url, chat_server.NAME, task=TASK, max_tokens=4, temperature=0.0)
        with platform(home, private_endpoints="127.0.0.1") as base:
            db = Database(Settings(home=home).url)
            db.write(opened, TASK, home / "models", "small")
            db.close()
            pairs = list(_pairs(url, base))[WARM:]
    ratio = statistics.median(through / direct for direct, through in pairs)
    direct, through = (statistics.median(each) * 1000 for each in zip(*pairs, strict=True))
    note = f"SmolLM2-135M on one core; median of {len(pairs)} pairs {ratio:.2f}x"
    what = "first token of a streamed reply: page, host, endpoint"
    return [Row(what, through, "ms", "the endpoint asked directly", direct, "at most 1.2x", ratio <= 1.2, note)]


def _pairs(url: str, base: str) -> Iterator[tuple[float, float]]:
    """Seconds to the first token, asked directly and through the platform, in turns that take turns."""
    with Client(base) as client, httpx2.Client(timeout=120) as plain:
        client.register("bench", "bench@example.org", "correct horse battery")
        token = client.log_in("bench", "correct horse battery")
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        for number in range(PAIRS + WARM):
            handout = client.next_context(TASK)["handout"]
            talk = client.request("POST", f"/tasks/{TASK}/conversations", json={"handout": handout})["id"]
            messages = [{"role": "user", "content": SAID.format(number + 2)}]
            body = {"model": chat_server.NAME, "messages": messages, "max_tokens": 4, "temperature": 0.0}
            calls: list[tuple[str, Mapping[str, Any], Mapping[str, str], str]] = [
                (f"{url}/chat/completions", body | {"stream": True}, {}, '"content"'),
                (f"{base}/api/v1/conversations/{talk}/turns", {"said": messages[0]["content"]}, headers, '"text"'),
            ]
            taken = {at: _first(plain, *calls[at]) for at in ((0, 1), (1, 0))[number % 2]}
            yield taken[0], taken[1]


def _first(plain: httpx2.Client, url: str, body: Mapping[str, Any], headers: Mapping[str, str], mark: str) -> float:
    """Seconds until a line of the stream has the mark; the rest is read as well."""
    begun, first = time.perf_counter(), 0.0
    with plain.stream("POST", url, json=body, headers=headers) as answer:
        for line in answer.iter_lines():
            if not first and mark in line:
                first = time.perf_counter() - begun
    if not first:
        raise RuntimeError(f"{url} wrote nothing")
    return first


@contextmanager
def _served(place: Path) -> Iterator[str]:
    """The chat API of the tests in a process of its own."""
    port = free_port()
    command = [sys.executable, "-c", SERVER, str(place), str(port)]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, _paths()))})
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models/{chat_server.NAME}", 300)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def _paths() -> Iterator[str]:
    return itertools.chain([str(Path(__file__).parent.parent)], [os.environ.get("PYTHONPATH", "")])
