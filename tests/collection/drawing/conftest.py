"""A round of red teaming against two models that draw, behind the real model host and an images API on real sockets."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from dynabench.models.client import Host
from tests.collection.against import hosted, opened
from tests.collection.conftest import promoted
from tests.conftest import Caller, register
from tests.models.served.painter import Painter, Studio, folder

TASK = "red-team-image-prompt"
PICTURES = 2
ANSWERS = {"oils": "url", "pixels": "b64_json"}
MODELS = tuple(ANSWERS)


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """`oils` and `pixels`, which draw two pictures each, and `url`, where the host that serves them is."""
    running = Studio(oils=Painter(refuses="forbidden"), pixels=Painter(form="JPEG"))
    for name in MODELS:
        folder(tmp_path / "models", name, running.url, pictures=PICTURES, answers=ANSWERS[name])
    with hosted(tmp_path, monkeypatch) as url:
        yield SimpleNamespace(url=url, models=tmp_path / "models", **running.painters)
        running.stop()


@pytest.fixture
def host(studio: SimpleNamespace, settings: Any) -> Host:
    return Host.of(settings.model_copy(update={"host_url": studio.url}))


@pytest.fixture
def draws(client: TestClient, studio: SimpleNamespace) -> TestClient:
    """The application with an open round of the shipped task."""
    client.app.state.db.write(opened, TASK, studio.models, *MODELS)
    return client


@pytest.fixture
def ada(draws: TestClient) -> Caller:
    return register(draws, "ada")


@pytest.fixture
def bob(draws: TestClient) -> Caller:
    return register(draws, "bob")


@pytest.fixture
def root(draws: TestClient) -> Caller:
    return promoted(register(draws, "root"))


def draw_context(caller: Caller) -> dict[str, Any]:
    """Draw a context for a person to write on."""
    return caller.post(f"/api/v1/tasks/{TASK}/contexts/next").json()


def drawn(caller: Caller, handout: int, prompt: str, status: int = 201, key: str = "") -> Any:
    """Have pictures drawn."""
    headers = {"Idempotency-Key": key} if key else {}
    body = {"handout": handout, "input": {"prompt": prompt}}
    response = caller.post(f"/api/v1/tasks/{TASK}/drawings", json=body, headers=headers)
    assert response.status_code == status, response.text
    return response.json()


def sent(caller: Caller, on: dict[str, Any], prompt: str, digest: str, harm: str = "gore", **more: Any) -> Any:
    """Send a picture in."""
    draft = {"prompt": prompt, "picture": {"media": digest}, **more}
    severity = "none" if harm == "none" else "medium"
    body = {"context_id": on["id"], "handout": on["handout"], "input": draft}
    return caller.post(f"/api/v1/tasks/{TASK}/examples", json=body | {"answer": {"harm": harm, "severity": severity}})
