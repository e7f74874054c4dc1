"""The addresses of a host, alike in one that computes and one that hands calls on, and what both say of themselves."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dynabench import __version__

Handler = Callable[[Request], Awaitable[Response]]
EXTENSIONS = ["model_repository", "attribution", "readme", "converse"]


def routes(host: Mapping[str, Handler], model: Mapping[str, Handler]) -> list[Route]:
    """Open Inference Protocol v2 with its repository extension.

    `host` has `ready`, `index`, `load`, `unload` and `metrics`; `model`, with or without a version in the address,
    `metadata`, `ready`, `readme`, `infer`, `attribute` and `converse`.
    """
    rest = [
        Route("/v2", _server),
        Route("/v2/health/live", _live),
        Route("/v2/health/ready", host["ready"]),
        Route("/v2/repository/index", host["index"], methods=["POST"]),
        Route("/v2/repository/models/{model}/load", host["load"], methods=["POST"]),
        Route("/v2/repository/models/{model}/unload", host["unload"], methods=["POST"]),
        Route("/metrics", host["metrics"]),
    ]
    found = []
    for base in ("/v2/models/{model}", "/v2/models/{model}/versions/{version}"):
        found += [  # those that are asked most stand first, since addresses are compared in turn
            Route(f"{base}/infer", model["infer"], methods=["POST"]),
            Route(f"{base}/attribute", model["attribute"], methods=["POST"]),
            Route(f"{base}/converse", model["converse"], methods=["POST"]),
            Route(base, model["metadata"]),
            Route(f"{base}/ready", model["ready"]),
            Route(f"{base}/readme", model["readme"]),
        ]
    return [*found, *rest]


async def _server(request: Request) -> Response:
    return JSONResponse({"name": "dynabench", "version": __version__, "extensions": EXTENSIONS})


async def _live(request: Request) -> Response:
    return JSONResponse({"live": True})
