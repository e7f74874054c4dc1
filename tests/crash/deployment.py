"""A web process and a worker over one database, each of which can die at any moment and be started again."""

import json
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psutil

from benchmarks.running import free_port, wait_for
from dynabench.kit.settings import Settings
from tests.crash.nursery import Nursery
from tests.crowd.prolific_server import Prolific
from tests.jobs.conftest import until

PATIENCE = 60.0
ARRIVED = ("already voted", "being paid already", "Only an order that is undecided")
"""Answers to a request that was recorded the first time, when its answer was lost."""


class Deployment:
    """The processes `web` and `worker` of one deployment, by their own commands."""

    def __init__(self, settings: Settings, host: str, prolific: Prolific, log: Path) -> None:
        port = free_port()
        self.base, self.log = f"http://127.0.0.1:{port}", log
        self.environment = os.environ | {
            "DYNABENCH_HOME": str(settings.home),
            "DYNABENCH_DATABASE_URL": settings.database_url,
            "DYNABENCH_SECRET": settings.secret,
            "DYNABENCH_PASSWORD_COST": "1",
            "DYNABENCH_RATE_LIMIT": "false",
            "DYNABENCH_PORT": str(port),
            "DYNABENCH_HOST_URL": host,
            "DYNABENCH_CROWD_URLS": json.dumps({"prolific": prolific.address}),
            "DYNABENCH_CROWD_HOSTS": prolific.address.partition("//")[2],
        }
        self.nursery, self.running = Nursery(), {}

    def start(self, role: str) -> None:
        self.running[role] = self.nursery.fork(role, self.environment, self.log)
        if role == "web":
            wait_for(f"{self.base}/healthz", PATIENCE)

    def kill(self, role: str) -> None:
        """End a process as the kernel does where memory runs out."""
        pid = self.running.pop(role)
        assert psutil.pid_exists(pid), self.log.read_text()[-3000:]
        os.kill(pid, signal.SIGKILL)
        until(lambda: not psutil.pid_exists(pid), PATIENCE)

    def close(self) -> None:
        for role in list(self.running):
            self.kill(role)
        self.nursery.close()


@dataclass(frozen=True)
class Sent:
    """A request that a browser repeats until it is answered; one that changes nothing is not worth a kill."""

    method: str
    path: str
    fields: dict[str, str] = field(default_factory=dict)
    changes: bool = True


Steps = Iterator[Sent]


class Tab:
    """A browser without scripts: the page that it shows, its cookies, and the steps of the person before it."""

    def __init__(self, base: str) -> None:
        self.base, self.page = base, ""
        self.cookies: dict[str, str] = {}
        self.steps: Steps = iter(())

    def send(self, sent: Sent) -> tuple[httpx2.Response, dict[str, str]]:
        """Send the form of the page, and follow the way that its answer shows; changes nothing here."""
        with httpx2.Client(
            base_url=self.base, cookies=self.cookies, follow_redirects=True, timeout=PATIENCE
        ) as browser:
            if sent.method == "GET":
                answer = browser.get(sent.path, params=sent.fields or None)
            else:
                token = self.page.partition('name="csrf-token" content="')[2].partition('"')[0]
                answer = browser.post(sent.path, data=sent.fields | {"csrf": token})
            return answer, dict(browser.cookies)

    def be_answered(self, sent: Sent) -> httpx2.Response:
        """Send it and show the answer; what arrived before may say so in one of the ways of `ARRIVED`."""
        answer, self.cookies = self.send(sent)
        arrived = answer.status_code in (409, 422) and any(text in answer.text for text in ARRIVED)
        assert answer.status_code == 200 or arrived, f"{sent}: {answer.status_code} {answer.text[-3000:]}"
        self.page = answer.text
        return answer


@dataclass
class Storm:
    """The web process dies several times in each step of some people, who go on side by side; counts what it hit."""

    deployment: Deployment
    rng: random.Random
    kills: int
    cut_off: int = 0
    unread: int = 0
    longest: float = 0.3

    def rage(self, send: Sequence[Callable[[], object]]) -> None:
        """Kill the web process a random moment after it was asked; an answer from before it is never read."""
        with ThreadPoolExecutor(len(send)) as pool:
            futures: list[Future[object]] = [pool.submit(request) for request in send]
            threading.Event().wait(self.rng.uniform(0, self.longest))
            self.deployment.kill("web")
            for future in futures:
                if isinstance(future.exception(), httpx2.TransportError):
                    self.cut_off += 1
                else:
                    future.result()
                    self.unread += 1
        self.deployment.start("web")

    def insist(self, send: Callable[[], object]) -> None:
        """Send the same again and again while the web process dies, and once more until it is answered."""
        for _ in range(self.kills):
            self.rage([send])
        send()

    def play(self, tabs: Sequence[Tab]) -> None:
        """Let all take their steps to the end, each of which is acknowledged after the kills."""
        current = {tab: sent for tab in tabs if (sent := next(tab.steps, None))}
        while current:
            if risky := [(tab, sent) for tab, sent in current.items() if sent.changes]:
                for _ in range(self.kills):
                    self.rage([lambda tab=tab, sent=sent: tab.send(sent) for tab, sent in risky])
            with ThreadPoolExecutor(len(current)) as pool:
                answers = list(pool.map(lambda pair: pair[0].be_answered(pair[1]), current.items()))
            slowest = max(answer.elapsed.total_seconds() for answer in answers)
            self.longest = 0.7 * self.longest + 0.3 * 1.5 * slowest
            current = {tab: sent for tab in current if (sent := next(tab.steps, None))}
