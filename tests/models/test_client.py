import asyncio
import time

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dynabench.kit.errors import Unavailable
from dynabench.models.client import PAUSE, TRIPS, Host

from .conftest import served

INPUTS = {"statement": "Hello."}
ANSWER = {
    "model_name": "m",
    "model_version": "1",
    "outputs": [{"name": "label", "datatype": "BYTES", "shape": [1], "data": ["positive"]}],
}


class Remote:
    """Somebody else's Open Inference Protocol server, as slow and as wrong as it is told to be."""

    def __init__(self):
        self.delay = 0.0
        self.reply = JSONResponse(ANSWER)
        self.calls = 0
        self.app = Starlette(routes=[Route("/v2/models/{m}/infer", self.infer, methods=["POST"])])

    async def infer(self, request):
        self.calls += 1
        await asyncio.sleep(self.delay)
        return self.reply


@pytest.fixture
def remote():
    return Remote()


@pytest.fixture
def address(remote):
    with served(remote.app, "http://127.0.0.1:0") as address:
        yield address


def story(address, run, timeout=0.3):
    async def run_story():
        host = Host(address, timeout)
        try:
            return await run(host)
        finally:
            await host.close()

    return asyncio.run(run_story())


def test_a_remote_server_without_probabilities_is_understood(address):
    answer = story(address, lambda host: host.answer("m", None, INPUTS))
    assert (answer.version, answer.answer, answer.probabilities) == ("1", {"label": "positive"}, None)


@pytest.mark.release
def test_a_slow_server_is_given_up_in_time_then_left_alone_then_tried_again(address, remote):
    async def run(host):
        remote.delay = 5
        for _ in range(TRIPS):
            started = time.monotonic()
            with pytest.raises(Unavailable, match=r"not answered for 0\.3 s"):
                await host.answer("m", None, INPUTS)
            assert time.monotonic() - started < 1
        request = remote.calls
        started = time.monotonic()
        with pytest.raises(Unavailable, match="times in a row"):
            await host.answer("m", None, INPUTS)
        assert time.monotonic() - started < 0.1
        assert remote.calls == request
        remote.delay = 0
        assert (await host.answer("other", None, INPUTS)).version == "1"
        await asyncio.sleep(PAUSE)
        assert (await host.answer("m", None, INPUTS)).version == "1"
        assert (await host.answer("m", None, INPUTS)).version == "1"

    story(address, run)


@pytest.mark.parametrize(
    "reply",
    [
        Response("not json"),
        Response(status_code=500),
        JSONResponse({"error": "out of memory"}, 500),
        JSONResponse({}),
        JSONResponse([]),
        JSONResponse({"outputs": []}),
        JSONResponse({"outputs": [{"name": "label"}]}),
        JSONResponse({"outputs": [{"name": "label", "data": []}]}),
    ],
)
def test_nonsense_is_no_answer(address, remote, reply):
    remote.reply = reply
    with pytest.raises(Unavailable, match="m "):
        story(address, lambda host: host.answer("m", None, INPUTS), timeout=5)


def test_nobody_there_is_told_at_once(tmp_path):
    async def run(host):
        assert not await host.ready()
        with pytest.raises(Unavailable, match="cannot be reached"):
            await host.answer("m", None, INPUTS)
        with pytest.raises(Unavailable, match="which models"):
            await host.index()

    story(f"unix:{tmp_path / 'nobody.sock'}", run)
