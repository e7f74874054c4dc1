"""A real worker process beside the application, and owners who upload files."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import service
from dynabench.tasks import shipped_tasks
from tests.conftest import Caller
from tests.forked import Forked


class Worker:
    """`dynabench worker` as a process, to be killed and started again."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self.env = os.environ | {
            "DYNABENCH_HOME": str(settings.home),
            "DYNABENCH_DATABASE_URL": settings.database_url,
            "DYNABENCH_SECRET": settings.secret,
        }
        self.log = log
        self.process: Forked | None = None

    def start(self) -> None:
        self.process = Forked(["worker"], self.env, self.log)

    def end(self, how: int = signal.SIGKILL, seconds: float = 60) -> int:
        """Send a signal and wait for the end; the exit status."""
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(seconds)

    def log_text(self) -> str:
        return self.log.read_text()


@pytest.fixture
def worker(settings: Settings, tmp_path: Path) -> Iterator[Worker]:
    """A worker that is not started yet."""
    created = Worker(settings, tmp_path / "worker.log")
    yield created
    if created.process is not None and created.process.poll() is None:
        created.end()


@pytest.fixture
def owner(person: Callable[[str], Caller], database: Database) -> Caller:
    """The owner of the task nli, which has no contexts."""
    olga = person("olga")
    [nli] = [shipped for shipped in shipped_tasks() if shipped.config.id == "nli"]
    database.write(service.save_task, None, nli.source)
    database.write(service.set_role, None, "nli", olga.name, "owner")
    return olga


FILES = "/api/v1/tasks/nli/contexts/files"


def upload(caller: Caller, name: str, content: bytes) -> str:
    """Send a file; the job's id."""
    answer = caller.post(FILES, params={"name": name}, content=content)
    assert answer.status_code == 202, answer.text
    assert answer.json()["state"] == "queued"
    return answer.json()["id"]


LONGEST_PAUSE = 0.25
"""Seconds between two checks of what takes long: each check takes the processor from what is waited for."""


def until(check: Callable[[], Any], seconds: float = 120, pause: float | None = None) -> Any:
    """Return the first true value of `check`; pauses between checks grow, unless one is given."""
    deadline, growing = time.monotonic() + seconds, 0.02
    while time.monotonic() < deadline:
        if result := check():
            return result
        time.sleep(growing if pause is None else pause)
        growing = min(1.2 * growing, LONGEST_PAUSE)
    raise AssertionError("it did not happen in time")


def ended(caller: Caller, job: str) -> dict[str, Any]:
    """The import once it is `done`, `failed` or `cancelled`."""

    def look() -> dict[str, Any] | None:
        document = caller.get(f"{FILES}/{job}").json()
        return document if document["state"] in ("done", "failed", "cancelled") else None

    return until(look)
