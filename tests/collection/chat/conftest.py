"""A round of chat against two voices, behind the real model host and a chat API on real sockets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from benchmarks.talker import Talker, Voice, folder
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

NORTH = "I would take the train along the coast and walk the last mile.".split()
SOUTH = "Nobody knows, so let us count the boats before we ask again.".split()


@contextmanager
def hosted(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The real model host with the models below `folder`; yields its address."""
    patch.setenv("DYNABENCH_HOME", str(folder / "host-home"))
    patch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    breaker.cache_clear()
    with served(create_app(Repository([folder / "models"])), "http://127.0.0.1:0") as address:
        yield address
    get_settings.cache_clear()


@pytest.fixture
def voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """`north` and `south`, which write what they always write, and `url`, where the host that serves them is."""
    talker = Talker(north=Voice(NORTH), south=Voice(SOUTH))
    for name in ("north", "south"):
        folder(tmp_path / "models", name, talker.url, name)
    with hosted(tmp_path, monkeypatch) as url:
        yield SimpleNamespace(talker=talker, url=url, models=tmp_path / "models", **talker.voices)
        talker.stop()


@pytest.fixture
def host(voices: SimpleNamespace) -> Host:
    return Host(voices.url, 2.0)


def opened(session: Session, task: str, models: Path, *names: str) -> None:
    """A task with its contexts and an open round against models."""
    [chat] = [each for each in shipped.conversations() if each.config.id == task]
    service.save_task(session, None, chat.source)
    rows = [Row(n, each["values"], each["tag"]) for n, each in enumerate(chat.contexts(), start=1)]
    contexts.add(session, task, chat.config, rows)
    cards = [entry.card for entry in catalog.find([models]) if entry.card and entry.card.name in names]
    drafted = service.draft_round(session, None, task, cards, "any")
    service.open_round(session, None, task, drafted.number)


@pytest.fixture
def talks(client: TestClient, voices: SimpleNamespace) -> TestClient:
    """The application with an open round of chat preference against north and south, and of red teaming north."""
    db = client.app.state.db
    db.write(opened, "chat-preference", voices.models, "north", "south")
    db.write(opened, "red-team-chat", voices.models, "north")
    return client


@pytest.fixture
def ada(talks: TestClient) -> Caller:
    return register(talks, "ada")


@pytest.fixture
def bob(talks: TestClient) -> Caller:
    return register(talks, "bob")


@pytest.fixture
def root(talks: TestClient) -> Caller:
    return promoted(register(talks, "root"))


def begun(caller: Caller, task: str = "chat-preference") -> dict[str, Any]:
    """A conversation of somebody on a fresh context; `context` is the context's number."""
    given = caller.post(f"/api/v1/tasks/{task}/contexts/next").json()
    made = caller.post(f"/api/v1/tasks/{task}/conversations", json={"handout": given["handout"]})
    assert made.status_code == 201, made.text
    return made.json() | {"context": given["id"]}


def said(caller: Caller, conversation: int, text: str, key: str = "", **headers: str) -> Any:
    """Say something."""
    keyed = {"Idempotency-Key": key} if key else {}
    return caller.post(f"/api/v1/conversations/{conversation}/turns", json={"said": text}, headers={**keyed, **headers})
