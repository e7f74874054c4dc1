"""Endpoints that answer nonsense, too much, too slowly or from somewhere else are refused or contained."""

import gzip
import json
import threading
import time
import tracemalloc

import pytest

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.outgoing import Interrupted, RefusedAddress, Unreached
from dynabench.models.backends.served import endpoint as breakers
from dynabench.models.backends.served import endpoint as endpoints
from dynabench.models.backends.served.endpoint import TRIPS
from dynabench.models.validity import Broken

from .conftest import LABELS, READER, http

INPUTS = {"statement": "A fine day."}


def says(document):
    return lambda connection, calls: connection.sendall(http(json.dumps(document).encode()))


def tensors(**named):
    """An inference response; a value is (datatype, shape, data)."""
    return {
        "model_name": "m",
        "outputs": [{"name": n, "datatype": d, "shape": s, "data": v} for n, (d, s, v) in named.items()],
    }


def ask(opened, server, kind="oip", **more):
    return opened(kind, url=server.url, **{"model": "m", "retries": 0, **more}).predict([INPUTS])


def test_a_web_page_is_told_from_an_answer(hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(b"<!doctype html><p>Log in</p>", kind="text/html")))
    with pytest.raises(RefusedAddress, match="web page: check `url`"):
        ask(opened, server)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "without a list of `outputs`"),
        ({"outputs": "positive"}, "without a list of `outputs`"),
        (tensors(), "without a tensor 'label'; there are: none"),
        (tensors(label=("BYTES", [2], ["positive", "negative"])), "2 values of shape .2. for 1 inputs"),
        (tensors(label=("BYTES", [1, 3], ["positive"])), "1 values of shape .1, 3. for 1 inputs"),
        (tensors(label=("BYTES", ["1"], ["positive"])), "a tensor has a shape"),
        (tensors(label=("BYTES", [1], ["fantastic"])), "'fantastic', which is none of negative, neutral, positive"),
        (tensors(label=("BYTES", [1], [None])), "None, which is none of"),
        (tensors(label=("BYTES", [1], ["positive"]), probabilities=("FP32", [1, 3], [0.5, 0.4, 0.3])), "sum to 1.2"),
        (tensors(label=("BYTES", [1], ["positive"]), probabilities=("FP32", [1, 3], [-1, 1, 1])), "between 0 and 1"),
        (tensors(label=("BYTES", [1], ["positive"]), probabilities=("FP32", [1, 3], [0, 0, "1"])), "number for"),
        (tensors(label=("BYTES", [1], ["positive"]), probabilities=("FP32", [1, 4], [0, 0, 1, 0])), "answered 3"),
    ],
)
def test_wrong_shapes_labels_and_probabilities_are_told(document, message, hostile, opened):
    with pytest.raises(Broken, match=message):
        ask(opened, hostile(says(document)))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" + "0" * 400])
def test_numbers_that_are_none_are_no_probabilities(number, hostile, opened):
    body = '{"positive": %s, "negative": 0, "neutral": 0}' % number  # noqa: UP031 - braces
    server = hostile(lambda c, n: c.sendall(http(body.encode())))
    with pytest.raises((Broken, RefusedAddress)):
        ask(opened, server, "torchserve")


def test_a_deep_document_is_refused(hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(b"[" * 200_000)))
    with pytest.raises(RefusedAddress, match="did not answer with JSON"):
        ask(opened, server)


def test_a_span_that_the_passage_does_not_hold_is_no_answer(hostile, opened):
    server = hostile(says({"answer": "Berlin", "start": 0, "end": 5, "score": 0.9}))
    model = opened("huggingface", READER, url=server.url, pipeline="question-answering")
    with pytest.raises(Broken, match="answered 'Berlin' where 'passage' says 'Paris'"):
        model.predict([{"question": "Where?", "passage": "Paris it is."}])


def test_an_answer_of_two_gigabytes_is_not_read(hostile, opened):
    server = hostile(lambda c, n: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n{"))
    with pytest.raises(Interrupted, match="2048 MiB; the limit is 8 MiB"):
        ask(opened, server)


def test_an_endless_answer_ends_after_some_megabytes(hostile, opened):
    sent = []

    def pour(connection, calls):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        for _ in range(32 * 2**10):
            connection.sendall(piece)
            sent.append(len(piece))

    server = hostile(pour)
    tracemalloc.start()
    with pytest.raises(Interrupted, match="more than 8 MiB"):
        ask(opened, server)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20
    assert sum(sent) < 64 * 2**20


def test_a_packed_bomb_is_not_unpacked(hostile, opened):
    bomb = gzip.compress(b" " * 50_000_000)
    server = hostile(lambda c, n: c.sendall(http(bomb, Content_Encoding="gzip")))
    with pytest.raises(RefusedAddress, match="compressed its answer"):
        ask(opened, server)
    assert b"accept-encoding: identity" in server.requests[0].lower()


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"])
def test_a_slow_drip_ends_in_time(head, hostile, opened):
    def drip(connection, calls):
        connection.sendall(head)
        for _ in range(100):
            connection.sendall(b"H")
            time.sleep(0.05)

    server = hostile(drip)
    model = opened("oip", more={"seconds": 0.6}, url=server.url, model="m", retries=0)
    started = time.monotonic()
    with pytest.raises(Unavailable):
        model.predict([INPUTS])
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("reply", [b"SSH-2.0-OpenSSH_9.6\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 300_000])
def test_what_is_no_http_is_told(reply, hostile, opened):
    server = hostile(lambda c, n: c.sendall(reply))
    with pytest.raises(RefusedAddress, match="does not speak HTTP"):
        ask(opened, server, retries=2)
    assert len(server.requests) == 1


def test_several_inputs_are_asked_at_once(hostile, opened):
    together = threading.Barrier(4, timeout=10)

    def answer(connection, calls):
        together.wait()  # nobody is answered before four ask
        connection.sendall(http(b'"positive"'))

    model = opened("torchserve", url=hostile(answer).url, model="m", at_once=4)
    assert len(model.predict([{"statement": str(number)} for number in range(8)])) == 8


@pytest.mark.parametrize("address", ["http://169.254.169.254/latest", "http://127.0.0.1:1/", "https://example.org/"])
def test_a_redirect_leads_nowhere(address, hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(b"", "307 Temporary Redirect", Location=address)))
    with pytest.raises(RefusedAddress, match=r"redirect .307.; redirects are not followed"):
        ask(opened, server)
    assert len(server.requests) == 1


def test_an_answer_that_breaks_off_is_not_asked_for_again(hostile, opened):
    server = hostile(lambda c, n: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"))
    with pytest.raises(Interrupted, match="in the middle of the answer"):
        ask(opened, server, retries=3)
    assert len(server.requests) == 1


def test_a_connection_closed_before_any_answer_is_tried_again(hostile, opened):
    good = http(json.dumps({"label": "positive"}).encode())
    server = hostile(lambda c, n: c.sendall(good) if n == 2 else None)
    assert ask(opened, server, "torchserve", retries=2)[0].answer == {"label": "positive"}


def test_nobody_listening_is_said(opened):
    with pytest.raises(Unreached, match="cannot be reached"):
        opened("oip", url="http://127.0.0.1:1", model="m", retries=1).predict([INPUTS])


@pytest.mark.release
def test_too_many_requests_are_waited_out_as_asked(hostile, opened):
    busy = http(b'{"error": "slow down"}', "429 Too Many Requests", Retry_After="1")
    good = http(b'"positive"')
    server = hostile(lambda c, n: c.sendall(busy if n == 0 else good))
    started = time.monotonic()
    assert ask(opened, server, "torchserve", retries=2)[0].answer["label"] == "positive"
    assert time.monotonic() - started >= 1


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "3600"}, {"Retry_After": "Thu, 01 Jan 2099 00:00:00 GMT"}])
def test_a_storm_of_refusals_ends_at_once_where_waiting_is_in_vain(headers, hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(b'{"error": "slow down"}', "429 Too Many Requests", **headers)))
    with pytest.raises(endpoints.Complaint, match=r"too many calls.*slow down") as raised:
        ask(opened, server, retries=5)
    assert len(server.requests) == 1
    assert raised.value.extra["retry_after"] >= (3600 if headers else 1)


@pytest.mark.parametrize(
    ("status", "calls", "message"),
    [
        ("500 Internal Server Error", 1, "gave no answer"),
        ("502 Bad Gateway", 3, "gave no answer"),
        ("503 Service Unavailable", 3, "is not ready"),
        ("404 Not Found", 1, "check `url` and the model's name"),
        ("401 Unauthorized", 1, "wants a token"),
    ],
)
def test_only_what_computed_nothing_is_tried_again(status, calls, message, hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(b"{}", status)))
    with pytest.raises(endpoints.Complaint, match=message):
        ask(opened, server, retries=2)
    assert len(server.requests) == calls


def test_an_endpoint_that_keeps_failing_is_left_alone(hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(b"{}", "500 Internal Server Error")))
    model = opened("oip", url=server.url, model="m", retries=0)
    for _ in range(TRIPS):
        with pytest.raises(endpoints.Complaint):
            model.predict([INPUTS])
    with pytest.raises(Unavailable, match="left alone"):
        model.predict([INPUTS])
    assert len(server.requests) == TRIPS


def test_an_endpoint_that_was_left_alone_is_asked_again_and_answers(hostile, opened, monkeypatch):
    monkeypatch.setattr(breakers, "PAUSE", 0.3)
    good = http(json.dumps(tensors(label=("BYTES", [1], ["positive"]))).encode())
    bad = http(b"{}", "500 Internal Server Error")
    server = hostile(lambda c, n: c.sendall(bad if n < TRIPS + 1 else good))
    model = opened("oip", url=server.url, model="m", retries=0)
    for _ in range(TRIPS):
        with pytest.raises(endpoints.Complaint):
            model.predict([INPUTS])
    left_alone = 0
    while True:
        try:
            [output] = model.predict([INPUTS])
            break
        except Unavailable as problem:
            left_alone += "left alone" in problem.detail
            time.sleep(0.05)
    assert output.answer == {"label": "positive"}
    assert left_alone
    assert len(server.requests) == TRIPS + 2, "one call tried it after each pause"
    assert model.predict([{"statement": "Another."}])[0].answer == {"label": "positive"}


def test_one_bad_row_fails_alone_and_the_others_are_not_asked_again(hostile, opened):
    def answer(connection, calls):
        bad = b"awful" in server.requests[calls]
        connection.sendall(http(b'"nonsense"' if bad else b'"positive"'))

    server = hostile(answer)
    model = opened("torchserve", url=server.url, model="m", at_once=1)
    batch = [{"statement": f"{word} day"} for word in ("fine", "awful", "good")]
    with pytest.raises(Broken, match="nonsense"):
        model.predict(batch)
    assert model.predict([batch[0]])[0].extras["cached"]
    assert len(server.requests) <= 3


@pytest.mark.parametrize("url", ["http://10.0.0.1/v2", "https://169.254.169.254/", "https://[::ffff:127.0.0.2]/"])
def test_private_addresses_are_refused_when_the_folder_is_opened(url, opened):
    with pytest.raises(Invalid, match="DYNABENCH_PRIVATE_ENDPOINTS"):
        opened("oip", url=url, model="m")


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "https://", "https://me:secret@example.org", "https://a.org/?key=1", "https://a b.org"]
)
def test_addresses_that_are_none_are_refused(url, opened):
    with pytest.raises(Invalid) as raised:
        opened("oip", url=url, model="m")
    assert "secret" not in str(raised.value)


def test_labels_of_the_endpoint_must_be_told_to_known_ones(opened):
    with pytest.raises(Invalid, match="fantastic: not among"):
        opened("oip", url="https://example.org", model="m", labels={"A": "fantastic", "B": LABELS[0]})
