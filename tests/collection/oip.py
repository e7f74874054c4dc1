"""A small model host of the tests' own: the Open Inference Protocol over HTTP, with targets that can be slow or broken.

Its models answer by plain rules, so that a test can say beforehand what is answered.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LABELS = {"nli": ["entailment", "neutral", "contradiction"], "sentiment": ["positive", "neutral", "negative"]}
FIELDS = {"nli": ["premise", "hypothesis"], "sentiment": ["statement"]}


class Rule:
    """A target: `answer(inputs)` names a label; `gate` holds answers back until it is set; `status` breaks it."""

    def __init__(self, name: str, task: str, answer: Callable[[Mapping[str, str]], str]) -> None:
        self.name, self.task, self.answer = name, task, answer
        self.version = hashlib.sha256(name.encode()).hexdigest()[:16]
        self.gate = threading.Event()
        self.gate.set()
        self.asked = threading.Event()
        self.status = 200
        self.seen: list[dict[str, str]] = []

    def infer(self, inputs: dict[str, str]) -> tuple[str, list[float]]:
        self.seen.append(inputs)
        self.asked.set()
        self.gate.wait(10)
        label = self.answer(inputs)
        return label, [0.8 if each == label else 0.1 for each in LABELS[self.task]]

    def card(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "task": self.task,
            "kind": "rule",
            "inputs": FIELDS[self.task],
            "answer": "label",
            "labels": LABELS[self.task],
            "methods": ["word"],
        }


def words(text: str, label: str) -> list[dict[str, Any]]:
    """Every word with its length as its weight."""
    found, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        found.append({"text": word, "start": start, "end": start + len(word), "weight": len(word) / 10})
        start += len(word)
    return found


class RuleHost(ThreadingHTTPServer):
    """Serves rules on a free port of this machine."""

    daemon_threads = True

    def __init__(self, *rules: Rule) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.rules = {rule.name: rule for rule in rules}
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        for rule in self.rules.values():
            rule.gate.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Health, index, metadata, inference and attribution."""

    protocol_version = "HTTP/1.1"
    server: RuleHost

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        if self.path.startswith("/v2/health"):
            self.send({})
        elif self.path.startswith("/v2/models/") and self.rule():
            rule = self.rule()
            assert rule
            self.send({**rule.card(), "platform": "rule", "versions": [rule.version], "card": rule.card()})
        else:
            self.send({"error": "no such address"}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        rule = self.rule()
        if self.path == "/v2/repository/index":
            self.send([{**rule.card(), "state": "READY", "card": rule.card()} for rule in self.server.rules.values()])
        elif rule is None or rule.status != 200:
            self.send({"error": "broken"}, rule.status if rule else 404)
        elif self.path.endswith("/infer"):
            inputs = {each["name"]: each["data"][0] for each in body["inputs"]}
            begun = time.perf_counter()
            self.send(self.inferred(rule, *rule.infer(inputs), (time.perf_counter() - begun) * 1000))
        else:
            self.send(self.attributed(rule, body))

    def inferred(self, rule: Rule, label: str, probabilities: list[float], ms: float) -> dict[str, Any]:
        return {
            "model_name": rule.name,
            "model_version": rule.version,
            "outputs": [
                {"name": "label", "datatype": "BYTES", "shape": [1], "data": [label]},
                {"name": "probabilities", "datatype": "FP64", "shape": [1, 3], "data": probabilities},
            ],
        }

    def attributed(self, rule: Rule, body: dict[str, Any]) -> dict[str, Any]:
        inputs = body["inputs"]
        fields = {name: words(text, body["label"]) for name, text in inputs.items()}
        return {"method": body["method"], "label": body["label"], "fields": fields, "completeness_error": None}

    def rule(self) -> Rule | None:
        parts = self.path.split("/")
        return self.server.rules.get(parts[3]) if len(parts) > 3 else None

    def send(self, body: object, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
