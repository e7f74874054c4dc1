"""Routes of a process itself: whether it lives and is ready, its figures, and its OpenAPI document."""

import asyncio
import gzip
import hashlib
import time
from collections.abc import Callable
from typing import Any

import orjson
from fastapi import APIRouter, Request
from sqlalchemy import text
from starlette.responses import JSONResponse, Response

from dynabench.kit import errors
from dynabench.models.client import Host, ModelState
from dynabench.models.host_connection import Key
from dynabench.rounds import round_models
from dynabench.rounds.demo import RETRY_SECONDS, progress_of_demo
from dynabench.site import middleware

FRESH = 0.5
"""Seconds that an answer is kept, so that many who ask cost no more than one."""


class Readiness:
    """The answer of `/readyz`.

    Once everything was there, the process stays ready as long as its database answers: a model host that
    fails later is reported, and pages work without it.
    """

    def __init__(self) -> None:
        self._begun = False
        self._last_answer: tuple[float, dict[str, Any], int] | None = None
        self._lock = asyncio.Lock()

    async def answer(self, request: Request) -> JSONResponse:
        """The document with status 200, or 503 while something is awaited."""
        async with self._lock:
            if self._last_answer is None or time.monotonic() - self._last_answer[0] > FRESH:
                document, status = await self._look(request)
                self._last_answer = time.monotonic(), document, status
            _at, document, status = self._last_answer
        return JSONResponse(document, status, {"Retry-After": str(RETRY_SECONDS)} if status == 503 else None)

    async def _look(self, request: Request) -> tuple[dict[str, Any], int]:
        db, host = request.app.state.db, request.app.state.host
        try:
            await db.aread(lambda session: session.execute(text("SELECT 1")))
        except Exception:
            return {"database": "no answer", "host": "unknown", "ready": False, "awaited": [{"what": "database"}]}, 503
        progress = await progress_of_demo(request)
        loaded = await host.ready()
        models = await db.aread(round_models.models_of_open_rounds)
        awaited, unavailable = await _models(host, models, loaded)
        if progress is not None:
            awaited.insert(0, {"what": "demo tasks", "done": progress.done, "of": progress.total})
        self._begun = self._begun or not awaited
        document = {"database": "ok", "host": "ok" if loaded else "no answer", "ready": self._begun, "awaited": awaited}
        return document | ({"unavailable": unavailable} if unavailable else {}), 200 if self._begun else 503


async def _models(host: Host, models: list[Key], loaded: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the models that open rounds still wait for, and the models that cannot be served.

    The latter are those that a host which has loaded everything cannot serve: they are reported, but not
    waited for.
    """
    if not models:
        return [], []
    try:
        states: dict[Key, ModelState] = {(item.name, item.version): item for item in await host.states()}
    except errors.Unavailable:
        return [{"what": "host"}, {"what": "models", "done": 0, "of": len(models), "names": _names(models)}], []
    missing = [key for key in models if key not in states or not states[key].available]
    broken = [key for key in missing if loaded and (key not in states or states[key].state != "LOADING")]
    waiting = [key for key in missing if key not in broken]
    if not waiting:
        return [], _names(broken)
    progress = {"what": "models", "done": len(models) - len(missing), "of": len(models), "names": _names(waiting)}
    return [progress], _names(broken)


def _names(models: list[Key]) -> list[str]:
    return sorted({name for name, _version in models})


class Description:
    """Bytes of a document, plain and compressed, and their mark for caches. Lives on one event loop."""

    _sent_bytes: tuple[bytes, bytes, str] | None = None
    """Shared by all applications of a process, whose routes are the same."""

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

    async def document(self) -> dict[str, Any]:
        """Return the document itself, made no more than once."""
        await self._get()
        return self._document()

    async def _get(self) -> tuple[bytes, bytes, str]:
        if Description._sent_bytes is None:
            if self._making is None or self._making.done():
                self._making = asyncio.create_task(asyncio.to_thread(self._make))
            Description._sent_bytes = await asyncio.shield(self._making)
        return Description._sent_bytes

    def _make(self) -> tuple[bytes, bytes, str]:
        plain = orjson.dumps(self._document())
        return plain, gzip.compress(plain, 6), f'"{hashlib.sha256(plain).hexdigest()[:16]}"'


router = APIRouter(include_in_schema=False)


@router.get("/healthz", name="healthz")
async def alive() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz", name="readyz")
async def ready(request: Request) -> JSONResponse:
    """200 once the database, the demo's tasks and the models of open rounds are there; else 503 and what is awaited."""
    readiness: Readiness = request.app.state.readiness
    return await readiness.answer(request)


@router.get("/api/openapi.json", name="openapi")
async def openapi(request: Request) -> Response:
    """The OpenAPI document: made once a process, in a thread, and kept as the bytes that are sent."""
    description: Description = request.app.state.description
    return await description.response(request)


router.add_api_route("/metrics", middleware.show, name="metrics", response_class=JSONResponse)
