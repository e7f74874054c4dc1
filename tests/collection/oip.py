"""A small model host of the tests' own: the Open Inference Protocol over HTTP, with targets that can be slow or broken.

Its models answer by plain rules, so that a test can say beforehand what is answered.
"""

import hashlib
import json
import re
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from dynabench.models.host import wire
from dynabench.models.protocol import Attribution, ModelCard, ModelOutput, WordWeight

LABELS = {"nli": ["entailment", "neutral", "contradiction"], "sentiment": ["positive", "neutral", "negative"]}
FIELDS = {"nli": ["premise", "hypothesis"], "sentiment": ["statement"]}


class Rule:
    """A target: `answer(inputs)` names a label; `gate` holds answers back until it is set; `status` breaks it.

    `state`, `reason` and `readme` are what the host says of it; `said` is what else its card says.
    """

    def __init__(self, name: str, task: str, answer: Callable[[Mapping[str, str]], str]) -> None:
        self.name, self.task, self.answer = name, task, answer
        self.version = hashlib.sha256(name.encode()).hexdigest()[:16]
        self.gate = threading.Event()
        self.gate.set()
        self.was_called = threading.Event()
        self.status = 200
        self.seen: list[dict[str, str]] = []
        self.explained = 0
        self.state, self.reason, self.readme = "READY", "", ""
        self.card_changes: dict[str, Any] = {}

    def infer(self, inputs: dict[str, str]) -> ModelOutput:
        self.seen.append(inputs)
        self.was_called.set()
        self.gate.wait(10)
        label = self.answer(inputs)
        return ModelOutput({"label": label}, {item: 0.8 if item == label else 0.1 for item in LABELS[self.task]})

    def card(self) -> ModelCard:
        card = ModelCard(
            name=self.name,
            version=self.version,
            task=self.task,
            kind="rule",
            inputs=tuple(FIELDS[self.task]),
            answer="label",
            labels=tuple(LABELS[self.task]),
            methods=("length", "halves"),
        )
        return replace(card, **self.card_changes)


def words(text: str, share: float = 1.0) -> list[WordWeight]:
    """Every word with a tenth of its length, or a `share` of that, as its weight."""
    matches = re.finditer(r"\S+", text)
    return [WordWeight(item[0], item.start(), item.end(), share * len(item[0]) / 10) for item in matches]


class RuleHost(ThreadingHTTPServer):
    """Serves rules on a free port of this machine; while `away` it hangs up on everybody."""

    daemon_threads = True
    away = False

    def __init__(self, *rules: Rule) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.rules = {rule.name: rule for rule in rules}
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def handle_error(self, *whom: Any) -> None:
        """Say nothing of somebody who leaves before the answer, as who waits for a slow model does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*whom)

    def stop(self) -> None:
        for rule in self.rules.values():
            rule.gate.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Health, index, metadata, inference and attribution."""

    protocol_version = "HTTP/1.1"
    server: RuleHost

    def handle_one_request(self) -> None:
        super().handle_one_request()
        self.close_connection = self.close_connection or self.server.away

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        rule = self.rule()
        self.send({"readme": rule.readme} if rule and self.path.endswith("/readme") else {"ready": True})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        rule = self.rule()
        if self.path == "/v2/repository/index":
            self.send([self.listed(item) for item in self.server.rules.values()])
        elif rule is None or rule.status != 200:
            self.send({"error": "broken"}, rule.status if rule else 404)
        elif self.path.endswith("/infer"):
            outputs = [rule.infer(row) for row in wire.rows(body)]
            self.send(wire.response(rule.card(), outputs))
        else:
            self.send(self.attributed(rule, body))

    def listed(self, rule: Rule) -> dict[str, Any]:
        return {
            "name": rule.name,
            "version": rule.version,
            "state": rule.state,
            "reason": rule.reason,
            "card": wire.card_json(rule.card()),
        }

    def attributed(self, rule: Rule, body: dict[str, Any]) -> dict[str, Any]:
        rule.explained += 1
        label = body["label"] or rule.answer(body["inputs"])
        images = rule.card().images
        share = 0.5 if body["method"] == "halves" else 1.0
        fields = {name: words(text, share) for name, text in body["inputs"].items() if name not in images}
        maps = {name: [[0.5, -0.25], [0.0, 1.0]] for name in images}
        return wire.attribution_json(
            Attribution(body["method"] or "length", label, fields, None, maps=maps), rule.version
        )

    def rule(self) -> Rule | None:
        parts = self.path.split("/")
        return self.server.rules.get(parts[3]) if len(parts) > 3 else None

    def send(self, body: object, status: int = 200) -> None:
        if self.server.away:
            return
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
