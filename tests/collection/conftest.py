"""Two tasks with an open round each, against rules that answer over the real protocol."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.people.accounts.tables import Person
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.site.app import create_app
from dynabench.tasks import shipped_tasks
from tests.collection.oip import Rule, RuleHost
from tests.conftest import Caller, register
from tests.furnished import Furnish, bare


def nli(inputs: dict[str, Any]) -> str:
    return "contradiction" if "not" in inputs["hypothesis"].split() else "entailment"


def sentiment(inputs: dict[str, Any]) -> str:
    return "positive" if "good" in inputs["statement"] else "negative"


@contextmanager
def rule_host() -> Iterator[RuleHost]:
    """A model host: `nli-a` sees negation only, `nli-b` says neutral always, `sentiment-a` knows one word."""
    host = RuleHost(
        Rule("nli-a", "nli", nli),
        Rule("nli-b", "nli", lambda _: "neutral"),
        Rule("sentiment-a", "sentiment", sentiment),
    )
    yield host
    host.stop()


@pytest.fixture
def rules() -> Iterator[RuleHost]:
    """The running model host."""
    with rule_host() as running:
        yield running


@pytest.fixture
def host(rules: RuleHost) -> Host:
    return Host(rules.url, 2.0)


@pytest.fixture
def client(app: FastAPI, host: Host) -> Iterator[TestClient]:
    """A program without an account; the host's connections are closed in the loop that opened them."""
    with TestClient(app, follow_redirects=False) as program:
        yield program
        assert program.portal
        program.portal.call(host.close)


def seed(session: Session) -> None:
    """Both tasks with their first contexts."""
    for shipped in shipped_tasks():
        service.save_task(session, None, shipped.source)
        rows = [
            ContextRow(n, context["values"], context["tag"]) for n, context in enumerate(shipped.contexts(), start=1)
        ]
        contexts.add_contexts(session, shipped.config.id, shipped.config, rows[:10])


@dataclass(frozen=True)
class Root:
    """The admin of a furnished database."""

    id: int
    token: str


def open_rounds(settings: Settings) -> Root:
    """Furnish a database: an admin with a round of each task, nli against nli-a and sentiment against sentiment-a."""
    with rule_host() as rules, TestClient(create_app(settings, host=Host(rules.url, 2.0))) as client:
        root = promoted(register(client, "root"))
        client.app.state.db.write(seed)
        for task in ("nli", "sentiment"):
            opened = root.post(f"/api/v1/tasks/{task}/rounds", json={"targets": [f"{task}-a"]})
            assert opened.status_code == 201, opened.text
    return Root(root.id, root.token)


def promoted(caller: Caller) -> Caller:
    """The same, who may do everything from now on."""
    caller.client.app.state.db.write(lambda session: setattr(session.get_one(Person, caller.id), "admin", True))
    return caller


@pytest.fixture
def furnish(request: pytest.FixtureRequest) -> Furnish:
    """Open rounds for whoever needs their owner."""
    return open_rounds if "owner" in request.fixturenames else bare


@pytest.fixture
def admin(client: TestClient, furnished: tuple[str, Any]) -> Caller:
    """Somebody who may do everything."""
    root = furnished[1]
    return Caller(client, "root", root.id, root.token) if root else promoted(register(client, "root"))


@pytest.fixture
def owner(admin: Caller) -> Caller:
    """The admin, with a round of each task open: nli against nli-a, sentiment against sentiment-a."""
    return admin


@pytest.fixture
def ada(owner: Caller, person: Callable[[str], Caller]) -> Caller:
    """An annotator, while both rounds are open."""
    return person("ada")


@pytest.fixture
def bob(owner: Caller, person: Callable[[str], Caller]) -> Caller:
    """Another annotator."""
    return person("bob")


def draw(caller: Caller, task: str = "nli") -> dict[str, Any]:
    """The next context of somebody."""
    response = caller.post(f"/api/v1/tasks/{task}/contexts/next")
    assert response.status_code == 200, response.text
    return response.json()


def written(drawn: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    """A draft of NLI that holds to the goal."""
    return {"context_id": drawn["id"], "input": {"hypothesis": text}, "answer": drawn["goal"], **more}


def send(caller: Caller, body: dict[str, Any], key: str = "", task: str = "nli") -> Any:
    """Post a draft."""
    headers = {"Idempotency-Key": key} if key else {}
    return caller.post(f"/api/v1/tasks/{task}/examples", json=body, headers=headers)
