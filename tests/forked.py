"""`dynabench` commands and programs of tests as forks of a process that has imported their code: importing it and
making the routes of the application takes longer than most tests.

What is forked runs from its beginning, in an environment, with a log and a process number of its own.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dynabench.kit.jobs import FOLDERS, KEEPERS, WORKFLOWS

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(
    [
        "pytest",
        "dbos",
        "tests.forked",
        "tests.made_routes",
        "dynabench.cli.processes",
        *{where.partition(":")[0] for where in (*WORKFLOWS.values(), *KEEPERS, *FOLDERS)},
    ]
)


class Forked:
    """A running command, or a program given as its `code`, with what a `subprocess.Popen` offers."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path, code: str = "") -> None:
        self._process = _forking.Process(target=run_command, args=(command, dict(env), log, code), daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        """The exit status, negative after a signal; None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float) -> int:
        """The exit status once it has ended."""
        self._process.join(seconds)
        status = self.poll()
        if status is None:
            raise subprocess.TimeoutExpired(self._process.name, seconds)
        return status

    def send_signal(self, how: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, how)


def run_command(command: Sequence[str], env: Mapping[str, str], log: Path, code: str = "") -> None:
    from dynabench.cli import main

    os.environ.clear()
    os.environ.update(env)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["dynabench", *command]
    if code:
        exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
    else:
        main()
