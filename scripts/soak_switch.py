"""A model host of somebody else's with a switch: it answers well, late, not at all, or nonsense."""

import itertools
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from dynabench.models.host import wire
from dynabench.models.protocol import ModelCard, ModelOutput

LABELS = ("negative", "neutral", "positive")
CARD = ModelCard("switch", "0123456789abcdef", "sentiment", "oip", ("statement",), "label", LABELS)
SURE = dict.fromkeys(LABELS, 0.25) | {"positive": 0.5}
WELL, LATE, ERROR = "well", "late", "error 500"
NONSENSE = ("html", "empty", "a foreign label", "not a number", "a sum of 3", "another version", "2,000 answers")
WAYS = (LATE, ERROR, *NONSENSE)
LATE_SECONDS = 3.0


def answer_body(way: str, rows: int) -> bytes:
    """The body of an answer."""
    if way in ("html", "empty"):
        return b"<html>It works!</html>" if way == "html" else b""
    answer = {"label": "perhaps" if way == "a foreign label" else "positive"}
    sure = dict.fromkeys(LABELS, float("nan") if way == "not a number" else 1.0)
    output = ModelOutput(answer, sure if way in ("not a number", "a sum of 3") else SURE)
    document = wire.response(CARD, [output] * (2000 if way == "2,000 answers" else rows))
    if way == "another version":
        document["model_version"] = "fedcba9876543210"
    return json.dumps(document).encode()


class Switch(ThreadingHTTPServer):
    """The server; `way` says how it answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.way = WELL
        self.answered = itertools.count()
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that has closed its connection, which this server provokes."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Switch

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        self._send(b'{"ready": true}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        way = self.server.way
        if self.path == "/v2/repository/index":
            entry = {"name": CARD.name, "version": CARD.version, "state": "READY", "reason": ""}
            self._send(json.dumps([entry | {"card": wire.card_json(CARD)}]).encode())
        elif not self.path.startswith("/v2/models/switch/") or not self.path.endswith("/infer"):
            self._send(b'{"error": "There is no such model here."}', 404)
        else:
            if way == LATE:
                time.sleep(LATE_SECONDS)
            self._send(answer_body(way, len(wire.rows(body))), 500 if way == ERROR else 200)

    def _send(self, data: bytes, status: int = 200) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            return  # whoever asked has left
