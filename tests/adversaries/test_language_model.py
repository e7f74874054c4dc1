"""Language models as adversaries, against a server of the chat protocol on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dynabench.adversaries.language_model import InformedAdversary, parse_fields
from dynabench.adversaries.protocol import AttackContext, Budget, create_adversary
from dynabench.kit.settings import get_settings
from dynabench.models.protocol import ModelOutput

CONTEXT = AttackContext("c", {"premise": "A man eats."}, {}, {"label": "neutral"})


class Chat(ThreadingHTTPServer):
    """Answers each request with the next of some texts, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, *texts: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.texts, self.requests = list(texts), []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request["messages"][-1]["content"])
        text = self.server.texts[(len(self.server.requests) - 1) % len(self.server.texts)]
        reply = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        body = json.dumps(reply | {"usage": {"prompt_tokens": 1000, "completion_tokens": 100}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def chat(tmp_path, monkeypatch) -> Iterator:
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path))
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    servers, models = [], []

    def start(*texts: str, **options):
        servers.append(Chat(*texts))
        url = f"http://127.0.0.1:{servers[-1].server_port}/v1"
        more = {"fields": ["hypothesis"], "price_in": 1, "price_out": 10} | options
        models.append(create_adversary("language-model", url=url, model="small", **more))
        return models[-1], servers[-1].requests

    yield start
    for model in models:
        model.close()
    for server in servers:
        server.shutdown()
        server.server_close()
    get_settings.cache_clear()


class Negation:
    """Takes any `not` for a contradiction, and all else for neutral."""

    labels = ("entailment", "neutral", "contradiction")

    def ask(self, batch):
        return [
            ModelOutput({"label": "contradiction" if "not" in inputs["hypothesis"] else "neutral"}) for inputs in batch
        ]


def written(text):
    return json.dumps({"hypothesis": text})


def test_it_asks_for_examples_and_tells_what_they_took(chat):
    model, requests = chat(
        "I cannot do that.",
        f"Here: {written('He sits.')} Well?",
        f"```json\n{written('He does not sit.')}\n```",
        tries=3,
    )
    sits, not_sits = model.propose(CONTEXT, Negation(), Budget())
    assert (sits.inputs, sits.fooled) == ({"premise": "A man eats.", "hypothesis": "He sits."}, False)
    assert (not_sits.fooled, not_sits.facts["strategy"], not_sits.facts["try"]) == (True, "zero-shot", 3)
    assert (sits.cost, not_sits.cost) == (pytest.approx(0.004), pytest.approx(0.002))
    assert "A man eats." in requests[0]
    assert "label: neutral" in requests[0]


def test_it_is_told_what_the_target_answered(chat):
    model, requests = chat(written("He sits."), written("He does not sit."), strategy="iterate", tries=2)
    assert [item.fooled for item in model.propose(CONTEXT, Negation(), Budget())] == [False, True]
    assert "The model answered neutral" in requests[1]


def test_it_is_shown_what_fooled_before_and_what_the_task_is(chat):
    model, requests = chat(written("He sits."), strategy="few-shot", tries=1)
    assert isinstance(model, InformedAdversary)
    task = {"instructions": {"create": "Write a hypothesis."}, "input": [{"name": "hypothesis"}], "answer": []}
    model.inform(task, [AttackContext("s", {}, {"hypothesis": "Nobody is not here."}, {"label": "neutral"})])
    list(model.propose(CONTEXT, Negation(), Budget()))
    assert all(text in requests[0] for text in ("Write a hypothesis.", "Nobody is not here."))


def test_it_says_a_text_in_other_words_where_there_is_one(chat):
    model, requests = chat(written("The man is not standing; he sits."), strategy="paraphrase", tries=1)
    assert list(model.propose(CONTEXT, Negation(), Budget())) == []
    start = AttackContext("c", CONTEXT.values, {**CONTEXT.values, "hypothesis": "The man sits."}, CONTEXT.answer)
    (result,) = model.propose(start, Negation(), Budget())
    assert result.fooled
    assert "The man sits." in requests[0]


def test_a_budget_ends_it(chat):
    model, _ = chat(*(written(f"He sits {n}.") for n in range(9)), tries=9)
    assert len(list(model.propose(CONTEXT, Negation(), Budget(queries=2)))) == 2
    assert len(list(model.propose(CONTEXT, Negation(), Budget(cost=0.005)))) == 2


@pytest.mark.parametrize("text", ["", "He sits.", "[]", '{"hypothesis": 3}', '{"hypothesis": ""}', '{"other": "x"}',
                                  '{"hypothesis": "a", "label": "b"}', '{"hypothesis": "..."}',
                                  '{"hypothesis": "a"} {"hypothesis": "b"}'])  # fmt: skip
def test_what_is_no_example_is_passed_over(text):
    assert parse_fields(text, ["hypothesis"]) is None
