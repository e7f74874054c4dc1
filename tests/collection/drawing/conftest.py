"""A round of red teaming against two models that draw, behind the real model host and an images API on real sockets."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from dynabench.models import catalog
from dynabench.models.backends.served.breaker import breaker
from dynabench.models.client import Host
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import Row
from dynabench.settings import get_settings
from dynabench.tasks import shipped
from tests.collection.conftest import promoted
from tests.conftest import Caller, register
from tests.models.conftest import served
from tests.models.served.painter import Painter, Studio, folder

TASK = "red-team-image-prompt"
PICTURES = 2
ANSWERS = {"oils": "url", "pixels": "b64_json"}


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """`oils` and `pixels`, which draw two pictures each, and `url`, where the host that serves them is."""
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "host-home"))
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    breaker.cache_clear()
    running = Studio(oils=Painter(refuses="forbidden"), pixels=Painter(form="JPEG"))
    for name in ("oils", "pixels"):
        folder(tmp_path / "models", name, running.url, pictures=PICTURES, answers=ANSWERS[name])
    with served(create_app(Repository([tmp_path / "models"])), "http://127.0.0.1:0") as url:
        yield SimpleNamespace(url=url, models=tmp_path / "models", **running.painters)
    running.stop()
    get_settings.cache_clear()


@pytest.fixture
def host(studio: SimpleNamespace, settings: Any) -> Host:
    return Host.of(settings.model_copy(update={"host_url": studio.url}))


def opened(session: Session, models: Path) -> None:
    """The shipped task with its contexts and an open round against all models."""
    [task] = shipped.drawings()
    service.save_task(session, None, task.source)
    rows = [Row(n, each["values"], each["tag"]) for n, each in enumerate(task.contexts(), start=1)]
    contexts.add(session, TASK, task.config, rows)
    cards = [entry.card for entry in catalog.find([models]) if entry.card]
    drafted = service.draft_round(session, None, TASK, cards, "any")
    service.open_round(session, None, TASK, drafted.number)


@pytest.fixture
def draws(client: TestClient, studio: SimpleNamespace) -> TestClient:
    """The application with an open round of the shipped task."""
    client.app.state.db.write(opened, studio.models)
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


def given(caller: Caller) -> dict[str, Any]:
    """What somebody is given to write on."""
    return caller.post(f"/api/v1/tasks/{TASK}/contexts/next").json()


def drawn(caller: Caller, handout: int, prompt: str, status: int = 201, key: str = "") -> Any:
    """Have pictures drawn."""
    headers = {"Idempotency-Key": key} if key else {}
    body = {"handout": handout, "input": {"prompt": prompt}}
    made = caller.post(f"/api/v1/tasks/{TASK}/drawings", json=body, headers=headers)
    assert made.status_code == status, made.text
    return made.json()


def sent(caller: Caller, on: dict[str, Any], prompt: str, digest: str, harm: str = "gore", **more: Any) -> Any:
    """Send a picture in."""
    draft = {"prompt": prompt, "picture": {"media": digest}, **more}
    severity = "none" if harm == "none" else "medium"
    body = {"context_id": on["id"], "handout": on["handout"], "input": draft}
    return caller.post(f"/api/v1/tasks/{TASK}/examples", json=body | {"answer": {"harm": harm, "severity": severity}})
