"""Connections that do nothing are closed, by the server that `dynabench web` runs, and open files are not few."""

import asyncio
import contextlib
import subprocess
import sys

import pytest
import uvicorn

from dynabench.cli import processes
from dynabench.kit import connection_limits
from dynabench.kit.settings import Settings

BODY = b"x" * 32 * 2**20
"""More than what the buffers of a connection hold."""


@contextlib.asynccontextmanager
async def serving(app):
    """Serve `app` as `dynabench web` does; yields the port."""
    stored = processes.server_config(Settings(secret="a secret for tests, long enough to be one"))
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_config=None, http=stored.http, lifespan="off", timeout_keep_alive=1
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def _page(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(connection_limits, "HEAD_SECONDS", 0.3, raising=False)
    monkeypatch.setattr(connection_limits, "READ_SECONDS", 0.3, raising=False)


async def _closed(reader):
    """Read until the other side closes the connection."""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(20):
            return await reader.read()
    return b""


HEAD = b"GET / HTTP/1.1\r\nHost: test\r\n"


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"\r\n" + HEAD], ids=["nothing", "half", "one and a half"])
def test_a_head_that_does_not_come_is_not_waited_for(sent):
    async def story():
        async with serving(_page) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            answers = await _closed(reader)
            assert answers.count(b" 200 ") == sent.count(b"\r\n\r\n")
            writer.close()

    asyncio.run(story())


@pytest.mark.slow
def test_a_request_that_takes_longer_than_its_head_may_is_answered():
    async def slow(scope, receive, send):
        await asyncio.sleep(0.5)
        await _page(scope, receive, send)

    async def story():
        async with serving(slow) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):
                writer.write(HEAD + b"\r\n")
                assert b" 200 " in await reader.readuntil(b"ok")
            writer.close()

    asyncio.run(story())


@pytest.mark.parametrize("reads", [True, False])
def test_an_answer_that_nobody_reads_ends(reads):
    async def story():
        ended = asyncio.Event()

        async def long(scope, receive, send):
            try:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                for start in range(0, len(BODY), 2**16):
                    await send({"type": "http.response.body", "body": BODY[start : start + 2**16], "more_body": True})
                await send({"type": "http.response.body", "body": b""})
            finally:
                ended.set()

        async with serving(long) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD.replace(b"Host", b"Connection: close\r\nHost") + b"\r\n")
            if reads:
                assert (await _closed(reader)).count(b"x") == len(BODY)
            async with asyncio.timeout(20):
                await ended.wait()
            writer.transport.abort()

    asyncio.run(story())


def test_as_many_files_may_be_open_as_the_system_lets_a_process_have():
    code = (
        "import resource; hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1];"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, min(hard, 4000) if hard > 0 else 4000));"
        "from dynabench.kit import connection_limits as connections; print(connections.allow_open_files());"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    soft = {int(line) for line in answer.split()}
    assert len(soft) == 1
    assert soft.pop() > 300
