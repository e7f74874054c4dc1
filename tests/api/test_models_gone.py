"""Models that are slow, broken or gone, seen through the whole application: told, and nothing written.

One that is slow answers when a test lets it, ten seconds later at the earliest: who is told of it was not kept waiting.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.running import free_port
from dynabench.models.client import PAUSE, TRIPS, Host
from tests.api.test_hostile_input import form_of, ledger
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written

rules, furnish, admin, owner, ada = world.rules, world.furnish, world.admin, world.owner, world.ada
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
SECONDS = 0.5


@pytest.fixture
def host(rules):
    return Host(rules.url, SECONDS)


@pytest.fixture
def eve(owner, browser):
    mine = browser()
    mine.join("eve")
    return mine


def refused(answer):
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["retry_after"] >= 1
    assert "nli-a" in answer.json()["detail"]


def slow(rules, *_):
    rules.rules["nli-a"].gate.clear()


def failing(rules, *_):
    rules.rules["nli-a"].status = 500


def unknown(rules, *_):
    rules.rules["nli-a"].status = 404


def another_version(rules, *_):
    rules.rules["nli-a"].version = "ffffffffffffffff"


def another_label(rules, *_):
    rules.rules["nli-a"].answer = lambda _: "maybe"


def gone(rules, app, client):
    client.portal.call(app.state.host.close)
    app.state.host = Host(f"http://127.0.0.1:{free_port()}", SECONDS)


WAYS = [slow, failing, unknown, another_version, gone]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_target_that_does_not_answer_is_told_and_nothing_is_written(ada, eve, rules, database, way, app, client):
    body = written(draw(ada), "They sleep.")
    fields = form_of(eve.get("/tasks/nli/create").text) | {"input.hypothesis": "They sleep a <b>lot</b>."}
    before = ledger(database)
    way(rules, app, client)
    refused(send(ada, body, key="k"))
    fragment = eve.submit("/tasks/nli/create", htmx=True, **fields)
    assert fragment.status_code == 200, "a model is silent, the page is well"
    assert "<html" not in fragment.text
    assert "nli-a" in fragment.text
    assert "hx-retarget" not in fragment.headers, "the form stays as it is, with what was written"
    page = eve.submit("/tasks/nli/create", **fields)
    assert page.status_code == 200
    assert "They sleep a &lt;b&gt;lot&lt;/b&gt;." in page.text
    assert form_of(page.text)["key"] == fields["key"]
    assert "nli-a" in page.text
    assert ledger(database) == before
    assert eve.get("/").status_code == eve.get("/tasks/nli/create").status_code == 200


def test_an_answer_that_is_no_option_is_told_and_not_written(ada, rules, database):
    body = written(draw(ada), "They sleep.")
    before = ledger(database)
    another_label(rules)
    answer = send(ada, body)
    assert answer.status_code == 503
    assert "Tell the owner" in answer.json()["detail"]
    assert ledger(database) == before


GARBAGE = {
    "no json": b"<html>It works!</html>",
    "no object": b"[]",
    "empty": b"",
    "no outputs": b"{}",
    "null outputs": b'{"outputs": null}',
    "empty data": b'{"model_version": "1", "outputs": [{"name": "label", "data": []}]}',
    "numbers": b'{"outputs": [{"name": "label", "data": [7]}, {"name": "probabilities", "data": "x"}]}',
    "broken bytes": b'{"error": "\xff"}',
    "nan": b'{"outputs": NaN}',
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_from_a_host_is_no_answer(ada, rules, database, name, app):
    class Garbage(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(GARBAGE[name])))
            self.end_headers()
            self.wfile.write(GARBAGE[name])

        def log_message(self, *_):
            pass

    body = written(draw(ada), "They sleep.")
    before = ledger(database)
    with ThreadingHTTPServer(("127.0.0.1", 0), Garbage) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        stored, app.state.host = app.state.host, Host(f"http://127.0.0.1:{server.server_port}", SECONDS)
        try:
            answer = send(ada, body)
            attributed = ada.post(
                "/api/v1/attributions",
                json={"task": "nli", "context_id": body["context_id"], "input": body["input"], "model": "nli-a"},
            )
        finally:
            ada.client.portal.call(app.state.host.close)
            app.state.host = stored
            server.shutdown()
            thread.join()
    refused(answer)
    assert attributed.status_code == 503
    assert ledger(database) == before


@pytest.mark.slow
def test_other_targets_answer_while_one_hangs_and_it_recovers(ada, rules, database):
    drawn = draw(ada)
    statement = draw(ada, "sentiment")
    slow(rules)
    for turn in range(TRIPS):
        refused(send(ada, written(drawn, f"They sleep {turn}.")))
    requests = len(rules.rules["nli-a"].seen)
    at_once = send(ada, written(drawn, "They sleep again."))
    refused(at_once)
    assert len(rules.rules["nli-a"].seen) == requests
    assert "times in a row" in at_once.json()["detail"]
    body = {"context_id": statement["id"], "input": {"statement": "A good one."}, "answer": {"label": "negative"}}
    assert send(ada, body, task="sentiment").status_code == 201
    rules.rules["nli-a"].gate.set()
    time.sleep(PAUSE + 0.1)
    assert send(ada, written(drawn, "They sleep at last.")).status_code == 201
    assert send(ada, written(drawn, "They sleep well now.")).status_code == 201


def test_a_failed_try_can_be_sent_again_with_its_key(ada, rules):
    body = written(draw(ada), "They sleep.")
    failing(rules)
    refused(send(ada, body, key="again"))
    rules.rules["nli-a"].status = 200
    first = send(ada, body, key="again")
    assert first.status_code == 201
    assert json.dumps(send(ada, body, key="again").json()) == json.dumps(first.json())
