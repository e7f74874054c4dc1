"""The model host's HTTP face: Open Inference Protocol v2, its repository extension, and attributions."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dynabench import __version__
from dynabench.errors import Invalid, Problem, TooLarge
from dynabench.models import spec
from dynabench.models.host import wire
from dynabench.models.host.engine import Engine
from dynabench.models.host.lane import RETRY_AFTER
from dynabench.models.host.repository import READY, Repository

BODY = 8 * 2**20
"""Bytes of a request at most."""

T = TypeVar("T")


def create_app(repository: Repository | None = None, engine: Callable[[Repository], Any] = Engine) -> Starlette:
    """The ASGI application; models are loaded in the background after it has started.

    `engine` makes what asks the repository's models: `Engine` in this process, or one that asks a cluster.
    """
    repository = repository or Repository()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.engine = engine(repository)
        loading = asyncio.create_task(repository.start())
        try:
            yield
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
            await app.state.engine.close()
            repository.close()

    return Starlette(routes=_routes(), lifespan=lifespan, exception_handlers={Problem: _refuse})


def _routes() -> list[Route]:
    routes = [
        Route("/v2", _server),
        Route("/v2/health/live", _live),
        Route("/v2/health/ready", _ready),
        Route("/v2/repository/index", _index, methods=["POST"]),
        Route("/v2/repository/models/{model}/load", _load, methods=["POST"]),
        Route("/v2/repository/models/{model}/unload", _unload, methods=["POST"]),
        Route("/metrics", _metrics),
    ]
    for base in ("/v2/models/{model}", "/v2/models/{model}/versions/{version}"):
        routes += [
            Route(base, _metadata),
            Route(f"{base}/ready", _model_ready),
            Route(f"{base}/readme", _readme),
            Route(f"{base}/infer", _infer, methods=["POST"]),
            Route(f"{base}/attribute", _attribute, methods=["POST"]),
        ]
    return routes


async def _refuse(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, Problem) else 500
    headers = {"Retry-After": str(RETRY_AFTER)} if status == 503 else None
    body = {"error": error.detail if isinstance(error, Problem) else str(error)}
    return JSONResponse(body, 400 if isinstance(error, Invalid) else status, headers)


async def _server(request: Request) -> Response:
    return JSONResponse(
        {"name": "dynabench", "version": __version__, "extensions": ["model_repository", "attribution", "readme"]}
    )


async def _live(request: Request) -> Response:
    return JSONResponse({"live": True})


async def _ready(request: Request) -> Response:
    ready = _engine(request).repository.ready
    return JSONResponse({"ready": ready}, 200 if ready else 503)


async def _metadata(request: Request) -> Response:
    repository = _engine(request).repository
    card = repository.model(*_named(request)).card
    versions = [slot.entry.version for slot in repository.slots() if slot.entry.name == card.name]
    return JSONResponse(wire.metadata(card, versions))


async def _model_ready(request: Request) -> Response:
    slot = _engine(request).repository.slot(*_named(request))
    ready = slot.state == READY
    return JSONResponse({"name": slot.entry.name, "ready": ready}, 200 if ready else 503)


async def _readme(request: Request) -> Response:
    slot = _engine(request).repository.slot(*_named(request))
    return JSONResponse({"readme": await asyncio.to_thread(spec.readme, slot.entry.folder)})


async def _index(request: Request) -> Response:
    only_ready = bool((await _body(request, optional=True)).get("ready"))
    return JSONResponse(
        [
            {
                "name": slot.entry.name,
                "version": slot.entry.version,
                "state": slot.state,
                "reason": slot.reason,
                "card": wire.card_json(slot.entry.card) if slot.entry.card else None,
            }
            for slot in _engine(request).repository.slots()
            if slot.state == READY or not only_ready
        ]
    )


async def _load(request: Request) -> Response:
    await _engine(request).repository.load(request.path_params["model"])
    return JSONResponse({})


async def _unload(request: Request) -> Response:
    await asyncio.to_thread(_engine(request).repository.unload, request.path_params["model"])
    return JSONResponse({})


async def _metrics(request: Request) -> Response:
    return Response(_engine(request).figures.text(), media_type="text/plain; version=0.0.4")


async def _infer(request: Request) -> Response:
    body = await _body(request)
    engine = _engine(request)
    model = engine.repository.model(*_named(request))
    outputs = await _unless_gone(request, engine.predict(model, wire.rows(body)))
    return JSONResponse(wire.response(model.card, outputs, body.get("id")))


async def _attribute(request: Request) -> Response:
    body = await _body(request)
    engine = _engine(request)
    model = engine.repository.model(*_named(request))
    inputs = body.get("inputs")
    if not isinstance(inputs, dict):
        raise Invalid({"inputs": "An object by field name is needed."})
    label, method = body.get("label"), body.get("method") or model.card.methods[0]
    found = await _unless_gone(request, engine.attribute(model, inputs, label, method))
    return JSONResponse(wire.attribution_json(found, model.card.version))


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _named(request: Request) -> tuple[str, str | None]:
    return request.path_params["model"], request.path_params.get("version")


async def _body(request: Request, optional: bool = False) -> dict[str, Any]:
    """The request's JSON object; raises `TooLarge` before reading too much, `Invalid` when it is none."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > BODY:
            raise TooLarge(f"A request may have {BODY // 2**20} MiB.")
    if optional and not raw:
        return {}
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise Invalid({"body": "JSON in UTF-8 is needed."}) from error
    if not isinstance(body, dict):
        raise Invalid({"body": "A JSON object is needed."})
    return body


async def _unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
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
