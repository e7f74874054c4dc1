"""Runs and watches the processes of one machine: web, model host and worker.

A process that ends, or cannot be started, is started again after a pause that doubles up to ten seconds. One that
lives but whose heartbeat (see `heartbeat`) has stopped is killed first: it is stopped or hangs. Being slow to answer
is no reason, since a busy process beats on. When the supervisor itself is killed, the kernel ends its children.
"""

import ctypes
import errno
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from dynabench.kit import heartbeat

log = structlog.get_logger()

PAUSE, LONGEST_PAUSE = 0.25, 10.0
SILENCE = 45.0  # seconds without a heartbeat after which a process counts as hung
FIRST_BEAT = 300.0  # seconds from its start in which a process must have beaten once
ABSENCE = 5.0  # seconds between two looks after which the supervisor itself was away, and blames nobody
HEALTHY_AFTER = 30.0  # seconds of life after which the pause starts small again


LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded here: little is safe between fork and exec


def _end_with(parent: int, niceness: int = 0) -> None:
    """In the child: have the kernel kill it when the supervisor is gone, however that came about.

    SIGKILL, which nothing ignores: an orphan that hangs would keep port and socket from the next supervisor.
    """
    if LIBC is not None:
        LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it was gone before the kernel knew of this wish
            os._exit(1)
    if niceness:
        os.nice(niceness)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def answers(address: str, path: str, timeout: float = 2.0) -> bool:
    """Return whether `address` (`unix:/path` or `host:port`) answers GET `path` with 200 in time."""
    try:
        if address.startswith("unix:"):
            connection: http.client.HTTPConnection = _UnixConnection(address.removeprefix("unix:"), timeout)
        else:
            connection = http.client.HTTPConnection(address, timeout=timeout)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        finally:
            connection.close()
    except (OSError, http.client.HTTPException):
        return False


def can_listen(host: str, port: int, seconds: float = 1.0) -> bool:
    """Return whether a server can listen there; wait up to `seconds` for a server that is just ending.

    Raises `OSError` for an address that does not belong to this machine.
    """
    if not 1 <= port <= 65535:
        raise OSError(errno.EINVAL, "ports are numbered 1 to 65535")
    family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
        0
    ]
    deadline = time.monotonic() + seconds
    while True:
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
                return True
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                if time.monotonic() >= deadline:
                    return False
        time.sleep(0.1)


def listen(host: str, port: int) -> int:
    """A listening socket, as the number of its open file, for processes to inherit."""
    family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
        0
    ]
    server = socket.socket(family, kind, proto)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(address)
    server.listen(2048)
    return server.detach()


def somebody_listens(path: Path, seconds: float = 1.0) -> bool:
    """Return whether a process still listens on the socket file after `seconds`, in which it may be ending."""
    deadline = time.monotonic() + seconds
    while path.exists():
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            try:
                probe.connect(str(path))
            except OSError:
                return False
        if time.monotonic() >= deadline:
            return True
        time.sleep(0.1)
    return False


@dataclass
class Watched:
    """One process: how to start it, how to ask whether it is up, and when it was last heard."""

    name: str
    command: Sequence[str]
    well: Callable[[], bool] | None = None
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = PAUSE
    restart_at: float = 0.0
    silence: float = SILENCE
    first_beat: float = FIRST_BEAT
    beaten: bool = False
    beat_at: float = 0.0  # when it beat last, or was started
    looked_at: float = 0.0
    env: dict[str, str] = field(default_factory=dict)
    fds: Sequence[int] = ()  # open files that it inherits
    beats: int | None = None  # the open file that its heartbeats come from
    niceness: int = 0  # by which it yields to the others
    due: Callable[[], bool] | None = None  # starts it before `restart_at`
    asked_at: float = 0.0

    def wait(self, seconds: float, due: Callable[[], bool]) -> None:
        """Let it start for the first time once `due` says so, after `seconds` at the latest."""
        self.restart_at, self.due = time.monotonic() + seconds, due

    def start(self) -> None:
        """Start the process. Raises OSError or SubprocessError where the system does not let it."""
        self._close_beats()
        self.beats, writing = os.pipe()
        os.set_blocking(self.beats, False)
        try:
            self.process = subprocess.Popen(
                self.command,
                env=os.environ | self.env | {heartbeat.VARIABLE: str(writing)},
                preexec_fn=partial(_end_with, os.getpid(), self.niceness),
                stdin=subprocess.DEVNULL,
                pass_fds=(*self.fds, writing),
            )
        finally:
            os.close(writing)
        self.started = self.looked_at = self.beat_at = time.monotonic()
        self.beaten = False

    def comes_up(self, seconds: float = 300.0, beside: Sequence["Watched"] = ()) -> bool:
        """Wait until a process that was just started is well; False if it ended or took too long. Those `beside` it are
        watched meanwhile."""
        deadline = time.monotonic() + seconds
        while self.process is not None and self.process.poll() is None and time.monotonic() < deadline:
            if self.well is None or self.well():
                return True
            for item in beside:
                item.check()
            time.sleep(0.05)
        return False

    def check(self) -> None:
        """Start the process if it does not live, as soon as its pause is over; kill it if its heartbeat has stopped."""
        now = time.monotonic()
        self._listen(now)
        if self.process is None:
            if now >= self.restart_at or self._due(now):
                self.due = None
                try:
                    self.start()
                except (OSError, subprocess.SubprocessError) as problem:  # too many processes or files, no memory
                    self._start_later(now, "process cannot be started", problem=str(problem))
            return
        code = self.process.poll()
        if code is None:
            return
        if now - self.started > HEALTHY_AFTER:
            self.pause = PAUSE
        self.process = None
        self._start_later(now, "process ended", code=code)

    def close(self) -> None:
        """Let go of what the supervisor holds for the process."""
        self._close_beats()

    def _start_later(self, now: float, event: str, **details: Any) -> None:
        log.warning(event, process=self.name, **details, restart_in=self.pause)
        self.restart_at = now + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE)

    def _due(self, now: float) -> bool:
        """Tell whether what the process waits for is there; asked once a second."""
        if self.due is None or now - self.asked_at < 1.0:
            return False
        self.asked_at = now
        return self.due()

    def _listen(self, now: float) -> None:
        """Note the heartbeats since the last look, and kill a process that has been silent for too long."""
        away, self.looked_at = now - self.looked_at, now
        if self.process is None or self.beats is None:
            return
        try:
            if os.read(self.beats, 65536):
                self.beat_at, self.beaten = now, True
        except BlockingIOError:
            pass
        if away > ABSENCE:
            self.beat_at += away
        elif now - self.beat_at > (self.silence if self.beaten else self.first_beat) and self.process.poll() is None:
            log.warning("process hangs", process=self.name, silent=round(now - self.beat_at))
            self.process.kill()

    def _close_beats(self) -> None:
        if self.beats is not None:
            os.close(self.beats)
            self.beats = None


def watch(processes: Sequence[Watched]) -> None:
    """Run the processes until SIGTERM or SIGINT, then stop them all."""
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)
    while not stopping:
        heartbeat.progress()
        for process in processes:
            process.check()
        time.sleep(0.1)
    end(processes)


def end(processes: Sequence[Watched], seconds: float = 10.0) -> None:
    """Ask all processes to stop, and kill those that have not after `seconds`."""
    running = [watched.process for watched in processes if watched.process]
    for process in running:
        process.terminate()
    deadline = time.monotonic() + seconds
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for watched in processes:
        watched.close()
