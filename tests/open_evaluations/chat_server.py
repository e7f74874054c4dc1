"""A chat API on a real socket whose models are functions of the fields in the prompt, for tests of endpoints."""

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Fields = dict[str, str]
Reply = Callable[[Fields], str]
FIELD = re.compile(r"^(\w+): (.*(?:\n[A-Z]\. .*)*)$", re.MULTILINE)


class ChatServer(ThreadingHTTPServer):
    """Serves `models` by name below `/v1`; `questions` has the fields of every question, by model.

    `troubles` say by model what an answer is instead: `stall` (until the server ends), `garbage` (a web page), `cut`
    (the first half) or `later` (an error at every question after the first twenty).
    """

    daemon_threads = True

    def __init__(self, **models: Reply) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.models = models
        self.questions: dict[str, list[Fields]] = {name: [] for name in models}
        self.gate = threading.Event()
        self.gate.set()
        self.status = 200
        self.delay = 0.0
        self.troubles: dict[str, str] = {}
        self.ended = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def address(self, model: str) -> str:
        """Return the name of a model in the choices of an open evaluation."""
        return f"http://127.0.0.1:{self.server_port}/v1#{model}"

    def close(self) -> None:
        """Answer whoever waits, and end."""
        self.gate.set()
        self.ended.set()
        self.shutdown()
        self.server_close()


class ChatHandler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_GET(self) -> None:
        models = [{"id": name, "object": "model"} for name in self.server.models]
        self._send(200, {"object": "list", "data": models}) if self.path == "/v1/models" else self._send(404, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        name = body.get("model")
        if self.path != "/v1/chat/completions" or name not in self.server.models:
            self._send(404, {"error": {"message": "There is no such model."}})
        elif "response_format" in body:
            self._send(400, {"error": {"message": "response_format is not supported."}})
        else:
            self.server.gate.wait(60)
            time.sleep(self.server.delay)  # the work of a model, which a test may interrupt
            self._answer(name, body["messages"][-1]["content"])

    def _answer(self, name: str, prompt: str) -> None:
        fields = dict(FIELD.findall(prompt))
        self.server.questions[name].append(fields)
        text = self.server.models[name](fields)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._send(self.server.status, {"object": "chat.completion", "model": name, "choices": [choice]})

    def _send(self, status: int, document: Any) -> None:
        content = json.dumps(document).encode()
        trouble = self.server.troubles.get(document.get("model", ""), "")
        if trouble == "stall":
            self.server.ended.wait(60)
            self.close_connection = True
            return
        if trouble == "garbage":
            content = b"<html>Sign in</html>"
        elif trouble == "later" and len(self.server.questions[document["model"]]) > 20:
            status, content = 503, b"{}"
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if trouble == "cut":
            self.close_connection = True
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, format: str, *values: Any) -> None:
        """Keep the output of tests short."""
