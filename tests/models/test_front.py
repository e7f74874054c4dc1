"""The index of a host with several worker processes, one of which fails to answer."""

import asyncio
from typing import Any

import httpx2 as httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from dynabench.models.host.crew import Crew
from dynabench.models.host.front import create_front
from tests.models.conftest import served

ENTRY = {"name": "nli-ngram", "version": "1", "state": "READY", "reason": "", "cold": False}


def worker(status: int, answer: Any) -> Starlette:
    async def index(request: Request) -> JSONResponse:
        return JSONResponse(answer, status)

    return Starlette(routes=[Route("/v2/repository/index", index, methods=["POST"])])


async def index(crew: Crew) -> httpx.Response:
    """The host's index while its workers are real servers at their sockets, and no process of the crew runs."""
    front = create_front(crew)
    front.state.crew = crew  # its lifespan, which does this and starts the processes, does not run
    for each in crew.workers:
        each.up = True
    async with httpx.AsyncClient(transport=httpx.ASGITransport(front), base_url="http://front") as client:
        answer = await client.post("/v2/repository/index", json={})
    await crew.close()
    return answer


@pytest.mark.parametrize("first", ["well", "failing"])
def test_a_worker_that_fails_takes_nothing_from_the_index_of_the_others(first):
    crew = Crew(2)
    failing = worker(500, {"error": "out of memory"})
    with (
        served(worker(200, [ENTRY]) if first == "well" else failing, f"unix:{crew.workers[0].path}"),
        served(failing, f"unix:{crew.workers[1].path}"),
    ):
        answer = asyncio.run(index(crew))
    if first == "well":
        assert [(entry["name"], entry["workers"]) for entry in answer.json()] == [("nli-ngram", [0])]
    else:
        assert answer.status_code == 503
        assert "No worker of this host says" in answer.text
