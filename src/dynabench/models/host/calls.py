"""Calls to a host: reading them, refusing them, and ending those whose client has left."""

import asyncio
import json
import math
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from dynabench.kit.errors import Invalid, Problem, TooLarge
from dynabench.models.protocol import LARGEST

T = TypeVar("T")
BODY = LARGEST + 4 * 2**20
"""Bytes of a request at most: the largest picture, and what is said beside it."""
WITHIN = "Answer-Within"
"""Header with the seconds that the caller waits: what cannot be answered by then is refused with its place."""


async def raw_body(request: Request) -> bytes:
    """The request's body; raises `TooLarge` before reading too much."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > BODY:
            raise TooLarge(f"A request may have {BODY // 2**20} MiB.")
    return raw


async def json_object(request: Request, optional: bool = False) -> dict[str, Any]:
    """The request's JSON object; raises `TooLarge`, or `Invalid` when it is none."""
    raw = await raw_body(request)
    if optional and not raw:
        return {}
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Invalid({"body": "JSON in UTF-8 is needed."}) from error
    if not isinstance(body, dict):
        raise Invalid({"body": "A JSON object is needed."})
    return body


def within(request: Request) -> float | None:
    """The seconds that the caller waits, if it says so; raises `Invalid` for what is no number of seconds."""
    told = request.headers.get(WITHIN)
    if told is None:
        return None
    try:
        seconds = float(told)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise Invalid({WITHIN: "A positive number of seconds is needed."})
    return seconds


async def refuse(request: Request, error: Exception) -> Response:
    """A problem as this protocol's error, with `position` and `seconds` where a queue is too long."""
    if not isinstance(error, Problem):
        return JSONResponse({"error": str(error)}, 500)
    known = {name: error.extra[name] for name in ("position", "seconds") if name in error.extra}
    headers = {"Retry-After": str(error.extra["retry_after"])} if "retry_after" in error.extra else None
    status = 400 if isinstance(error, Invalid) else error.status
    return JSONResponse({"error": error.detail, **known}, status, headers)


async def hung_up(request: Request, error: Exception) -> Response:
    """The answer to a client that has left, which nobody reads."""
    return Response(status_code=499)


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The work's result; the work is cancelled as soon as the client has left, so that it keeps no place."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        gone.cancel()
        task.cancel()


async def _disconnect(request: Request) -> None:
    receive: Awaitable[Any]
    while True:
        receive = request.receive()
        if (await receive)["type"] == "http.disconnect":
            return
