"""Hosts that answer nonsense and do not say what they serve, so that no card tells what to expect."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dynabench.kit.errors import Unavailable
from dynabench.models.client import Host


def reply_of(text):
    outputs = [{"name": "label", "datatype": "BYTES", "shape": [1], "data": [text]}]
    return json.dumps({"model_name": "m", "model_version": "1", "outputs": outputs}).encode()


DEEP = b"[" * 100_000


def documents(text):
    tensor = {"name": "label", "datatype": "BYTES", "shape": [1], "parameters": {"content_type": "application/json"}}
    return json.dumps({"model_version": "1", "outputs": [{**tensor, "data": [text]}]}).encode()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (DEEP, "gave no answer"),
        (documents(DEEP.decode()), "no prediction"),
        (reply_of("\0"), "cannot be stored"),
        (reply_of("\ud800"), "cannot be stored"),
    ],
    ids=["deep", "deep within", "nul", "surrogate"],
)
def test_what_cannot_be_read_or_stored_is_no_answer(answer, message):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = answer if self.path.endswith("infer") else b"{}"
            self.send_response(200 if self.path.endswith("infer") else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    async def ask(url):
        host = Host(url)
        try:
            await host.answer("m", "1", {"statement": "Fine."})
        finally:
            await host.close()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(Unavailable, match=message):
            asyncio.run(ask(f"http://127.0.0.1:{server.server_port}"))
        server.shutdown()
