"""Runs a trial in a process group of its own, within limits of time and memory: what dies takes nothing along."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from dynabench.language import _
from dynabench.models.checking.memory import resident

LINES, LINE = 200, 500
"""Lines of the log that are kept, and characters of one."""
REPORT = 8 * 2**20
POLL = 0.25


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes of memory that a trial may take."""

    seconds: float
    memory: int


@dataclass
class Ended:
    """How a trial ended: its report, or `code` and `reason` why there is none; the last lines of its log."""

    report: dict[str, Any] | None = None
    code: str = ""
    reason: str = ""
    log: list[str] = field(default_factory=list)
    step: str = ""


def run(
    given: dict[str, Any],
    limits: Limits,
    heard: Callable[[str], object],
    stopped: Callable[[], bool],
    env: Any,
    module: str = "dynabench.registry.trial",
) -> Ended:
    """Do the trial that `given` describes. `heard` is told each second how far it is; where `stopped` says so, the
    trial is ended. `module` is what does it, which speaks as `registry.trial` says."""
    command = [sys.executable, "-m", module]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, env={**os.environ, **env}, start_new_session=True)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    ended, log = Ended(), deque[str](maxlen=LINES)
    threads = [
        threading.Thread(target=_listen, args=(process.stdout, ended), daemon=True),
        threading.Thread(target=_note, args=(process.stderr, log), daemon=True),
    ]
    for thread in threads:
        thread.start()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(given | {"memory": limits.memory}).encode())
        process.stdin.close()
    ended.code, ended.reason = _watch(process, limits, lambda: heard(ended.step), stopped)
    for thread in threads:
        thread.join(5)
    ended.log = list(log)
    if ended.report is None and not ended.code:
        ended.code, ended.reason = _died(process.returncode)
    return ended


def _watch(
    process: subprocess.Popen[bytes], limits: Limits, told_of: Callable[[], object], stopped: Callable[[], bool]
) -> tuple[str, str]:
    """Wait for the end; why it was brought about, empty if the process ended by itself."""
    until, asked = time.monotonic() + limits.seconds, time.monotonic()
    try:
        while process.poll() is None:
            if time.monotonic() > until:
                return "timeout", _(
                    "The check took longer than %(seconds)s s and was ended.", seconds=f"{limits.seconds:g}"
                )
            used = resident(process.pid) or 0
            if used > limits.memory:
                told = _(
                    "It took %(used)s MiB of memory; %(memory)s MiB are allowed.",
                    used=f"{used / 2**20:,.0f}",
                    memory=f"{limits.memory / 2**20:,.0f}",
                )
                return "out_of_memory", told
            if time.monotonic() - asked > 1:
                asked = time.monotonic()
                told_of()
                if stopped():
                    return "cancelled", _("It was cancelled.")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL)
        return "", ""
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _died(status: int) -> tuple[str, str]:
    if status == -signal.SIGKILL:
        return "out_of_memory", _("The system ended the check, as it does when memory runs out.")
    if status < 0:
        return "crashed", _(
            "The model's code crashed (%(name)s); the log says what came before.", name=signal.Signals(-status).name
        )
    return "crashed", _("The check ended early with status %(status)s; the log says what came before.", status=status)


def _listen(stream: IO[bytes], ended: Ended) -> None:
    with stream:
        while line := stream.readline(REPORT):
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if "report" in said:
                ended.report = said["report"]
            elif "step" in said:
                ended.step = str(said["step"])[:100]


def _note(stream: IO[bytes], log: deque[str]) -> None:
    with stream:
        while line := stream.readline(LINE):
            log.append("".join(c for c in line.decode("utf-8", "replace").rstrip() if c.isprintable() or c == "\t"))
