"""Send calls to the model host over connections that are kept, and read its replies."""

import asyncio
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import aiohttp
import httpx2 as httpx
from yarl import URL

SAFE = "/%:@!$&'()*+,;="
"""Characters of a path that are sent as they are."""


MOST_CONNECTIONS = 512


SENT_AT_ONCE = 64 * 1024
"""Bytes of a body that is written at once."""


@dataclass(frozen=True)
class HostReply:
    """The status and the body of an answer."""

    status_code: int
    content: bytes

    def json(self) -> Any:
        """Return the body as JSON; raises `ValueError`."""
        return json.loads(self.content)


@lru_cache(maxsize=1024)
def _address(url: str, path: str) -> URL:
    return URL(f"{url}{quote(path, safe=SAFE)}", encoded=True)


class HostCalls:
    """Kept-alive connections to one host: its `url`, or a local socket at `socket_path`."""

    def __init__(self, url: str, socket_path: str | None, token: str, idle_seconds: float) -> None:
        self.url, self.socket_path, self.idle_seconds = url.rstrip("/"), socket_path, idle_seconds
        self.headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> HostReply:
        """Send JSON; raises `httpx.ConnectError`, `ReadError` or `RemoteProtocolError`.

        A call that is cancelled closes its connection.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        url = _address(self.url or "http://host", path)
        self._session = self._session or self._open()
        try:
            # A file is sent in pieces: aiohttp writes bytes at once, and warns of a body as large as a picture can be.
            data = content if len(content) < SENT_AT_ONCE else io.BytesIO(content)
            async with self._session.post(url, data=data, headers=headers) as response:
                return HostReply(response.status, await response.read())
        except aiohttp.ClientConnectorError as error:
            raise httpx.ConnectError(str(error)) from error
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, OSError) as error:
            raise httpx.ReadError(str(error)) from error
        except aiohttp.ClientError as error:
            raise httpx.RemoteProtocolError(str(error)) from error

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None
            await asyncio.sleep(0)  # the transports close in the next turn of the loop

    def _open(self) -> aiohttp.ClientSession:
        limits: dict[str, Any] = {"limit": MOST_CONNECTIONS, "keepalive_timeout": self.idle_seconds}
        return aiohttp.ClientSession(
            connector=(
                aiohttp.TCPConnector(**limits)
                if self.socket_path is None
                else aiohttp.UnixConnector(self.socket_path, **limits)
            ),
            headers=self.headers,
            skip_auto_headers=("User-Agent", "Accept-Encoding"),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            auto_decompress=False,
        )
