"""Language models behind chat APIs: a small one served for real, by our own server and by transformers' public one."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import openai
import pytest

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models.backends.served import openai as backend
from dynabench.models.validity import Broken

from .chat_server import NAME
from .conftest import CLASSIFIER, LABELS, WRITER, http

INPUTS = {"statement": "A wonderful, funny film that I loved from start to end."}
REPLY = {"choices": [{"message": {"content": "positive"}, "finish_reason": "stop"}]}


@pytest.fixture
def ask(chat, opened):
    def ask(base=None, **options):
        return opened("openai", **({"base": base} if base else {}), url=chat.url, model=NAME, **options)

    return ask


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_a_label_comes_by_schema_with_probabilities_tokens_and_cost(ask):
    model = ask(probabilities=True, price_in=1.0, price_out=2.0)
    output = model.predict([INPUTS])[0]
    label = output.answer["label"]
    assert json.loads(output.extras["generated"]) == {"label": label}
    assert sum(output.probabilities.values()) == pytest.approx(1)
    assert output.probabilities[label] == max(output.probabilities.values())
    tokens = output.extras["tokens"]
    assert tokens["in"] > 30
    assert output.extras["cost"] == pytest.approx((tokens["in"] + 2 * tokens["out"]) / 1e6)
    assert model._spending.spent("theirs") == pytest.approx(output.extras["cost"])
    assert output.extras["remote_version"] == "one"


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_several_inputs_are_answered_in_order(ask):
    batch = [{"statement": f"{word}."} for word in ("Great", "A table")]
    model = ask(CLASSIFIER | {"seconds": 60}, cache=False)  # they are written side by side on few cores
    assert [o.answer for o in model.predict(batch)] == [model.predict([row])[0].answer for row in batch]


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_a_server_without_schemas_is_asked_plainly_and_remembered(ask, chat, monkeypatch):
    monkeypatch.setattr(chat, "knows", frozenset())
    model = ask(prompt="{statement}", max_tokens=4, retries=0)
    before = chat.calls
    for _ in range(2):
        with pytest.raises(Broken, match=r"cut off|none of the options"):
            model.predict([INPUTS])
    assert chat.calls - before == 3
    with pytest.raises(Unavailable, match="response_format is not supported"):
        ask(answers="json").predict([INPUTS])


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_a_written_answer_is_what_the_model_wrote(ask):
    output = ask(WRITER, prompt="What is the capital of France?", answers="plain", max_tokens=12).predict([INPUTS])[0]
    assert "Paris" in output.answer["reply"]


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_pieces_arrive_while_the_model_writes(ask):
    model = ask(WRITER, max_tokens=16, price_out=1.0)
    pieces = list(model.stream([{"role": "user", "content": "Count from one to five."}]))
    assert len(pieces) > 4
    assert 0 < model._spending.spent("theirs") <= 16 / 1e6


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_readiness_says_what_the_model_is_called(ask, chat, opened):
    assert ask().ready().version == NAME
    assert not opened("openai", url=f"{chat.url}/nowhere", model=NAME, retries=0).ready().version
    gone = opened("openai", url="http://127.0.0.1:1/v1", model=NAME, retries=0).ready()
    assert not gone.ready
    assert "cannot be reached" in gone.reason


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_the_public_client_understands_the_server(chat):
    with openai.OpenAI(base_url=chat.url, api_key="none") as client:
        messages = [{"role": "user", "content": "What is the capital of France?"}]
        whole = client.chat.completions.create(
            model=NAME, messages=messages, max_tokens=8, logprobs=True, top_logprobs=3, temperature=0
        )
        pieces = client.chat.completions.create(model=NAME, messages=messages, max_tokens=8, stream=True, temperature=0)
        text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
        assert text == whole.choices[0].message.content
        assert len(whole.choices[0].logprobs.content[0].top_logprobs) == 3


@pytest.mark.release
@pytest.mark.xdist_group("chat")
def test_the_public_server_answers_and_streams(language_weights, opened, tmp_path):
    with _transformers_serve(language_weights, tmp_path) as url:
        model = opened(
            "openai", WRITER, url=url, model=str(language_weights), prompt="Say hello.", answers="plain", max_tokens=6
        )
        output = model.predict([INPUTS])[0]
        assert "ello" in output.answer["reply"]
        assert output.extras["tokens"]["out"] == 6
        assert "ello" in "".join(model.stream([{"role": "user", "content": "Say hello."}]))
        assert model.ready().ready
        strict = opened("openai", url=url, model=str(language_weights), max_tokens=6)
        with pytest.raises(Broken, match=r"cut off|say `answers: plain`"):
            strict.predict([INPUTS])


@pytest.mark.parametrize(
    ("content", "fine"),
    [
        ("positive", True),
        (" Positive.\n", True),
        ('"positive"', True),
        ("positive, I think", False),
        ("not positive", False),
        ("positive or negative", False),
        ("", False),
        (None, False),
        (["positive"], False),
        ('{"label": "positive"}', False),
    ],
)
def test_plain_answers_are_read_strictly(content, fine, hostile, opened):
    reply = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    server = hostile(lambda c, n: c.sendall(http(json.dumps(reply).encode())))
    model = opened("openai", url=server.url, model="m", answers="plain")
    if fine:
        assert model.predict([INPUTS])[0].answer == {"label": "positive"}
    else:
        with pytest.raises(Broken):
            model.predict([INPUTS])


@pytest.mark.parametrize(
    "content",
    ["positive", '{"label": "fantastic"}', '{"label": "positive", "sure": true}', '["positive"]', "[" * 100_000],
)
def test_structured_answers_are_read_strictly(content, hostile, opened):
    answer = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    server = hostile(lambda c, n: c.sendall(http(json.dumps(answer).encode())))
    with pytest.raises(Broken):
        opened("openai", url=server.url, model="m", answers="json").predict([INPUTS])


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ({"positive": -0.1, "negative": -3.0, " neutral": -4.0}, "positive"),
        ({"pos": -0.1, "neg": -1.0, "neut": -2.0, "ne": -9.0}, "positive"),
        ({"pos": -1.0, "ne": -0.5}, None),
        ({"something": -0.1}, None),
        ({"positive": 1.0}, None),
    ],
)
def test_probabilities_are_told_where_tokens_tell_options_apart(tokens, expected, hostile, opened):
    others = [{"token": token, "logprob": value} for token, value in tokens.items()]
    first = {"token": "positive", "logprob": -0.1, "top_logprobs": others}
    answer = {"choices": [{"message": {"content": "positive"}, "logprobs": {"content": [first]}}]}
    server = hostile(lambda c, n: c.sendall(http(json.dumps(answer).encode())))
    known_values = (
        opened("openai", url=server.url, model="m", answers="plain", probabilities=True)
        .predict([INPUTS])[0]
        .probabilities
    )
    if expected is None:
        assert known_values is None
    else:
        assert sorted(known_values) == LABELS
        assert max(known_values, key=known_values.get) == expected


def test_schemas_are_tried_again_after_a_server_has_refused_them_for_a_while(hostile, opened, monkeypatch):
    monkeypatch.setattr(backend, "SCHEMAS_AGAIN", 0.2, raising=False)
    structured = {"choices": [{"message": {"content": '{"label": "negative"}'}, "finish_reason": "stop"}]}

    def answer(connection, calls):
        if b"response_format" not in server.requests[calls]:
            connection.sendall(http(json.dumps(REPLY).encode()))
        elif calls < 1:
            connection.sendall(http(b'{"error": {"message": "no schemas"}}', "400 Bad Request"))
        else:
            connection.sendall(http(json.dumps(structured).encode()))

    server = hostile(answer)
    model = opened("openai", url=server.url, model="m", cache=False)
    assert model.predict([INPUTS])[0].answer == {"label": "positive"}
    assert len(server.requests) == 2
    until = time.monotonic() + 20
    while model.predict([INPUTS])[0].answer != {"label": "negative"}:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_a_call_might_cost_is_set_aside_before_it_is_made(hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(json.dumps(REPLY).encode())))
    model = opened(
        "openai", url=server.url, model="m", answers="plain", price_out=1e6, max_tokens=8, spend_per_day=10, at_once=1
    )
    assert model.predict([INPUTS])[0].answer == {"label": "positive"}
    with pytest.raises(Unavailable, match="limit of 10 a day"):  # no usage was told: all eight tokens stay counted
        model.predict([{"statement": "Another."}])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body", [b"data: {\n\n", b'data: {"error": {"message": "no"}}\n\n', b"data: " + b"x" * 3_000_000]
)
def test_a_stream_of_nonsense_breaks_off(body, hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(body, kind="text/event-stream")))
    with pytest.raises(Unavailable):
        list(opened("openai", url=server.url, model="m").stream([{"role": "user", "content": "Hello."}]))


def test_a_picture_goes_beside_the_prompt(hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(json.dumps(REPLY).encode())))
    more = {"inputs": ["image", "statement"], "images": ["image"]}
    picture = "data:image/png;base64,iVBORw0KGgo="
    opened("openai", more=more, url=server.url, model="m", answers="plain").predict([{"image": picture, **INPUTS}])
    content = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]
    assert content[1]["image_url"]["url"] == picture


def test_spans_are_not_for_chat(opened):
    with pytest.raises(Invalid, match="a label or a text"):
        opened("openai", more={"returns": "spans"}, url="https://example.org/v1", model="m")


class _transformers_serve:
    """The public server of transformers over a folder, for the length of a block."""

    def __init__(self, folder: Path, work: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            self.port = bound.getsockname()[1]
        (work / "hub").mkdir()
        quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work), "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
        program = Path(sys.executable).parent / "transformers"
        command = [program, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--dtype", "bfloat16", folder]
        self.log = work / "serve.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, env={**os.environ, **quiet}, stdout=log, stderr=log)

    def __enter__(self) -> str:
        until = time.monotonic() + 150
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if httpx2.get(f"http://127.0.0.1:{self.port}/health").status_code == 200:
                    return f"http://127.0.0.1:{self.port}/v1"
            except httpx2.TransportError:
                time.sleep(0.2)
        self.__exit__()
        raise AssertionError(self.log.read_text()[-2000:])

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
