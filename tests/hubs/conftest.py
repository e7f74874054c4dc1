"""A platform's web process, and Hugging Face's own client against it, with nothing but the endpoint changed."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx2
import pytest
from alembic import command
from huggingface_hub import HfApi
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.running import wait_for
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.operations import migrations
from dynabench.people.accounts import service
from dynabench.people.accounts.rules import Newcomer
from dynabench.people.accounts.tables import SCOPES, Person
from tests.forked import Forked
from tests.furnished import Server


@dataclass
class HubProcess:
    """A web process that can be killed and started again at the same address."""

    home: Path
    address: str
    settings: Settings
    database: Database
    environment: dict[str, str]
    tokens: dict[str, str] = field(default_factory=dict)
    process: Forked | None = None
    clients: dict[str, httpx2.Client] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        """The endpoint of clients."""
        return f"{self.address}/api/hub"

    def start(self) -> None:
        """Start the process and wait until it answers."""
        self.process = Forked(["web"], os.environ | self.environment, self.home / "web.log")
        wait_for(f"{self.address}/healthz", 60)

    def kill(self) -> None:
        """Kill the process without a warning."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def api(self, name: str) -> HfApi:
        """The client of a person, who registers at the first call."""
        if name not in self.tokens:
            self.tokens[name] = self.database.write(_register, name)
        return HfApi(self.endpoint, token=self.tokens[name])

    def create_token(self, name: str, scopes: list[str]) -> str:
        """Create a further token of a person."""

        def write(session: Session) -> str:
            person = session.scalars(select(Person).where(Person.username == name)).one()
            return service.create_token(session, person.id, "further", scopes)[1]

        return self.database.write(write)

    def client(self, name: str) -> httpx2.Client:
        """A plain HTTP client with the token of a person."""
        self.api(name)
        if name not in self.clients:
            headers = {"Authorization": f"Bearer {self.tokens[name]}"}
            self.clients[name] = httpx2.Client(base_url=self.endpoint, headers=headers, timeout=60)
        return self.clients[name]


def _register(session: Session, name: str) -> str:
    person = service.register_account(session, Newcomer(name, f"{name}@example.org", ""), "")
    session.flush()
    return service.create_token(session, person.id, "client", list(SCOPES))[1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def create_schema(database: Database) -> None:
    """Create all tables at the newest version at once, which is quicker than one migration after the other."""
    migrations.metadata().create_all(database.engine)
    with database.engine.begin() as connection:
        command.stamp(migrations.config(connection), migrations.newest())


class HubProcesses:
    """Platforms on either database, and one of each kind that tests share."""

    def __init__(self, tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[str], str]) -> None:
        self.tmp_path_factory, self.new_database = tmp_path_factory, new_database
        self.running: list[HubProcess] = []
        self.shared: dict[str, HubProcess] = {}

    def start(self, kind: str, **values: str) -> HubProcess:
        """Start a platform of its own on a kind of database, with settings by name."""
        home, port = self.tmp_path_factory.mktemp("hub"), _free_port()
        environment = {"DYNABENCH_HOME": str(home), "DYNABENCH_PORT": str(port), "DYNABENCH_RATE_LIMIT": "false"}
        environment |= {"DYNABENCH_DATABASE_URL": self.new_database(kind)}
        environment |= {f"DYNABENCH_{name.upper()}": value for name, value in values.items()}
        settings = Settings(home=home, rate_limit=False, database_url=environment["DYNABENCH_DATABASE_URL"])
        assert settings.key
        database = Database(settings.url)
        create_schema(database)
        hub = HubProcess(home, f"http://127.0.0.1:{port}", settings, database, environment)
        self.running.append(hub)
        hub.start()
        return hub

    def close(self) -> None:
        """End all platforms."""
        for hub in self.running:
            hub.kill()
            hub.database.close()
            for client in hub.clients.values():
                client.close()


@pytest.fixture(scope="session")
def hubs(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[HubProcesses]:
    """The platforms of a run."""

    def new_database(kind: str) -> str:
        if kind == "sqlite":
            return ""
        server: Server = request.getfixturevalue("server")
        return str(server.server.get_uri(server.create("template0")))  # dropped with the server

    processes = HubProcesses(tmp_path_factory, new_database)
    yield processes
    processes.close()


@pytest.fixture
def start_hub(hubs: HubProcesses, database_kind: str) -> Callable[..., HubProcess]:
    """A function that starts a platform of its own, with settings by name."""
    return partial(hubs.start, database_kind)


@pytest.fixture
def hub(hubs: HubProcesses, database_kind: str) -> HubProcess:
    """The platform that the tests of a run share."""
    if database_kind not in hubs.shared:
        hubs.shared[database_kind] = hubs.start(database_kind)
    return hubs.shared[database_kind]


@pytest.fixture(autouse=True)
def plain_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the client's caches in a folder of the test."""
    monkeypatch.setenv("HF_XET_CACHE", str(tmp_path / "xet"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_PROGRESS_BARS", True)
