"""Connections that end without an answer: what is sent again, and what is not."""

import socket
import threading
from collections.abc import Iterator

import httpx2
import pytest

import dynabench
from dynabench.cli import processes
from dynabench.client import Resending
from dynabench.models import host_connection

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Closing:
    """A server that answers the first request of each connection, and hangs up on the next when it has read it."""

    def __init__(self, first: bytes = ANSWER) -> None:
        self._first = first
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.seen: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                for answer in (self._first, b""):
                    if not (request := _request(connection)):
                        break
                    self.seen.append(request)
                    connection.sendall(answer)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


def _request(connection: socket.socket) -> bytes:
    """A request with its body; nothing when the other side is gone."""
    raw = b""
    while not _whole(raw):
        part = connection.recv(65536)
        if not part:
            return b""
        raw += part
    return raw


def _whole(raw: bytes) -> bool:
    head, end, body = raw.partition(b"\r\n\r\n")
    parts = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    if b"chunked" in head.lower():
        return body.endswith(b"0\r\n\r\n")
    return bool(end) and len(body) == int(parts[0] if parts else 0)


@pytest.fixture
def closing() -> Iterator[Closing]:
    created = Closing()
    yield created
    created.close()


def test_what_was_only_asked_is_asked_again_on_a_new_connection(closing):
    with dynabench.Client(closing.url) as client:
        assert client.task("nli") == {}
        assert client.task("nli") == {}
    assert [request.split()[0] for request in closing.seen] == [b"GET"] * 3


def test_an_example_is_sent_again_with_its_key(closing):
    with dynabench.Client(closing.url) as client:
        client.task("nli")
        assert client.create_example("nli", 1, {"hypothesis": "x"}, {"label": "neutral"}, key="once") == {}
    assert [request.split()[0] for request in closing.seen] == [b"GET", b"POST", b"POST"]
    assert closing.seen[1] == closing.seen[2]
    assert b"idempotency-key: once" in closing.seen[1].lower()


def test_what_might_happen_twice_is_not_sent_again(closing):
    with dynabench.Client(closing.url) as client:
        client.task("nli")
        with pytest.raises(httpx2.RemoteProtocolError):
            client.next_context("nli")
    assert len(closing.seen) == 2


def test_a_body_that_was_read_while_it_was_sent_is_not_sent_again(closing):
    with httpx2.Client(base_url=closing.url, transport=Resending()) as http:
        http.get("/")
        with pytest.raises(httpx2.RemoteProtocolError):
            http.put("/", content=iter([b"{}"]))
    assert len(closing.seen) == 2


def test_an_answer_that_breaks_off_is_not_asked_for_again():
    server = Closing(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")
    try:
        with (
            httpx2.Client(base_url=server.url, transport=Resending(), timeout=0.3) as http,
            pytest.raises(httpx2.TransportError),
        ):
            http.get("/")
        assert len(server.seen) == 1
    finally:
        server.close()


def test_web_processes_keep_connections_longer_than_clients_do(settings):
    assert processes.server_config(settings).timeout_keep_alive > host_connection.IDLE
