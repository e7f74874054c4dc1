"""Tokens, the cache, the limit on spending: what all served models have in common."""

import json
import logging
import multiprocessing
import sqlite3
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.settings import get_settings
from dynabench.models import validity
from dynabench.models.backends.served import answers
from dynabench.models.backends.served.endpoint import token
from dynabench.models.backends.served.openai import _choice
from dynabench.models.backends.served.stores import ANSWERS_FILE, Cache, Spending
from dynabench.models.protocol import ModelCard, ModelOutput
from dynabench.models.validity import Broken

from .conftest import LABELS, http

INPUTS = {"statement": "A fine day."}
GOOD = http(b'{"positive": 0.5, "negative": 0.25, "neutral": 0.25}')


def test_a_token_goes_to_the_host_that_the_operator_named(hostile, opened, monkeypatch):
    monkeypatch.setenv("DYNABENCH_TOKEN_OURS", "127.0.0.1 s3cret")
    server = hostile(lambda c, n: c.sendall(GOOD))
    opened("torchserve", url=server.url, model="m", token="OURS").predict([INPUTS])
    assert b"Authorization: Bearer s3cret\r\n" in server.requests[0]


@pytest.mark.parametrize(
    ("value", "message"),
    [(None, "operator sets DYNABENCH_TOKEN_OURS"), ("s3cret", "must read"), ("api.example.org s3cret", "another host")],
)
def test_a_token_that_is_not_for_this_host_is_never_sent(value, message, hostile, opened, monkeypatch):
    if value:
        monkeypatch.setenv("DYNABENCH_TOKEN_OURS", value)
    server = hostile(lambda c, n: c.sendall(GOOD))
    with pytest.raises(Invalid, match=message) as raised:
        opened("torchserve", url=server.url, model="m", token="OURS")
    assert "s3cret" not in str(raised.value)
    assert not server.requests


def test_only_variables_of_tokens_are_read(opened):
    with pytest.raises(Invalid, match="should match pattern"):
        opened("torchserve", url="https://example.org", model="m", token="../PATH")
    assert token("A", "h", {"DYNABENCH_TOKEN_A": "h t", "A": "h other"}) == "t"


@pytest.mark.parametrize("status", ["200 OK", "401 Unauthorized", "400 Bad Request"])
def test_an_endpoint_that_repeats_the_token_does_not_publish_it(status, hostile, opened, monkeypatch, caplog):
    monkeypatch.setenv("DYNABENCH_TOKEN_OURS", "127.0.0.1 s3cret")
    server = hostile(lambda c, n: c.sendall(http(b'{"error": "Bearer s3cret", "s3cret": 1}', status)))
    model = opened("torchserve", url=server.url, model="m", token="OURS", retries=0)
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable) as raised:
        model.predict([INPUTS])
    assert "s3cret" not in str(raised.value) + caplog.text


def test_an_answer_is_asked_for_once(hostile, opened):
    server = hostile(lambda c, n: c.sendall(GOOD))
    model = opened("torchserve", url=server.url, model="m")
    first, second = model.predict([INPUTS])[0], model.predict([INPUTS])[0]
    assert first.probabilities == second.probabilities
    assert len(server.requests) == 1
    assert second.extras["cached"]


def test_another_version_or_input_is_asked_for_again(hostile, opened):
    server = hostile(lambda c, n: c.sendall(GOOD))
    opened("torchserve", url=server.url, model="m").predict([INPUTS])
    opened("torchserve", url=server.url, model="m", more={"seed": 1}).predict([INPUTS])
    opened("torchserve", url=server.url, model="m").predict([{"statement": "Another."}])
    opened("torchserve", url=server.url, model="m", cache=False).predict([INPUTS])
    opened("torchserve", url=server.url, model="m", cache=False).predict([INPUTS])
    assert len(server.requests) == 5


def test_a_full_cache_forgets_what_was_used_least(tmp_path):
    cache = Cache(tmp_path / ANSWERS_FILE, most=400_000)
    first = {"text": "first"}
    for number in range(300):
        cache.put("v", {"text": str(number)}, ModelOutput({"reply": "x" * 4000}))
        if number == 0:
            cache.put("v", first, ModelOutput({"reply": "kept"}))
        assert cache.get("v", first) == ModelOutput({"reply": "kept"})
    assert cache.size() <= 450_000
    assert cache.get("v", {"text": "0"}) is None
    assert cache.get("v", {"text": "299"}) is not None
    cache.close()


def test_a_cache_file_that_is_no_database_is_made_anew(hostile, opened, home):
    (home / ANSWERS_FILE).write_bytes(b"no database at all" * 100)
    server = hostile(lambda c, n: c.sendall(GOOD))
    model = opened("torchserve", url=server.url, model="m")
    assert len({str(model.predict([INPUTS])[0].answer) for _ in range(5)}) == 1
    assert len(server.requests) <= 2
    assert model.predict([INPUTS])[0].extras["cached"]


@pytest.mark.parametrize("row", ["{", "[1]", "null", '[{"label": "neither"}, null, {}]', "[{}, {}, {}]", "[" * 5000])
def test_a_kept_answer_that_is_none_is_asked_for_again(hostile, opened, home, row):
    """A row that cannot be read, or that the checks of today refuse, must not be repeated for ever."""
    server = hostile(lambda c, n: c.sendall(GOOD))
    model = opened("torchserve", url=server.url, model="m")
    answer = model.predict([INPUTS])[0].answer
    with closing(sqlite3.connect(home / ANSWERS_FILE)) as file, file:
        file.execute("UPDATE responses SET output = ?", (row,))
    assert model.predict([INPUTS])[0].answer == answer
    assert len(server.requests) == 2
    assert model.predict([INPUTS])[0].extras["cached"]


def test_a_model_stops_at_its_limit_a_day(hostile, opened):
    server = hostile(lambda c, n: c.sendall(GOOD))
    model = opened("torchserve", url=server.url, model="m", price_per_call=0.4, spend_per_day=1.0)
    for number in range(2):
        model.predict([{"statement": str(number)}])
    with pytest.raises(
        Unavailable, match=r"theirs has reached its limit of 1 a day; it answers again on .* UTC"
    ) as answer:
        model.predict([INPUTS])
    assert 0 < answer.value.extra["retry_after"] <= 86_401
    assert model.predict([{"statement": "0"}])[0].extras["cached"]
    assert len(server.requests) == 2


def test_all_models_stop_at_the_operators_limit(hostile, opened, monkeypatch):
    monkeypatch.setenv("DYNABENCH_SPENDING_PER_DAY", "0.5")
    get_settings.cache_clear()
    server = hostile(lambda c, n: c.sendall(GOOD))
    opened("torchserve", url=server.url, model="m", price_per_call=0.3).predict([INPUTS])
    other = opened("torchserve", more={"name": "other"}, url=server.url, model="m", price_per_call=0.3)
    with pytest.raises(Unavailable, match="operator's limit"):
        other.predict([INPUTS])


def test_a_call_that_was_refused_costs_nothing_and_one_that_broke_off_is_counted(hostile, opened, home):
    answer = [http(b"{}", "400 Bad Request"), b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"]
    server = hostile(lambda c, n: c.sendall(answer[n]))
    model = opened("torchserve", url=server.url, model="m", price_per_call=1.0, retries=0)
    for spent in (0.0, 1.0):
        with pytest.raises(Unavailable):
            model.predict([INPUTS])
        assert model._spending.spent("theirs") == spent


def spend(path, limit, times, passed):
    account = Spending(path)
    for _ in range(times):
        try:
            with account.reserved("m", 0.1, limit) as bill:
                bill.cost = 0.1
            passed.append(1)
        except Unavailable:
            pass


@pytest.mark.release
def test_threads_never_spend_more_than_the_limit(tmp_path):
    passed = []
    threads = [threading.Thread(target=spend, args=(tmp_path / "s", 2.0, 10, passed)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 20
    assert Spending(tmp_path / "s").spent("m") == pytest.approx(2.0)


@pytest.mark.release
def test_processes_never_spend_more_than_the_limit(tmp_path):
    Spending(tmp_path / "s")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=spend, args=(tmp_path / "s", 1.0, 10, [])) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert Spending(tmp_path / "s").spent() == pytest.approx(1.0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(LABELS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["label", "score", "labels", "scores", "start", "end", "text", "probabilities", *LABELS]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.release
@given(JSON, st.sampled_from(["label", "spans", "tags", "text"]), st.sampled_from(["probabilities", "logits"]))
def test_whatever_is_answered_is_an_output_or_broken(raw, returns, scores):
    card = ModelCard("m", "1", "t", "k", ("q", "p"), "label", tuple(LABELS), returns=returns)
    try:
        output = answers.read_output(card, {"0": "negative"}, {"q": "?", "p": "Some text."}, raw, scores)
    except Broken:
        return
    assert "label" in output.answer


TENSOR = st.fixed_dictionaries(
    {"name": st.sampled_from(["label", "probabilities", "extras"])},
    optional={
        "datatype": st.sampled_from(["BYTES", "FP32", 1]),
        "shape": st.lists(st.integers(-2, 3), max_size=3) | JSON,
        "data": st.lists(JSON, max_size=4) | JSON,
        "parameters": st.just({"content_type": "application/json"}) | JSON,
    },
)


def test_whatever_tensors_are_answered_are_outputs_or_broken(opened):
    models = [opened("oip", url="https://example.org", model="m", holds=h) for h in ("answers", "logits", "json")]

    @given(st.fixed_dictionaries({}, optional={"outputs": st.lists(TENSOR, max_size=3) | JSON}) | JSON)
    def play(document):
        for model in models:
            try:
                outputs = model._outputs(model._tensors(document), [INPUTS])
                assert validity.check_outputs(model.card, [INPUTS], [model.record_version(outputs[0], "1")])
            except Broken:
                pass

    play()


def test_whatever_a_chat_answers_is_an_output_or_broken(opened):
    model = opened("openai", url="https://example.org/v1", model="m", probabilities=True)
    token = st.fixed_dictionaries({"token": st.text(max_size=4), "logprob": st.floats() | st.integers()})
    tokens = st.lists(
        token | st.builds(lambda a, b: {**a, "top_logprobs": b}, token, st.lists(token | JSON)), max_size=4
    )
    message = st.fixed_dictionaries({"content": st.sampled_from(LABELS) | JSON}) | JSON
    choice = st.fixed_dictionaries(
        {"message": message}, optional={"logprobs": st.builds(lambda t: {"content": t}, tokens)}
    )

    @given(st.fixed_dictionaries({"choices": st.lists(choice, max_size=2) | JSON}) | JSON)
    def play(document):
        try:
            output = model._read(_choice(document), document, {}, None, structured=False)
            assert validity.check_outputs(model.card, [INPUTS], [output])
        except Broken:
            pass

    play()


def test_a_limit_without_a_price_is_told(opened):
    with pytest.raises(Invalid, match="say what calls cost"):
        opened("openai", url="https://example.org/v1", model="m", spend_per_day=1.0)


@given(st.text(), st.text())
def test_what_is_written_into_a_prompt_is_not_read_as_a_place(first, second):
    card = ModelCard("m", "1", "t", "k", ("a", "b"), "label", ("yes", "no"))
    prompt = answers.fill_prompt("{a}|{b}|{labels}|{0!r}", card, {"a": first, "b": second})
    assert prompt == f"{first}|{second}|yes, no|{{0!r}}"


def test_a_place_without_an_input_is_told(opened):
    with pytest.raises(Invalid, match=r"nothing for \{premise\}; there are \{statement\}, \{labels\}"):
        opened("openai", url="https://example.org/v1", model="m", prompt="{premise}?")


def test_what_a_changed_version_calls_itself_is_noted(hostile, opened, caplog):
    def body(version):
        tensor = {"name": "label", "datatype": "BYTES", "shape": [1], "data": ["positive"]}
        return http(json.dumps({"model_version": version, "outputs": [tensor]}).encode())

    server = hostile(lambda c, n: c.sendall(body(str(n + 1))))
    model = opened("oip", url=server.url, model="m", cache=False)
    assert [model.predict([INPUTS])[0].extras["remote_version"] for _ in range(2)] == ["1", "2"]
    assert "now answers as version 2, before as 1" in caplog.text
    pinned = opened("oip", url=server.url, model="m", version="1")
    with pytest.raises(Unavailable, match="answered as version 3, not 1"):
        pinned.predict([INPUTS])
