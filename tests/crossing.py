"""Requests of tests to an application: each crosses to the application's event loop once.

Starlette's client crosses eight times for each request, so that answers can be read while they are written; the
switches between the two threads cost as much as a small answer does. Here the application
writes its whole answer first.
"""

import asyncio
from typing import Any
from urllib.parse import unquote

import httpx2
from starlette import testclient


class OneCrossing(testclient._TestClientTransport):
    """Calls the application with the whole request, and returns the whole answer."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.scheme not in ("http", "https"):
            return super().handle_request(request)
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": unquote(request.url.path),
            "raw_path": request.url.raw_path.split(b"?", 1)[0],
            "root_path": self.root_path,
            "scheme": request.url.scheme,
            "query_string": request.url.query,
            "headers": [(key.lower().encode(), value.encode()) for key, value in request.headers.multi_items()],
            "client": self.client,
            "server": [request.url.host, request.url.port or {"http": 80, "https": 443}[request.url.scheme]],
            "state": self.app_state.copy(),
        }
        with self.portal_factory() as portal:
            answer = portal.call(self._call, scope, request.read())
        if answer is None:
            return httpx2.Response(500, request=request)
        start, body = answer
        headers = [(key.decode(), value.decode()) for key, value in start["headers"]]
        return httpx2.Response(start["status"], headers=headers, stream=httpx2.ByteStream(body), request=request)

    async def _call(self, scope: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes] | None:
        messages = [{"type": "http.request", "body": body}]
        starts, parts, complete = [], [], asyncio.Event()

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await complete.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                starts.append(message)
            elif message["type"] == "http.response.body":
                parts.append(bytes(message.get("body", b"")))
                if not message.get("more_body", False):
                    complete.set()

        try:
            await self.app(scope, receive, send)
        except Exception:
            if self.raise_server_exceptions:
                raise
        if not starts:
            assert not self.raise_server_exceptions, "The application gave no answer."
            return None
        return starts[0], b"" if scope["method"] == "HEAD" else b"".join(parts)


def install() -> None:
    """Let all clients made from now on cross once."""
    testclient._TestClientTransport = OneCrossing  # type: ignore[misc]
