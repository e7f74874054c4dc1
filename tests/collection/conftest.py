"""Two tasks with an open round each, against rules that answer over the real protocol."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from dynabench.accounts.tables import Person
from dynabench.db import Database
from dynabench.models.client import Host
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import Row
from dynabench.tasks import builtin
from tests.collection.oip import Rule, RuleHost
from tests.conftest import Caller


def nli(inputs: dict[str, Any]) -> str:
    return "contradiction" if "not" in inputs["hypothesis"].split() else "entailment"


def sentiment(inputs: dict[str, Any]) -> str:
    return "positive" if "good" in inputs["statement"] else "negative"


@pytest.fixture
def rules() -> Iterator[RuleHost]:
    """The running model host: `nli-a` sees negation only, `nli-b` says neutral always, `sentiment-a` knows one word."""
    host = RuleHost(
        Rule("nli-a", "nli", nli),
        Rule("nli-b", "nli", lambda _: "neutral"),
        Rule("sentiment-a", "sentiment", sentiment),
    )
    yield host
    host.stop()


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
    for shipped in builtin():
        service.save_task(session, None, shipped.source)
        rows = [Row(n, each["values"], each["tag"]) for n, each in enumerate(shipped.contexts(), start=1)]
        contexts.add(session, shipped.config.id, shipped.config, rows[:10])


@pytest.fixture
def admin(person: Callable[[str], Caller], database: Database) -> Caller:
    """Somebody who may do everything."""
    root = person("root")

    def promote(session: Session) -> None:
        session.get_one(Person, root.id).admin = True

    database.write(promote)
    return root


@pytest.fixture
def owner(admin: Caller, database: Database) -> Caller:
    """The admin, with a round of each task open: nli against nli-a, sentiment against sentiment-a."""
    database.write(seed)
    for task in ("nli", "sentiment"):
        opened = admin.post(f"/api/v1/tasks/{task}/rounds", json={"targets": [f"{task}-a"]})
        assert opened.status_code == 201, opened.text
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
    given = caller.post(f"/api/v1/tasks/{task}/contexts/next")
    assert given.status_code == 200, given.text
    return given.json()


def written(given: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    """A draft of NLI that holds to the goal."""
    return {"context_id": given["id"], "input": {"hypothesis": text}, "answer": given["goal"], **more}


def send(caller: Caller, body: dict[str, Any], key: str = "", task: str = "nli") -> Any:
    """Post a draft."""
    headers = {"Idempotency-Key": key} if key else {}
    return caller.post(f"/api/v1/tasks/{task}/examples", json=body, headers=headers)
