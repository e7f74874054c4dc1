"""The OpenAPI document as it is sent: made once a process, however many ask for it at the same moment."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response


class Description:
    """Bytes of a document, plain and compressed, and their mark for caches. Lives on one event loop."""

    _made: tuple[bytes, bytes, str] | None = None  # shared by all applications of a process, whose routes are the same

    def __init__(self, document: Callable[[], dict[str, Any]]) -> None:
        self._document = document
        self._making: asyncio.Task[tuple[bytes, bytes, str]] | None = None

    async def response(self, request: Request) -> Response:
        """Return the document, or 304 to a reader who has it."""
        plain, packed, mark = await self._get()
        headers = {"ETag": mark, "Cache-Control": "public, no-cache", "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == mark:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, headers=headers | {"Content-Encoding": "gzip"}, media_type="application/json")
        return Response(plain, headers=headers, media_type="application/json")

    async def _get(self) -> tuple[bytes, bytes, str]:
        if Description._made is None:
            if self._making is None or self._making.done():
                self._making = asyncio.create_task(asyncio.to_thread(self._make))
            Description._made = await asyncio.shield(self._making)
        return Description._made

    def _make(self) -> tuple[bytes, bytes, str]:
        plain = orjson.dumps(self._document())
        return plain, gzip.compress(plain, 6), f'"{hashlib.sha256(plain).hexdigest()[:16]}"'
