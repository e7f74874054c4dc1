"""A round of chat against two voices, behind the real model host and a chat API on real sockets."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from benchmarks.talker import Talker, Voice, folder
from dynabench.models.client import Host
from tests.collection.against import hosted, opened
from tests.collection.conftest import promoted
from tests.conftest import Caller, register

NORTH = "I would take the train along the coast and walk the last mile.".split()
SOUTH = "Nobody knows, so let us count the boats before we ask again.".split()


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
    document = caller.post(f"/api/v1/tasks/{task}/contexts/next").json()
    response = caller.post(f"/api/v1/tasks/{task}/conversations", json={"handout": document["handout"]})
    assert response.status_code == 201, response.text
    return response.json() | {"context": document["id"]}


def send_message(caller: Caller, conversation: int, text: str, key: str = "", **headers: str) -> Any:
    """Say something."""
    keyed = {"Idempotency-Key": key} if key else {}
    return caller.post(f"/api/v1/conversations/{conversation}/turns", json={"said": text}, headers={**keyed, **headers})
