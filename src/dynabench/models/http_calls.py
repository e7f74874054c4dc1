"""POST requests over kept-alive connections to a local socket or plain HTTP, as each example makes one to a host.

A client for the whole of HTTP takes several times as long for the same call as the rest of recording an example does.
Errors are those of `httpx`, which the other calls to a host use.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2 as httpx

LARGEST_HEAD = 64 * 1024
"""Bytes of the head of an answer at most."""
SAFE = "/%:@!$&'()*+,;="
"""Characters of a path that are sent as they are."""


@dataclass(frozen=True)
class HostReply:
    """The status and the body of an answer."""

    status_code: int
    content: bytes

    def json(self) -> Any:
        """Return the body as JSON; raises `ValueError`."""
        return json.loads(self.content)


class Connections:
    """Connections to one host: a `socket_path`, or the host and port of a `url` without encryption."""

    def __init__(self, url: str, socket_path: str | None, token: str, idle_seconds: float) -> None:
        parts = urlsplit(url)
        self.socket_path, self.idle_seconds = socket_path, idle_seconds
        self.host, self.port, self.prefix = parts.hostname or "", parts.port or 80, parts.path.rstrip("/")
        lines = [f"host: {parts.netloc.rpartition('@')[2] or 'host'}", "accept: application/json"]
        lines += ["content-type: application/json", *([f"authorization: Bearer {token}"] if token else [])]
        self.headers = "".join(f"{line}\r\n" for line in lines)
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> HostReply:
        """Send JSON; raises `httpx.ConnectError`, `ReadError`, `WriteError` or `RemoteProtocolError`.

        Whoever cancels it closes its connection.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        line = f"POST {self.prefix}{quote(path, safe=SAFE)} HTTP/1.1\r\n"
        head = f"{line}{self.headers}{more}content-length: {len(content)}\r\n\r\n".encode()
        reader, writer = self._take() or await self._connect()
        try:
            writer.write(head + content)
            reply, reusable = await _read(reader)
        except (OSError, EOFError, asyncio.LimitOverrunError) as error:
            writer.close()
            raise httpx.ReadError(str(error)) from error
        except ValueError as error:
            writer.close()
            raise httpx.RemoteProtocolError(str(error)) from error
        except BaseException:
            writer.close()
            raise
        if reusable:
            self._idle.append((time.monotonic(), reader, writer))
        else:
            writer.close()
        return reply

    def _take(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        while self._idle:
            since, reader, writer = self._idle.pop()
            if time.monotonic() - since < self.idle_seconds and not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        return None

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            if self.socket_path is not None:
                return await asyncio.open_unix_connection(self.socket_path, limit=LARGEST_HEAD)
            return await asyncio.open_connection(self.host, self.port, limit=LARGEST_HEAD)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error

    async def close(self) -> None:
        """Close the connections that nobody uses."""
        idle, self._idle = self._idle, []
        for _, _, writer in idle:
            writer.close()
            with suppress(OSError):  # the host was gone before
                await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> tuple[HostReply, bool]:
    """The answer, and whether its connection can be used again; `ValueError` where it is no HTTP."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    version, _, rest = first.partition(" ")
    status = int(rest[:3])
    if not version.startswith("HTTP/1.") or status < 200:
        raise ValueError(f"{first!r} is no answer")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    reusable = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return HostReply(status, await _read_chunks(reader)), reusable
    if "content-length" in headers:
        return HostReply(status, await reader.readexactly(int(headers["content-length"]))), reusable
    return HostReply(status, await reader.read()), False


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while (await reader.readuntil(b"\r\n")) != b"\r\n":
        pass  # trailers
    return b"".join(parts)
