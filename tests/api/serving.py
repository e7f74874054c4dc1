"""The application in a real web server, with the shipped n-gram models in a real model host."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import update

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models.catalog import BUILTIN
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.repository import Repository
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service
from dynabench.site.app import create_app
from tests.collection.conftest import seed
from tests.conftest import PASSWORD
from tests.models.conftest import served

NGRAMS = ("nli-ngram", "sentiment-ngram")


@contextmanager
def model_host(folder: Path) -> Iterator[str]:
    """A model host with the two n-gram models alone; yields its address."""
    models = folder / "ngrams"
    models.mkdir()
    for name in NGRAMS:
        (models / name).symlink_to(BUILTIN / name)
    with served(create_host(Repository([models])), f"unix:{folder / 'host.sock'}") as address:
        yield address


class Site:
    """The application on a port of this machine: a round of each task is open against its n-gram model."""

    def __init__(self, address: str, database: Database) -> None:
        self.address, self.database = address, database
        self.tokens: dict[str, str] = {}

    def join(self, name: str) -> httpx2.Client:
        """A new account; its program."""
        account = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
        with self.program() as http:
            assert http.post("/accounts", json=account).status_code == 201
            proof = {"username": name, "password": PASSWORD}
            self.tokens[name] = http.post("/tokens", json=proof).json()["token"]
        return self.program(name)

    def program(self, name: str = "") -> httpx2.Client:
        """A program of somebody with an account, or of a visitor."""
        headers = {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}
        return httpx2.Client(base_url=f"{self.address}/api/v1", headers=headers, timeout=30)

    def open_rounds(self, owner: str) -> None:
        """`owner` joins, owns both tasks, and opens a round of each."""
        self.database.write(seed)
        with self.join(owner) as http:
            for task, model in zip(("nli", "sentiment"), NGRAMS, strict=True):
                self.database.write(service.set_role, None, task, owner, "owner")
                opened = http.post(f"/tasks/{task}/rounds", json={"targets": [model]})
                assert opened.status_code == 201, opened.text

    def promote(self, name: str) -> None:
        """Make somebody an administrator."""
        self.database.write(lambda s: s.execute(update(Person).where(Person.username == name).values(admin=True)))

    def ready(self) -> None:
        """Wait until the models have been loaded."""
        until = time.monotonic() + 60
        while httpx2.get(f"{self.address}/readyz").json()["host"] != "ok":
            assert time.monotonic() < until
            time.sleep(0.05)


@contextmanager
def site(settings: Settings, folder: Path, owner: str = "olga") -> Iterator[Site]:
    """Serve the application with these settings and models of its own."""
    database = Database(settings.url)
    with model_host(folder) as host:
        served_settings = settings.model_copy(update={"host_url": host})
        with served(create_app(served_settings), "http://127.0.0.1:0") as address:
            created = Site(address, database)
            created.ready()
            created.open_rounds(owner)
            yield created
    database.close()


def an_example(http: httpx2.Client, text: str, task: str = "nli") -> dict[str, Any]:
    """Write an example of NLI or sentiment; what was told."""
    document = http.post(f"/tasks/{task}/contexts/next").json()
    field = {"nli": "hypothesis", "sentiment": "statement"}[task]
    body = {"context_id": document["id"], "input": {field: text}, "answer": document["goal"] or {"label": "negative"}}
    answer = http.post(f"/tasks/{task}/examples", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json() | {"context_id": document["id"]}
