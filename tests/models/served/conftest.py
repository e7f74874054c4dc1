"""Shared by the tests of served models: a home of their own, folders by kind, servers on real sockets."""

import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from dynabench.models.backends.served.endpoint import breaker
from dynabench.models.backends.served.stores import cache

LABELS = ["negative", "neutral", "positive"]
CLASSIFIER = {
    "name": "theirs",
    "task": "sentiment",
    "inputs": ["statement"],
    "answer": "label",
    "labels": LABELS,
    "licence": "MIT",
    "seconds": 5,
}
READER = {**CLASSIFIER, "task": "qa", "inputs": ["question", "passage"], "answer": "answer", "labels": []}
WRITER = {**CLASSIFIER, "answer": "reply", "labels": [], "returns": "text"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder of this test alone, whose operator lets models be served on this machine."""
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    breaker.cache_clear()
    folder = get_settings().folder
    yield folder
    cache(folder).close()
    get_settings.cache_clear()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Write a model folder and open it: `opened("oip", url=..., base=CLASSIFIER, name="other")`."""
    models: list[Any] = []

    def write(kind: str, base: dict[str, Any] = CLASSIFIER, more: dict[str, Any] | None = None, **options: Any) -> Any:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        (folder / "model.yaml").write_text(yaml.safe_dump({**base, **(more or {}), "kind": kind, "options": options}))
        models.append(catalog.open_model(folder))
        return models[-1]

    yield write
    for model in models:
        model.close()


Answering = Callable[[socket.socket, int], None]
"""Given a connection whose request has been read, and how many came before, sends what it likes."""


class Hostile:
    """A server that speaks bytes; counts its calls and keeps what it was sent."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.requests: list[bytes] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        """Stop listening, and wait for what is under way."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(10)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._threads.append(threading.Thread(target=self._answer, args=(connection,), daemon=True))
                self._threads[-1].start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(10)
            request = _read(connection)
            if request:
                self.requests.append(request)
                self._answering(connection, len(self.requests) - 1)


@pytest.fixture
def hostile() -> Iterator[Callable[[Answering], Hostile]]:
    """Start a server that answers with whatever bytes."""
    with _several() as start:
        yield start


@contextmanager
def _several() -> Iterator[Callable[[Answering], Hostile]]:
    servers: list[Hostile] = []

    def start(answering: Answering) -> Hostile:
        servers.append(Hostile(answering))
        return servers[-1]

    try:
        yield start
    finally:
        for server in servers:
            server.close()


def _read(connection: socket.socket) -> bytes:
    """One request: headers, and as much of a body as they promise."""
    request = b""
    while b"\r\n\r\n" not in request:
        part = connection.recv(65536)
        if not part:
            return b""
        request += part
    head, _, body = request.partition(b"\r\n\r\n")
    promised = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < promised:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def http(body: bytes, status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
