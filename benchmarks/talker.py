"""A chat API without weights: voices that write words after one another, over the protocol that real servers speak."""

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Voice:
    """One model: its words, the seconds before the first and between two, and how many come before the gate.

    While `gate` is not set, it writes `before` words and waits; `breaks` ends the stream in the middle.
    """

    words: list[str]
    first: float = 0.0
    pause: float = 0.0
    before: int = 0
    breaks: bool = False
    status: int = 200
    gate: threading.Event = field(default_factory=threading.Event)
    seen: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def text(self) -> str:
        """All that it writes."""
        return " ".join(self.words)


class Talker(ThreadingHTTPServer):
    """Serves voices by name under `/v1` on a free port of this machine."""

    daemon_threads = True

    def __init__(self, **voices: Voice) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.voices = voices
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """Let all voices go on, and end."""
        for voice in self.voices.values():
            voice.gate.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Chat completions, streamed or whole, and the page of a model."""

    protocol_version = "HTTP/1.1"
    server: Talker

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """One model's page."""
        self._whole({"id": self.path.rsplit("/", 1)[-1], "object": "model"})

    def do_POST(self) -> None:
        """One reply."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        voice = self.server.voices[body["model"]]
        voice.seen.append(body)
        if voice.status != 200:
            self._whole({"error": {"message": "no"}}, voice.status)
        elif body.get("stream"):
            with suppress(OSError):
                self._stream(voice, int(body.get("max_tokens", 64)))
        else:
            message = {"role": "assistant", "content": voice.text}
            self._whole({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def _stream(self, voice: Voice, most: int) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        time.sleep(voice.first)
        for at, word in enumerate(voice.words[:most]):
            if at >= voice.before:
                voice.gate.wait(30)
            if voice.breaks and at == len(voice.words) // 2:
                return
            self._event({"content": word if at == 0 else f" {word}"})
            time.sleep(voice.pause)
        self._event({}, "stop" if len(voice.words) <= most else "length")
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, delta: dict[str, str], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.flush()

    def _whole(self, document: object, status: int = 200) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def folder(place: Any, name: str, url: str, voice: str, task: str = "chat-preference", **more: Any) -> None:
    """Write a model's folder whose voice this is."""
    document = {
        "name": name,
        "task": task,
        "kind": "openai",
        "inputs": ["conversation"],
        "answer": "reply",
        "returns": "text",
        "licence": "MIT",
        "seconds": 60,
        "options": {"url": url, "model": voice, "prompt": "{conversation}", "max_tokens": 200, **more},
    }
    (place / name).mkdir(parents=True)
    (place / name / "model.yaml").write_text(json.dumps(document))
