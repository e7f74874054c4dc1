"""The web application of the model host."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dynabench import __version__
from dynabench.kit import heartbeat
from dynabench.kit.errors import Invalid, Problem, TooLarge, Unavailable
from dynabench.models import spec
from dynabench.models.host import compute_threads, wire
from dynabench.models.host.engine import Engine, requested_conversation
from dynabench.models.host.repository import READY, Repository, Slot
from dynabench.models.protocol import LARGEST, Message

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
    header = request.headers.get(WITHIN)
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise Invalid({WITHIN: "A positive number of seconds is needed."})
    return seconds


async def refuse(request: Request, error: Exception) -> Response:
    """A problem as this protocol's error, with `position` and `seconds` where a queue is too long."""
    if not isinstance(error, Problem):
        return JSONResponse({"error": str(error)}, 500)
    busy = {name: error.extra[name] for name in ("position", "seconds") if name in error.extra}
    headers = {"Retry-After": str(error.extra["retry_after"])} if "retry_after" in error.extra else None
    status = 400 if isinstance(error, Invalid) else error.status
    return JSONResponse({"error": error.detail, **busy}, status, headers)


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


EXTENSIONS = ["model_repository", "attribution", "readme", "converse"]


def create_app(repository: Repository | None = None, engine: Callable[[Repository], Any] = Engine) -> Starlette:
    """The ASGI application; models are loaded in the background after it has started.

    `engine` makes what asks the repository's models: `Engine` in this process, or one that asks a cluster.
    """
    repository = repository or Repository()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.engine = engine(repository)
        following = heartbeat.follow_loop(lambda: not compute_threads.has_stuck_threads())
        tasks = [asyncio.create_task(repository.run()), asyncio.create_task(following)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await app.state.engine.close()
            await repository.close()

    return Starlette(
        routes=_routes(), lifespan=lifespan, exception_handlers={Problem: refuse, ClientDisconnect: hung_up}
    )


def _routes() -> list[Route]:
    model_routes = []
    for base in ("/v2/models/{model}", "/v2/models/{model}/versions/{version}"):
        model_routes += [  # those that are asked most stand first, since addresses are compared in turn
            Route(f"{base}/infer", _infer, methods=["POST"]),
            Route(f"{base}/attribute", _attribute, methods=["POST"]),
            Route(f"{base}/converse", _converse, methods=["POST"]),
            Route(base, _metadata),
            Route(f"{base}/ready", _model_ready),
            Route(f"{base}/readme", _readme),
        ]
    return [
        *model_routes,
        Route("/v2", _server),
        Route("/v2/health/live", _live),
        Route("/v2/health/ready", _ready),
        Route("/v2/repository/index", _index, methods=["POST"]),
        Route("/v2/repository/models/{model}/load", _load, methods=["POST"]),
        Route("/v2/repository/models/{model}/unload", _unload, methods=["POST"]),
        Route("/metrics", _metrics),
    ]


async def _server(request: Request) -> Response:
    return JSONResponse({"name": "dynabench", "version": __version__, "extensions": EXTENSIONS})


async def _live(request: Request) -> Response:
    return JSONResponse({"live": True})


async def _ready(request: Request) -> Response:
    ready = _engine(request).repository.ready
    return JSONResponse({"ready": ready}, 200 if ready else 503)


async def _metadata(request: Request) -> Response:
    repository = _engine(request).repository
    slot = repository.slot(*_named(request))
    if slot.entry.card is None or not (slot.on_demand or slot.model is not None):
        raise Unavailable(f"{slot.entry.name} cannot answer: {slot.reason or slot.state.lower()}.")
    versions = [other.entry.version for other in repository.slots() if other.entry.name == slot.entry.name]
    return JSONResponse(wire.metadata(slot.entry.card, versions))


async def _model_ready(request: Request) -> Response:
    slot = _engine(request).repository.slot(*_named(request))
    ready = slot.state == READY
    return JSONResponse({"name": slot.entry.name, "ready": ready}, 200 if ready else 503)


async def _readme(request: Request) -> Response:
    slot = _engine(request).repository.slot(*_named(request))
    return JSONResponse({"readme": await asyncio.to_thread(spec.readme, slot.entry.folder)})


async def _index(request: Request) -> Response:
    only_ready = bool((await json_object(request, optional=True)).get("ready"))
    repository = _engine(request).repository
    return JSONResponse(
        [_listed(repository, slot) for slot in repository.slots() if slot.state == READY or not only_ready]
    )


def _listed(repository: Repository, slot: Slot) -> dict[str, Any]:
    size = repository.memory.sizes.get((slot.entry.name, slot.entry.version))
    return {
        "name": slot.entry.name,
        "version": slot.entry.version,
        "state": slot.state,
        "reason": slot.reason,
        "on_demand": slot.on_demand,
        "cold": slot.state != READY and not (slot.on_demand and size is not None),
        "since": datetime.fromtimestamp(slot.since, UTC).isoformat(timespec="seconds"),
        "memory_bytes": size,
        "card": wire.card_json(slot.entry.card) if slot.entry.card else None,
    }


async def _load(request: Request) -> Response:
    await _engine(request).repository.load(request.path_params["model"], _beside(await json_object(request, True)))
    return JSONResponse({})


def _beside(body: dict[str, Any]) -> list[str] | None:
    parameters = body.get("parameters")
    names = parameters.get("beside") if isinstance(parameters, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else None


async def _unload(request: Request) -> Response:
    await _engine(request).repository.unload(request.path_params["model"])
    return JSONResponse({})


async def _metrics(request: Request) -> Response:
    return Response(_engine(request).figures.text(), media_type="text/plain; version=0.0.4")


async def _infer(request: Request) -> Response:
    body = await json_object(request)
    _engine(request).repository.slot(*_named(request))
    rows = wire.rows(body)

    async def answered() -> Response:
        engine, seconds = _engine(request), within(request)
        async with engine.repository.using(*_named(request), seconds) as model:
            outputs = await engine.predict(model, rows, seconds)
            return JSONResponse(wire.response(model.card, outputs, body.get("id")))

    return await unless_gone(request, answered())


async def _attribute(request: Request) -> Response:
    body = await json_object(request)
    inputs = body.get("inputs")
    if not isinstance(inputs, dict):
        raise Invalid({"inputs": "An object by field name is needed."})

    async def explained() -> Response:
        engine, seconds = _engine(request), within(request)
        async with engine.repository.using(*_named(request), seconds) as model:
            method = body.get("method") or next(iter(model.card.methods), "")
            attribution = await engine.attribute(model, inputs, body.get("label"), method, seconds)
            return JSONResponse(wire.attribution_json(attribution, model.card.version))

    return await unless_gone(request, explained())


async def _converse(request: Request) -> Response:
    """The next reply as server-sent events: `{"text": piece}` each, at the end `{"end": true}` or `{"error": why}`.

    What goes wrong before the first piece is answered with a status.
    """
    messages, most = requested_conversation(await json_object(request))
    _engine(request).repository.slot(*_named(request))
    pieces = _pieces(request, messages, most)
    first = await unless_gone(request, anext(pieces, None))

    async def events() -> AsyncIterator[str]:
        try:
            if first is not None:
                yield _event(text=first)
            async for piece in pieces:
                yield _event(text=piece)
            yield _event(end=True)
        except Problem as problem:
            yield _event(error=problem.detail)
        finally:
            await pieces.aclose()

    return StreamingResponse(events(), media_type="text/event-stream")


async def _pieces(request: Request, messages: list[Message], most: int) -> AsyncGenerator[str, None]:
    engine, seconds = _engine(request), within(request)
    async with (
        engine.repository.using(*_named(request), seconds) as model,
        aclosing(engine.converse(model, messages, most, seconds)) as pieces,
    ):
        async for piece in pieces:
            yield piece


def _event(**document: Any) -> str:
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n"


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _named(request: Request) -> tuple[str, str | None]:
    return request.path_params["model"], request.path_params.get("version")
