"""A supervisor in a process of its own, whose children can be counted."""

import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

PYTHON = [sys.executable, "-I", "-S", "-c"]


SLEEPER = "import time\nwhile True: time.sleep(60)"


STUBBORN = f"""
import pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).touch()
{SLEEPER}
"""


SUPERVISOR = """
import os, pathlib, sys
from dynabench.kit import supervisor
class LoggedProcess(supervisor.Watched):
    def start(self):
        super().start()
        with open({log!r}, "a") as log: log.write(f"{{self.name}} {{self.process.pid}}\\n")
python = [sys.executable, "-I", "-S", "-c"]
supervisor.watch({processes})  # its handlers are there when it starts the first process
"""


def until(check, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if report := check():
            return report
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Supervisor:
    """A supervisor process whose children's process ids can be read."""

    def __init__(self, folder: Path, processes: str) -> None:
        self.log = folder / "started.log"
        self.log.touch()
        code = SUPERVISOR.format(log=str(self.log), processes=textwrap.dedent(processes))
        self.process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)

    def started(self, name: str) -> list[int]:
        """Process ids of all children of this name so far, oldest first."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [int(pid) for child, pid in lines if child == name]

    def child(self, name: str, turn: int = 1) -> int:
        """The process id of the `turn`th child of this name, once it is there."""
        return until(lambda: len(self.started(name)) >= turn and self.started(name)[turn - 1])

    def all(self) -> list[int]:
        return [int(line.split()[1]) for line in self.log.read_text().splitlines()]


@pytest.fixture
def supervise(tmp_path):
    created = []

    def run(processes):
        created.append(Supervisor(tmp_path, processes))
        return created[-1]

    yield run
    for first in created:
        if first.process.poll() is None:
            first.process.kill()
        first.process.wait()
        until(lambda single=first: not any(alive(pid) for pid in single.all()))
