"""A platform's web process, and Hugging Face's own client against it, with nothing but the endpoint changed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi
from sqlalchemy.orm import Session

from benchmarks.running import wait_for
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.operations import migrations
from dynabench.people.accounts import service
from dynabench.people.accounts.rules import Newcomer
from dynabench.people.accounts.tables import SCOPES


@dataclass
class HubProcess:
    """A web process that can be killed and started again at the same address."""

    home: Path
    address: str
    settings: Settings
    database: Database
    environment: dict[str, str]
    tokens: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    clients: dict[str, httpx2.Client] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        """The endpoint of clients."""
        return f"{self.address}/api/hub"

    def start(self) -> None:
        """Start the process and wait until it answers."""
        command = [sys.executable, "-m", "dynabench", "web"]
        self.process = subprocess.Popen(command, env=os.environ | self.environment)
        wait_for(f"{self.address}/healthz", 60)

    def kill(self) -> None:
        """Kill the process without a warning."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def api(self, name: str) -> HfApi:
        """The client of a person, who registers at the first call."""
        if name not in self.tokens:
            self.tokens[name] = self.database.write(_register, name)
        return HfApi(self.endpoint, token=self.tokens[name])

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


@pytest.fixture(scope="session")
def start_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., HubProcess]]:
    """A function that starts a platform of its own, with settings by name."""
    running: list[HubProcess] = []

    def start(**values: str) -> HubProcess:
        home, port = tmp_path_factory.mktemp("hub"), _free_port()
        environment = {"DYNABENCH_HOME": str(home), "DYNABENCH_PORT": str(port), "DYNABENCH_RATE_LIMIT": "false"}
        environment |= {f"DYNABENCH_{name.upper()}": value for name, value in values.items()}
        settings = Settings(home=home, rate_limit=False)
        assert settings.key
        migrations.upgrade(settings)
        hub = HubProcess(home, f"http://127.0.0.1:{port}", settings, Database(settings.url), environment)
        running.append(hub)
        hub.start()
        return hub

    yield start
    for hub in running:
        hub.kill()
        hub.database.close()
        for client in hub.clients.values():
            client.close()


@pytest.fixture(scope="session")
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    """The platform that the tests of a run share."""
    return start_hub()


@pytest.fixture(autouse=True)
def plain_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the client's cache in a folder of the test, and large files in plain HTTP (HF_HUB_DISABLE_XET=1)."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_PROGRESS_BARS", True)
