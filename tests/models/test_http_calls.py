"""Calls to a host over plain connections: what servers may answer, and which connections are used again."""

import asyncio
from contextlib import asynccontextmanager

import httpx2 as httpx
import pytest

from dynabench.models.host_calls import HostCalls

LENGTH = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}'
CHUNKED = b'HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n4\r\n":1}\r\n0\r\nMore: yes\r\n\r\n'
UNTIL_END = b'HTTP/1.0 200 OK\r\n\r\n{"a":1}'
CLOSING = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\n{"a":1}'


class Script:
    """A server that answers every request with the same bytes; what it was sent, by connection."""

    def __init__(self, answer: bytes, hang_up: bool = False) -> None:
        self.answer, self.hang_up = answer, hang_up
        self.heads: list[list[bytes]] = []
        self.ended = asyncio.Event()
        self.replies: list[asyncio.Task[None]] = []

    async def reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads: list[bytes] = []
        self.heads.append(heads)
        if task := asyncio.current_task():
            self.replies.append(task)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
                heads.append(head)
                writer.write(self.answer)
                if self.hang_up:
                    break
        except asyncio.IncompleteReadError:
            self.ended.set()
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def serve(script: Script, tmp_path):
    path = str(tmp_path / "host.sock")
    async with await asyncio.start_unix_server(script.reply, path):
        connections = HostCalls("", path, "", 60.0)
        yield connections
        await connections.close()
        await asyncio.gather(*script.replies, return_exceptions=True)


@pytest.mark.parametrize(
    ("answer", "hang_up", "status", "used"),
    [(LENGTH, False, 200, 1), (CHUNKED, False, 503, 1), (UNTIL_END, True, 200, 2), (CLOSING, False, 200, 2)],
)
def test_an_answer_is_read_to_its_end_and_its_connection_used_again_where_it_may_be(
    tmp_path, answer, hang_up, status, used
):
    async def run() -> None:
        script = Script(answer, hang_up)
        async with serve(script, tmp_path) as connections:
            for _ in range(2):
                reply = await connections.post("/v2/models/é x/infer", {"text": "ü"}, {"answer-within": "1"})
                assert (reply.status_code, reply.json()) == (status, {"a": 1})
        assert len(script.heads) == used
        assert script.heads[0][0].startswith(b"POST /v2/models/%C3%A9%20x/infer HTTP/1.1\r\n")
        assert b"\r\nanswer-within: 1\r\n" in script.heads[0][0]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"SSH-2.0-server\r\n\r\n", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", httpx.ReadError),
        (b"", httpx.ReadError),
    ],
)
def test_what_is_no_whole_answer_is_an_error(tmp_path, answer, error):
    async def run() -> None:
        async with serve(Script(answer, hang_up=True), tmp_path) as connections:
            with pytest.raises(error):
                await connections.post("/", {}, {})

    asyncio.run(run())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again(tmp_path):
    async def run() -> None:
        script = Script(LENGTH, hang_up=True)
        async with serve(script, tmp_path) as connections:
            for _ in range(3):
                await connections.post("/", {}, {})
                await asyncio.sleep(0.05)
        assert len(script.heads) == 3

    asyncio.run(run())


def test_a_call_that_is_cancelled_closes_its_connection(tmp_path):
    async def run() -> None:
        script = Script(b"HTTP/1.1 200 OK\r\n")
        async with serve(script, tmp_path) as connections:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await connections.post("/", {}, {})
            await asyncio.wait_for(script.ended.wait(), 5)

    asyncio.run(run())


def test_a_host_that_is_not_there_is_a_connect_error(tmp_path):
    async def run() -> None:
        calls = HostCalls("", str(tmp_path / "none.sock"), "", 60.0)
        with pytest.raises(httpx.ConnectError):
            await calls.post("/", {}, {})
        await calls.close()

    asyncio.run(run())
