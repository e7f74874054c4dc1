"""A process that has imported the platform and forks its commands, since starting one anew takes seconds.

`python -m tests.crash.nursery` reads orders as lines of JSON (`command`, `env`, `log`) and answers each with the number
of the new process. All that it forked ends with its input.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from starlette.testclient import TestClient

import dynabench
from dynabench.kit.jobs import FOLDERS, KEEPERS, WORKFLOWS
from dynabench.kit.settings import Settings, get_settings
from dynabench.operations.migrations import upgrade
from dynabench.site.app import create_app
from dynabench.web.environment import environment
from tests.forked import run_command

FEATURES = ("collection", "crowd", "onboarding", "validation", "web")
"""Packages whose templates the pages of a study's workers are made of."""


def warm_up() -> None:
    """Do once what each process does when it starts: imports, routes, templates."""
    modules = {where.partition(":")[0] for where in (*WORKFLOWS.values(), *KEEPERS, *FOLDERS)}
    for name in ("dbos", "dynabench.cli.processes", "dynabench.site.live.feed", *modules):
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), secret="a secret for tests of 32 bytes or more", password_cost=1)
        upgrade(settings)
        with TestClient(create_app(settings)) as client:
            client.get("/login")
            client.get("/tasks")
    for feature in FEATURES:
        templates = Path(dynabench.__file__).parent / feature / "templates"
        for path in templates.rglob("*.html"):
            environment().get_template(f"{feature}/{path.relative_to(templates)}")
    get_settings.cache_clear()
    assert threading.active_count() == 1, threading.enumerate()


def main() -> None:
    """Fork one process for each line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is logged meanwhile is no answer
    warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", file=answers, flush=True)
    forked = []
    for line in sys.stdin:
        order = json.loads(line)
        forked.append(os.fork())
        if not forked[-1]:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run_command(order["command"], order["env"], Path(order["log"]))
            os._exit(0)
        print(forked[-1], file=answers, flush=True)
    for pid in forked:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Nursery:
    """The running process, for tests."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crash.nursery"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def fork(self, command: str, env: dict[str, str], log: Path) -> int:
        """Start a command; the number of its process."""
        self.process.stdin.write(json.dumps({"command": [command], "env": env, "log": str(log)}) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


if __name__ == "__main__":
    main()
