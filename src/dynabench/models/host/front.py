"""The front of a host with several worker processes: it hands each call to the worker best placed to answer it.

It computes nothing and imports no model: what it holds are sockets.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2 as httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dynabench import heartbeat
from dynabench.errors import Problem, Unavailable
from dynabench.models.host import merging
from dynabench.models.host.calls import WITHIN, hung_up, json_object, raw_body, refuse, unless_gone, within
from dynabench.models.host.crew import Crew, Worker
from dynabench.models.host.paths import routes

CALM = 30.0
"""Seconds that a call without a time limit of its own waits for a worker to come up."""
LOOK = 0.25
"""Seconds between two looks at whether the worker that is asked still says anything."""
_LOST = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError, httpx.ConnectError)


def create_front(crew: Crew) -> Starlette:
    """The ASGI application; the crew starts and ends with it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.crew = crew
        tasks = [asyncio.create_task(crew.watch()), asyncio.create_task(heartbeat.follow_loop())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await crew.close()

    return Starlette(
        routes=_routes(), lifespan=lifespan, exception_handlers={Problem: refuse, ClientDisconnect: hung_up}
    )


def _routes() -> list[Route]:
    own = {"ready": _ready, "index": _index, "load": _everywhere, "unload": _everywhere, "metrics": _metrics}
    model = dict.fromkeys(("metadata", "ready", "readme", "infer", "attribute"), _to_one)
    return routes(own, {**model, "converse": _streamed})


def _crew(request: Request) -> Crew:
    crew: Crew = request.app.state.crew
    return crew


async def _ready(request: Request) -> Response:
    found = await _crew(request).ask_all("GET", "/v2/health/ready")
    ready = any(answer.status_code == 200 for _, answer in found)
    return JSONResponse({"ready": ready}, 200 if ready else 503)


async def _index(request: Request) -> Response:
    only_ready = bool((await json_object(request, optional=True)).get("ready"))
    found = await _crew(request).ask_all("POST", "/v2/repository/index", {"ready": only_ready})
    told = [(worker.number, answer.json()) for worker, answer in found if answer.status_code == 200]
    if found and not told:
        raise Unavailable("No worker of this host says which models it has. Try again in a moment.")
    return JSONResponse(merging.index(told))


async def _everywhere(request: Request) -> Response:
    """Load or unload in every worker; the first refusal is passed on."""
    body = await json_object(request, optional=True)
    found = await _crew(request).ask_all("POST", request.url.path, body, seconds=None)
    if not found:
        raise Unavailable("No worker of this host is up. Try again in a moment.")
    worst = max((answer for _, answer in found), key=lambda answer: answer.status_code)
    return _passed_on(worst)


async def _metrics(request: Request) -> Response:
    crew = _crew(request)
    found = await crew.ask_all("GET", "/metrics")
    texts = [(worker.number, answer.text) for worker, answer in found if answer.status_code == 200]
    return Response(merging.figures(crew.figures.registry, texts), media_type="text/plain; version=0.0.4")


async def _to_one(request: Request) -> Response:
    body = await raw_body(request)
    return await unless_gone(request, _answered(request, body))


async def _answered(request: Request, body: bytes) -> Response:
    """The answer of one worker; of another one, once, where the first was lost meanwhile."""
    crew, model = _crew(request), request.path_params["model"]
    until = asyncio.get_running_loop().time() + _seconds(request)
    tried: list[Worker] = []
    while True:
        worker = await crew.best(model, until, but=tried)
        asking = worker.http.request(request.method, request.url.path, content=body, headers=_headers(request, until))
        try:
            async with worker.busy():
                answer = await _unless_silent(worker, asking, crew, tried)
        except _LOST:
            worker.lost()
            answer = None
        if answer is None:
            tried.append(worker)
            crew.figures.retried.inc()
            if len(tried) == 2:
                raise Unavailable("Two processes of the model host ended while they answered this call.")
            continue
        if answer.status_code == 200:
            worker.has(model)
        return _passed_on(answer)


async def _unless_silent(
    worker: Worker, asking: Coroutine[Any, Any, httpx.Response], crew: Crew, tried: list[Worker]
) -> httpx.Response | None:
    """Return the worker's answer; None once it says nothing at all and another worker may be asked instead."""
    task = asyncio.ensure_future(asking)
    try:
        while not (await asyncio.wait({task}, timeout=LOOK))[0]:
            others = [other for other in crew.workers if other.up and other is not worker and not other.suspect]
            if worker.suspect and others and not tried:
                return None
        return task.result()
    finally:
        task.cancel()


async def _streamed(request: Request) -> Response:
    """One worker's answer, handed on as it comes; not asked of another one, since parts may have been used."""
    body, crew = await raw_body(request), _crew(request)
    until = asyncio.get_running_loop().time() + _seconds(request)
    async with AsyncExitStack() as stack:
        worker = await crew.best(request.path_params["model"], until)
        await stack.enter_async_context(worker.busy())
        asking = worker.http.stream(request.method, request.url.path, content=body, headers=_headers(request, until))
        try:
            answer = await unless_gone(request, stack.enter_async_context(asking))
            if answer.status_code != 200:
                await answer.aread()
                return _passed_on(answer)
        except _LOST:
            worker.lost()
            raise Unavailable("The process of the model host that answered this call has ended.") from None
        held = stack.pop_all()
    return StreamingResponse(_parts(answer, held), media_type="text/event-stream")


async def _parts(answer: httpx.Response, held: AsyncExitStack) -> AsyncIterator[bytes]:
    """The parts of an answer; what was held for it is let go at its end."""
    async with held:
        try:
            async for part in answer.aiter_raw():
                yield part
        except _LOST:
            return  # without its end mark, whoever reads it knows that it broke off


def _seconds(request: Request) -> float:
    return within(request) or CALM


def _headers(request: Request, until: float) -> dict[str, str]:
    left = {WITHIN: f"{max(0.001, until - asyncio.get_running_loop().time()):.3f}"} if WITHIN in request.headers else {}
    return left | {"Content-Type": "application/json"}


def _passed_on(answer: httpx.Response) -> Response:
    kept = {name: answer.headers[name] for name in ("Retry-After",) if name in answer.headers}
    return Response(answer.content, answer.status_code, kept, media_type="application/json")
