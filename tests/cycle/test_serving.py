"""The promoted model of a turn is served by a host that ran before it existed; the next round can be played."""

import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.repository import Repository
from dynabench.site.app import create_app
from tests.conftest import register
from tests.cycle import world
from tests.jobs.conftest import Worker, until
from tests.models.conftest import served
from tests.models.waiting import until_ready

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def running(settings: Settings):
    """A host with the models of the deployment, where its web process and its worker look for one."""
    folder = settings.folder / "models"
    folder.mkdir(exist_ok=True)
    return served(create_host(Repository([folder])), settings.host_address)


def test_a_turn_ends_in_an_open_round_that_can_be_played(database: Database, settings: Settings, tmp_path: Path):
    worker = Worker(settings, tmp_path / "worker.log")
    world.begin(database, settings)
    with running(settings), TestClient(create_app(settings), follow_redirects=False) as client:
        until_ready(settings.host_address)
        world.collect(database, settings)
        worker.start()
        try:
            world.start(database, world.plan())
            until(lambda: world.turn(database, settings).state in ("done", "failed"), 300)
        finally:
            worker.end()
        turn = world.turn(database, settings)
        assert (turn.state, turn.next) == ("done", 2), (turn, worker.log_text())
        promoted = turn.candidates[0].name
        assert [target["model"] for target in client.get("/api/v1/tasks/films/rounds/2").json()["targets"]] == [
            promoted
        ]
        play(client, "ada", promoted)
    with running(settings), TestClient(create_app(settings), follow_redirects=False) as client:
        until_ready(settings.host_address)  # a host that starts again has it as well
        play(client, "bob", promoted)


def play(client: TestClient, name: str, model: str) -> None:
    """Read the create page, be handed a context, write an example, ask the model beside the round."""
    caller = register(client, name)
    page = caller.get("/tasks/films/create")
    assert page.status_code == 200
    assert "callout" not in page.text
    response = caller.post("/api/v1/tasks/films/contexts/next")
    assert response.status_code == 200, response.text
    body = {"context_id": response.json()["id"], "input": {"review": "A film."}, "answer": {"label": "negative"}}
    created = caller.post("/api/v1/tasks/films/examples", json=body)
    assert created.status_code == 201, created.text
    assert [prediction["model"] for prediction in created.json()["predictions"]] == [model]
    request = caller.post(f"/api/v1/models/{model}/ask", json={"inputs": {"review": f"A film of {time.time()}."}})
    assert request.status_code == 200, request.text
